"""Rows of Claude Code as typed structs: each line is decoded once, without what is not needed of it.

A row of an unusual shape is decoded a second time, by ``LooseRow``, and its blocks are read by ``anthropic_blocks``.
"""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from ..types import ImageContent, ThinkingContent, ToolCall, Usage, plain_text, unchecked
from ..types.codec import UNREADABLE
from ..types.text import scrub_escapes
from .anthropic_blocks import Remarks
from .reading import text_in
from .source import read_line

_Filled = Annotated[str, Meta(min_length=1)]
_Count = Annotated[int, Meta(ge=0)]


class _Text(Struct, tag_field="type", tag="text", gc=False):
    text: str
    citations: Any = None


class _Thinking(Struct, tag_field="type", tag="thinking", gc=False):
    thinking: str
    signature: str


class _Redacted(Struct, tag_field="type", tag="redacted_thinking", gc=False):
    data: _Filled


class _Call(Struct, tag_field="type", tag="tool_use", gc=False):
    id: str
    name: str
    input: dict[str, Any]


class _Source(Struct, gc=False):
    type: Literal["base64"]
    media_type: _Filled
    data: _Filled


class _Image(Struct, tag_field="type", tag="image", gc=False):
    source: _Source


class ResultBlock(Struct, tag_field="type", tag="tool_result", gc=False):
    """A result in the content of a user row."""

    tool_use_id: str
    content: str | list[_Text | _Image] | None = None
    is_error: bool | None = None


class _CacheCreation(Struct, gc=False):
    ephemeral_1h_input_tokens: _Count = 0


class UsageShape(Struct, gc=False):
    """The usage of an answer, which each of its rows repeats."""

    input_tokens: _Count = 0
    output_tokens: _Count = 0
    cache_read_input_tokens: _Count | None = 0
    cache_creation_input_tokens: _Count | None = 0
    cache_creation: _CacheCreation | None = None

    def canonical(self) -> Usage:
        read, written = self.cache_read_input_tokens or 0, self.cache_creation_input_tokens or 0
        long = self.cache_creation.ephemeral_1h_input_tokens if self.cache_creation else 0
        spent, made = self.input_tokens, self.output_tokens
        return Usage(spent, made, read, written, spent + made + read + written, cache_write_long=long)


class Envelope(Struct, gc=False, rename="camel"):
    """The fields of a row beside its message. ``claude_code_fields.py`` says what becomes of all others."""

    type: str = ""
    uuid: str | None = None
    parent_uuid: str | None = None
    logical_parent_uuid: str | None = None
    session_id: str | None = None
    timestamp: str | None = None
    is_sidechain: bool | None = None
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    attachment: dict[str, Any] | None = None
    subtype: str | None = None
    compact_metadata: dict[str, Any] | None = None
    cwd: str | None = None
    version: str | None = None
    git_branch: str | None = None
    agent_id: str | None = None
    summary: str | None = None
    custom_title: str | None = None
    ai_title: str | None = None
    tool_use_result: Raw | UnsetType = UNSET


class UsualMessage(Struct, gc=False):
    """A message with the usual blocks."""

    content: str | list[_Text | _Thinking | _Redacted | _Call | _Image | ResultBlock] | None = None
    id: str | None = None
    model: str | None = None
    stop_reason: str | None = None
    usage: UsageShape | None = None


class LooseMessage(Struct, gc=False):
    """A message with any blocks."""

    content: Any = None
    id: str | None = None
    model: str | None = None
    stop_reason: str | None = None
    usage: dict[str, Any] | None = None


class Row(Envelope, gc=False, rename="camel"):
    """A row with the usual blocks."""

    message: UsualMessage | None = None


class LooseRow(Envelope, gc=False, rename="camel"):
    """A row with any blocks."""

    message: LooseMessage | None = None


AnyRow = Row | LooseRow
AnyMessage = UsualMessage | LooseMessage

# -- blocks ----------------------------------------------------------------------------------------------------------

Readers = Mapping[type, Callable[[Any], Any]]


def _text(block: _Text) -> Any:
    return None if block.citations else plain_text(block.text)


def _thinking(block: _Thinking) -> Any:
    return unchecked(ThinkingContent, block.thinking, block.signature) if block.signature else None


ANSWER: Readers = {
    _Text: _text,
    _Thinking: _thinking,
    _Redacted: lambda block: unchecked(ThinkingContent, "", block.data, True),
    _Call: lambda block: unchecked(ToolCall, block.id, block.name, block.input),
}
USER: Readers = {
    _Text: _text,
    _Image: lambda block: ImageContent(block.source.data, block.source.media_type),
}


def quick_blocks(content: Any, readers: Readers) -> list[Any] | None:
    """The canonical blocks of the usual shapes; ``None`` if one is unusual."""
    if content is None or type(content) is str:
        return [plain_text(content)] if content else []
    blocks = []
    for block in content:
        read = readers.get(type(block))
        found = read(block) if read is not None else None
        if found is None:
            return None
        blocks.append(found)
    return blocks


# -- rows ------------------------------------------------------------------------------------------------------------

_decode = msgspec.json.Decoder(Row).decode
_decode_loosely = msgspec.json.Decoder(LooseRow).decode
_NEEDED = ("type", "uuid", "parentUuid", "sessionId", "timestamp")


def read_row(line: bytes, remark: Remarks) -> AnyRow | None:
    """The row of a line; ``None`` if it is not a JSON object."""
    try:
        return _decode(line)
    except UNREADABLE:
        return read_loosely(line, remark)


def read_loosely(line: bytes, remark: Remarks) -> LooseRow | None:
    """A row of any shape. One with a field of another type than usual has only the fields that place it in the tree."""
    for repaired in (line, scrub_escapes(line)):
        try:
            return _decode_loosely(repaired)
        except UNREADABLE:
            continue
    value = read_line(line)
    if not isinstance(value, dict):
        return None
    remark("row-incomplete", f"a row of type {value.get('type')!r} with a field of another type than usual")
    return msgspec.convert({name: found for name in _NEEDED if (found := text_in(value, name))}, LooseRow)
