"""Waiting for what must not be left half done, however often the one who waits is cancelled."""

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

from ..tools.waiting import outcome, until_done

__all__ = ["in_thread", "outcome", "until_done"]

T = TypeVar("T")


async def in_thread(blocks: bool, act: Callable[..., T], *arguments: Any) -> T:
    """Do what may take a while in a thread, to its end; what does not block is done here."""
    if not blocks:
        return act(*arguments)
    return await outcome(asyncio.get_running_loop().run_in_executor(None, act, *arguments))
