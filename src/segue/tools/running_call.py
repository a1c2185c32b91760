"""The call that is running, available to the code of a tool without being passed to it."""

from contextvars import ContextVar

from msgspec import Struct

from ..types import ToolCall
from .limits import ToolLimits


class RunningCall(Struct, frozen=True):
    """A call that is being executed, and the limits that apply to it."""

    call: ToolCall
    limits: ToolLimits


_running_call: ContextVar[RunningCall | None] = ContextVar("segue_running_call", default=None)


def running_call() -> RunningCall | None:
    """Return the call that this code executes; ``None`` outside of a tool, and in a worker process."""
    return _running_call.get()


def current_limits() -> ToolLimits:
    """Return the limits of the running call, or the default limits outside of a tool."""
    running = running_call()
    return ToolLimits() if running is None else running.limits
