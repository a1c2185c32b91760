"""Run one call to its end, within its timeout, and stop it on a cancellation."""

import asyncio
import math
from collections.abc import Callable

from ..waiting import for_a_while
from . import call_texts
from .batch_call import BatchCall, Final
from .execution import Execution


async def supervise(item: BatchCall, abandon: Callable[[Execution], None]) -> Final:
    """Run a call. A cancellation of the task stops the tool and is not raised.

    ``abandon`` gets an execution that did not end within the grace period.
    """
    assert item.tool is not None and item.arguments is not None
    timeout = item.limits.timeout if item.tool.timeout is None else item.tool.timeout
    execution = Execution(item.tool, item.call, item.arguments, item.builder)
    cancelled = False
    try:
        await asyncio.wait([execution.future], timeout=None if timeout == math.inf else timeout)
    except asyncio.CancelledError:
        cancelled = True
    if not execution.future.done():
        execution.stop()
        cancelled |= await for_a_while(execution.future, item.limits.grace)
    if not execution.future.done():
        abandon(execution)
        return _stopped(item, cancelled, call_texts.CANCELLED_STILL, call_texts.TIMEOUT_STILL.format(timeout))
    output = execution.future.result()
    if output.stopped and execution.stopped:
        return _stopped(item, cancelled, call_texts.CANCELLED_RUNNING, call_texts.TIMEOUT.format(timeout))
    return item.finished("error" if output.is_error else "success", output)


def _stopped(item: BatchCall, cancelled: bool, cancelled_text: str, timeout_text: str) -> Final:
    """The end of a call that was stopped before it had a result: by a cancellation or by its timeout."""
    output = item.builder.from_text(cancelled_text if cancelled else timeout_text)
    return item.finished("cancelled" if cancelled else "error", output, synthetic=cancelled)
