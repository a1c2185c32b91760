"""The events of a streamed answer, the same for every protocol.

The order: ``start``; for each block its start, deltas and end, with the block's index (blocks may interleave); exactly
one ``done`` or ``error``. A block that an error cut off has no end event. Deltas consist of whole characters and add up
to the block, with one exception: if the provider finally sends a text that differs from what it streamed, the end event
has the final text, and the message has a diagnostic (``text-differs``, ``arguments-differ``). ``partial`` is the answer
so far. It is the same object on every event and is built only when it is read, so ignoring it costs nothing.
"""

from typing import ClassVar, Literal, Protocol

from msgspec import Struct

from ..errors import ProviderError
from .content import AssistantContent, ProviderContent, TextContent, ThinkingContent, ToolCall
from .messages import AssistantMessage

__all__ = [
    "Done",
    "Error",
    "Event",
    "Partial",
    "ProviderEnd",
    "ProviderStart",
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


Failure = Literal["refused", "provider", "broken"]
"""Whether the model refused to answer, the provider failed, or the stream broke."""


class Partial(Protocol):
    """An answer as it grows."""

    @property
    def content(self) -> list[AssistantContent]:
        """The blocks so far. A block that has not changed since it was last read is the same object. The arguments of a
        call that is still streaming are parsed as far as they have arrived."""

    def message(self) -> AssistantMessage:
        """The answer as a message. Before the end, its stop reason is ``aborted``."""

    @property
    def failure(self) -> Failure | None:
        """Why the answer failed, if it did."""

    def item_id(self, index: int) -> str | None:
        """The provider's id of a block, if it has sent one before the end of the block."""


class Start(Struct, frozen=True):
    """The provider has started to answer."""

    type: ClassVar[Literal["start"]] = "start"
    partial: Partial


class TextStart(Struct, frozen=True):
    """The start of a text."""

    type: ClassVar[Literal["text_start"]] = "text_start"
    index: int
    partial: Partial


class TextDelta(Struct, frozen=True):
    """A piece of a text."""

    type: ClassVar[Literal["text_delta"]] = "text_delta"
    index: int
    delta: str
    partial: Partial


class TextEnd(Struct, frozen=True):
    """The end of a text, with the whole text."""

    type: ClassVar[Literal["text_end"]] = "text_end"
    index: int
    block: TextContent
    partial: Partial


class ThinkingStart(Struct, frozen=True):
    """The start of a thought."""

    type: ClassVar[Literal["thinking_start"]] = "thinking_start"
    index: int
    partial: Partial


class ThinkingDelta(Struct, frozen=True):
    """A piece of a thought."""

    type: ClassVar[Literal["thinking_delta"]] = "thinking_delta"
    index: int
    delta: str
    partial: Partial


class ThinkingEnd(Struct, frozen=True):
    """The end of a thought, with the whole thought."""

    type: ClassVar[Literal["thinking_end"]] = "thinking_end"
    index: int
    block: ThinkingContent
    partial: Partial


class ToolCallStart(Struct, frozen=True):
    """The start of a call; its id and name may still be missing."""

    type: ClassVar[Literal["toolcall_start"]] = "toolcall_start"
    index: int
    partial: Partial


class ToolCallDelta(Struct, frozen=True):
    """More of a call's arguments, as the JSON text that arrived."""

    type: ClassVar[Literal["toolcall_delta"]] = "toolcall_delta"
    index: int
    delta: str
    partial: Partial


class ToolCallEnd(Struct, frozen=True):
    """A complete call. Do not run it before ``done``: its message decides what may run (``runnable_calls``)."""

    type: ClassVar[Literal["toolcall_end"]] = "toolcall_end"
    index: int
    block: ToolCall
    partial: Partial


class ProviderStart(Struct, frozen=True):
    """The start of a block that only the provider can read back, such as a search. It has no deltas."""

    type: ClassVar[Literal["provider_start"]] = "provider_start"
    index: int
    partial: Partial


class ProviderEnd(Struct, frozen=True):
    """The end of such a block, with the whole block."""

    type: ClassVar[Literal["provider_end"]] = "provider_end"
    index: int
    block: ProviderContent
    partial: Partial


class Done(Struct, frozen=True):
    """The answer is complete."""

    type: ClassVar[Literal["done"]] = "done"
    message: AssistantMessage
    partial: Partial


class Error(Struct, frozen=True):
    """The answer failed or was aborted: ``message`` has what had arrived, the ``stop_reason`` ``error`` or ``aborted``,
    and an ``error_message``. ``error`` is the kind of failure, if the answer came through the client."""

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
    | ProviderStart
    | ProviderEnd
    | Done
    | Error
)
"""An event of the stream of one answer."""
