"""Which call is running: known to the code of a tool without being passed to it."""

from contextvars import ContextVar

from msgspec import Struct

from ..types import ToolCall
from .limits import ToolLimits


class RunningCall(Struct, frozen=True):
    """The call that the present code answers, and the limits that hold for it."""

    call: ToolCall
    limits: ToolLimits


_running_call: ContextVar[RunningCall | None] = ContextVar("segue_running_call", default=None)


def running_call() -> RunningCall | None:
    """The call that is being answered here; ``None`` outside of a tool, and in a worker process."""
    return _running_call.get()
