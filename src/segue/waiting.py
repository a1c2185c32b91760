"""Waiting for work that must run to its end, even if the task that waits is cancelled."""

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

import anyio

T = TypeVar("T")


async def until_done(work: "asyncio.Future[Any]") -> None:
    """Wait until ``work`` has ended. A cancellation in the meantime is raised afterwards."""
    cancelled: asyncio.CancelledError | None = None
    with anyio.CancelScope(shield=True):  # for callers whose scopes cancel again at every await
        while not work.done():
            try:
                await asyncio.wait([work])
            except asyncio.CancelledError as error:
                cancelled = error
    if cancelled is not None:
        raise cancelled


async def outcome(work: "asyncio.Future[T]") -> T:
    """Wait for ``work`` and return its result. Its exception comes before a cancellation."""
    try:
        await until_done(work)
    except asyncio.CancelledError:
        if not work.cancelled() and work.exception() is not None:
            return work.result()
        raise
    return work.result()


async def in_thread(blocks: bool, function: Callable[..., T], *arguments: Any) -> T:
    """Call ``function`` and wait for its end: in a thread if it ``blocks``, otherwise here."""
    if not blocks:
        return function(*arguments)
    return await outcome(asyncio.get_running_loop().run_in_executor(None, function, *arguments))


async def for_a_while(work: "asyncio.Future[Any]", seconds: float) -> bool:
    """Wait at most ``seconds`` for ``work``. Return whether the caller was cancelled, which does not end the wait."""
    loop, cancelled = asyncio.get_running_loop(), False
    last = loop.time() + seconds
    with anyio.CancelScope(shield=True):
        while not work.done() and (left := last - loop.time()) > 0:
            try:
                await asyncio.wait([work], timeout=left)
            except asyncio.CancelledError:
                cancelled = True
    return cancelled
