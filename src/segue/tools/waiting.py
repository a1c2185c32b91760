"""Waiting for what must not be left half done, however often the one who waits is cancelled."""

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

import anyio

T = TypeVar("T")


async def until_done(work: "asyncio.Future[Any]") -> None:
    """Wait for the end of ``work``. A cancellation that comes meanwhile is raised then, not before."""
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
    """What ``work`` gives or raises. What it raises is told rather than a cancellation."""
    try:
        await until_done(work)
    except asyncio.CancelledError:
        if not work.cancelled() and work.exception() is not None:
            return work.result()
        raise
    return work.result()


async def in_thread(blocks: bool, act: Callable[..., T], *arguments: Any) -> T:
    """Do what may take a while in a thread, to its end; what does not block is done here."""
    if not blocks:
        return act(*arguments)
    return await outcome(asyncio.get_running_loop().run_in_executor(None, act, *arguments))


async def for_a_while(work: "asyncio.Future[Any]", seconds: float) -> bool:
    """Wait for ``work``, but no longer than that; whether somebody cancelled meanwhile, which does not end it."""
    loop, cancelled = asyncio.get_running_loop(), False
    last = loop.time() + seconds
    with anyio.CancelScope(shield=True):
        while not work.done() and (left := last - loop.time()) > 0:
            try:
                await asyncio.wait([work], timeout=left)
            except asyncio.CancelledError:
                cancelled = True
    return cancelled
