"""What a turn tells besides the events of its answers."""

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
"""How a turn, and so a run, may end."""


class TurnStart(Struct, frozen=True):
    """A turn begins, bound to this model."""

    type: ClassVar[Literal["turn_start"]] = "turn_start"
    model: str
    message: UserMessage


class Steered(Struct, frozen=True):
    """A message that was queued while the turn ran is delivered: the next request has it."""

    type: ClassVar[Literal["steered"]] = "steered"
    message: UserMessage


class Retried(Struct, frozen=True):
    """The request failed and is sent again, to the same model."""

    type: ClassVar[Literal["retry"]] = "retry"
    model: str
    reason: str
    wait: float


class Switch(Struct, frozen=True):
    """Another model goes on."""

    type: ClassVar[Literal["switch"]] = "switch"
    model: str
    reason: str


class Compaction(Struct, frozen=True):
    """Older turns were replaced by a summary."""

    type: ClassVar[Literal["compaction"]] = "compaction"
    summary: UserMessage
    messages: int


class CallStart(Struct, frozen=True):
    """A call begins to run."""

    type: ClassVar[Literal["call_start"]] = "call_start"
    call: ToolCall


class CallResult(Struct, frozen=True):
    """A call has its result."""

    type: ClassVar[Literal["result"]] = "result"
    result: ToolResultMessage


class TurnEnd(Struct, frozen=True):
    """The turn is over: ``done``, ``failed``, ``cancelled``, or ended by a ``limit`` of the run."""

    type: ClassVar[Literal["turn_end"]] = "turn_end"
    how: How
    message: AssistantMessage | None
    reason: str = ""


TurnEvent = Event | TurnStart | Steered | Retried | Switch | Compaction | CallState | CallStart | CallResult | TurnEnd
