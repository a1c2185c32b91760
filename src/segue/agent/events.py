"""The events of a turn, in addition to those of its answers."""

from collections.abc import Callable
from typing import ClassVar, Literal

from msgspec import Struct

from ..tools import CallState
from ..types import AssistantMessage, ToolCall, ToolResultMessage, UserMessage
from ..types.events import Event

__all__ = [
    "CallResult",
    "CallStart",
    "CallState",
    "Compaction",
    "Retried",
    "Steered",
    "Switch",
    "TurnEnd",
    "TurnEvent",
    "TurnStart",
]

How = Literal["done", "failed", "cancelled", "limit"]
"""How a turn or a run ended."""


class TurnStart(Struct, frozen=True):
    """A turn begins with this model."""

    type: ClassVar[Literal["turn_start"]] = "turn_start"
    model: str
    message: UserMessage


class Steered(Struct, frozen=True):
    """A queued message is delivered: it is part of the next request."""

    type: ClassVar[Literal["steered"]] = "steered"
    message: UserMessage


class Retried(Struct, frozen=True):
    """A request failed and is sent again to the same model."""

    type: ClassVar[Literal["retry"]] = "retry"
    model: str
    reason: str
    wait: float


class Switch(Struct, frozen=True):
    """A request failed and another model continues."""

    type: ClassVar[Literal["switch"]] = "switch"
    model: str
    reason: str


class Compaction(Struct, frozen=True):
    """Older turns were replaced by a summary."""

    type: ClassVar[Literal["compaction"]] = "compaction"
    summary: UserMessage
    messages: int


class CallStart(Struct, frozen=True):
    """A call is about to run."""

    type: ClassVar[Literal["call_start"]] = "call_start"
    call: ToolCall


class CallResult(Struct, frozen=True):
    """A call has its result."""

    type: ClassVar[Literal["result"]] = "result"
    result: ToolResultMessage


class TurnEnd(Struct, frozen=True):
    """The turn has ended: ``done``, ``failed``, ``cancelled``, or ended by a ``limit`` of the run."""

    type: ClassVar[Literal["turn_end"]] = "turn_end"
    how: How
    message: AssistantMessage | None
    reason: str = ""


TurnEvent = Event | TurnStart | Steered | Retried | Switch | Compaction | CallState | CallStart | CallResult | TurnEnd
"""An event of a turn of a session or an agent: those of its answers, and its own."""

Emit = Callable[[TurnEvent], None]
"""Reports an event."""
