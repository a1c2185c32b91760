"""The four blocks that messages are made of. Which message may hold which block is a table in ``messages.py``."""

from typing import Any, final

from msgspec.structs import force_setattr, replace

from .value import Optional, Value, encode


@final
class TextContent(Value, frozen=True, omit_defaults=True, tag_field="type", tag="text"):
    """Text. ``text_signature`` is opaque metadata of the protocol that it came from."""

    text: str
    text_signature: Optional = None

    def _validate(self) -> None:
        self._empty_to_none("text_signature")


_TEXT = TextContent("")


def plain_text(text: str) -> TextContent:
    """Make a text without a signature, without validation: for internal use, where ``text`` is known to be a string."""
    return replace(_TEXT, text=text)


@final
class ImageContent(Value, frozen=True, tag_field="type", tag="image"):
    """An image: base64 ``data`` and its ``mime_type``."""

    data: str
    mime_type: str


@final
class ThinkingContent(Value, frozen=True, omit_defaults=True, tag_field="type", tag="thinking"):
    """Reasoning of a model. ``redacted``: its text is withheld and the signature holds the encrypted payload."""

    thinking: str
    thinking_signature: Optional = None
    redacted: bool = False

    def _validate(self) -> None:
        self._empty_to_none("thinking_signature")
        if self.redacted is None:
            force_setattr(self, "redacted", False)


@final
# The base class is frozen, and mypy does not allow what msgspec allows: a subclass that is not.
class ToolCall(Value, frozen=False, omit_defaults=True, tag_field="type", tag="toolCall"):  # type: ignore[misc]
    """A call that the model requests. Its result has the same ``id``.

    The only block that is not frozen: its arguments are a dict anyway, and ``AssistantMessage.tool_calls`` returns
    copies that the caller may change.
    """

    id: str
    name: str
    arguments: dict[str, Any]
    thought_signature: Optional = None

    def _validate(self) -> None:
        if type(self.arguments) is not dict:
            raise TypeError(f"arguments of a ToolCall must be a dict, not {type(self.arguments).__name__}")
        self._empty_to_none("thought_signature")

    def _may_hide_nan(self) -> bool:
        for value in self.arguments.values():
            if type(value) is not str and type(value) is not int:
                return b"null" in encode(self.arguments)
        return False


Block = TextContent | ImageContent | ThinkingContent | ToolCall
UserContent = TextContent | ImageContent
AssistantContent = TextContent | ThinkingContent | ToolCall
ToolResultContent = TextContent | ImageContent
