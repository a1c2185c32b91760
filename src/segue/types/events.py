"""What a stream of an answer tells, one event at a time, the same for every protocol.

``start``; then for each block its start, deltas and end, with the block's index (blocks may interleave); then exactly
one of ``done`` and ``error``. A block that was cut off by an error has no end. Deltas have whole characters, and add up
to the block, with one exception: where the provider sends a finished text that is not what it streamed, the end has
the finished one, and the message a diagnostic (``text-differs``, ``arguments-differ``). ``partial`` is the answer so
far, the same object on every event: looking at it costs what is looked at, and nothing is copied for those who do not.
"""

from typing import ClassVar, Literal, Protocol

from msgspec import Struct

from ..errors import ProviderError
from .content import AssistantContent, TextContent, ThinkingContent, ToolCall
from .messages import AssistantMessage

__all__ = [
    "Done",
    "Error",
    "Event",
    "Partial",
    "Start",
    "TextDelta",
    "TextEnd",
    "TextStart",
    "ThinkingDelta",
    "ThinkingEnd",
    "ThinkingStart",
    "ToolCallDelta",
    "ToolCallEnd",
    "ToolCallStart",
]


class Partial(Protocol):
    """An answer as it grows."""

    @property
    def content(self) -> list[AssistantContent]:
        """The blocks so far. One that has not changed since somebody looked is the same object; the arguments of a
        call that is still streaming are read as far as they go."""

    def message(self) -> AssistantMessage:
        """All of it as a message; until the end, one that was ``aborted`` here."""


class Start(Struct, frozen=True):
    """The provider began to answer."""

    type: ClassVar[Literal["start"]] = "start"
    partial: Partial


class TextStart(Struct, frozen=True):
    type: ClassVar[Literal["text_start"]] = "text_start"
    index: int
    partial: Partial


class TextDelta(Struct, frozen=True):
    type: ClassVar[Literal["text_delta"]] = "text_delta"
    index: int
    delta: str
    partial: Partial


class TextEnd(Struct, frozen=True):
    type: ClassVar[Literal["text_end"]] = "text_end"
    index: int
    block: TextContent
    partial: Partial


class ThinkingStart(Struct, frozen=True):
    type: ClassVar[Literal["thinking_start"]] = "thinking_start"
    index: int
    partial: Partial


class ThinkingDelta(Struct, frozen=True):
    type: ClassVar[Literal["thinking_delta"]] = "thinking_delta"
    index: int
    delta: str
    partial: Partial


class ThinkingEnd(Struct, frozen=True):
    type: ClassVar[Literal["thinking_end"]] = "thinking_end"
    index: int
    block: ThinkingContent
    partial: Partial


class ToolCallStart(Struct, frozen=True):
    """A call begins; its id and name may still be missing."""

    type: ClassVar[Literal["toolcall_start"]] = "toolcall_start"
    index: int
    partial: Partial


class ToolCallDelta(Struct, frozen=True):
    """More of a call's arguments, as the JSON text that came."""

    type: ClassVar[Literal["toolcall_delta"]] = "toolcall_delta"
    index: int
    delta: str
    partial: Partial


class ToolCallEnd(Struct, frozen=True):
    """A whole call. Run it after ``done``, which says whether it may run: ``AssistantMessage.runnable_calls``."""

    type: ClassVar[Literal["toolcall_end"]] = "toolcall_end"
    index: int
    block: ToolCall
    partial: Partial


class Done(Struct, frozen=True):
    """The answer is complete."""

    type: ClassVar[Literal["done"]] = "done"
    message: AssistantMessage
    partial: Partial


class Error(Struct, frozen=True):
    """The answer failed or was broken off: ``message`` has what had arrived, ``stop_reason`` ``error`` or ``aborted``,
    and ``error_message``. ``error`` says what kind of failure it was, where a client was there to see."""

    type: ClassVar[Literal["error"]] = "error"
    message: AssistantMessage
    partial: Partial
    error: ProviderError | None = None


Event = (
    Start
    | TextStart
    | TextDelta
    | TextEnd
    | ThinkingStart
    | ThinkingDelta
    | ThinkingEnd
    | ToolCallStart
    | ToolCallDelta
    | ToolCallEnd
    | Done
    | Error
)
