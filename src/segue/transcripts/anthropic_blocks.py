"""Blocks of Anthropic's messages as tools store them. The common ones are read here, quickly; all others are read by
the protocol. What cannot be read is reported and left out."""

from collections.abc import Callable, Mapping
from typing import Any

from ..errors import FormatError
from ..types import (
    AssistantContent,
    AssistantMessage,
    ImageContent,
    StopReason,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultContent,
    Usage,
    UserContent,
    UserMessage,
    plain_text,
)
from ..wire import protocol_of
from .reading import as_arguments, as_text, number_in, object_in, text_of
from .source import Object
from .values import RemarkCode

Remarks = Callable[[RemarkCode, str], None]

STOPS: Mapping[str, StopReason] = {
    "tool_use": "toolUse",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "error",
}
"""Stop reasons that are not a normal end. Source: SDK anthropic 2.8.0, types/stop_reason.py."""


def answer_blocks(content: Any, remark: Remarks) -> list[AssistantContent]:
    """The blocks of an answer."""
    if isinstance(content, str):
        return [plain_text(content)] if content else []
    blocks: list[AssistantContent] = []
    for block in content if isinstance(content, list) else ():
        if not isinstance(block, dict):
            remark("block-unknown", "a block that is not an object")
        elif (read := _ANSWER.get(text_of(block.get("type")))) is not None:
            blocks += read(block, remark)
        else:
            blocks += _by_protocol(block, "assistant", remark)
    return blocks


def user_blocks(content: Any, remark: Remarks) -> list[UserContent]:
    """The blocks of a user message or of a result."""
    if isinstance(content, str):
        return [plain_text(content)] if content else []
    blocks: list[UserContent] = []
    for block in content if isinstance(content, list) else ():
        kind = block.get("type") if isinstance(block, dict) else None
        if kind is None:
            remark("block-unknown", "a block without a type")
        elif kind == "text" and isinstance(block.get("text"), str):
            blocks.append(plain_text(block["text"]))
        elif kind == "image" and (image := _image(object_in(block, "source"))) is not None:
            blocks.append(image)
        else:
            blocks += _by_protocol(block, "user", remark)
    return blocks


def result_blocks(content: Any, remark: Remarks) -> list[ToolResultContent]:
    """The content of a ``tool_result``."""
    if content is None:
        return []
    if isinstance(content, str | list):
        return user_blocks(content, remark)
    return [TextContent(as_text(content))]


def usage_of(usage: Any) -> Usage:
    """The usage of an answer."""
    spent, made = number_in(usage, "input_tokens"), number_in(usage, "output_tokens")
    read, written = number_in(usage, "cache_read_input_tokens"), number_in(usage, "cache_creation_input_tokens")
    long = number_in(object_in(usage, "cache_creation"), "ephemeral_1h_input_tokens")
    return Usage(spent, made, read, written, spent + made + read + written, cache_write_long=long)


def _image(source: Object) -> ImageContent | None:
    data, kind = source.get("data"), source.get("media_type")
    if source.get("type") == "base64" and isinstance(data, str) and isinstance(kind, str) and data and kind:
        return ImageContent(data, kind)
    return None


def _text(block: Object, remark: Remarks) -> list[AssistantContent]:
    if block.get("citations"):
        return _by_protocol(block, "assistant", remark)
    text = block.get("text")
    return [plain_text(text)] if isinstance(text, str) else []


def _thinking(block: Object, remark: Remarks) -> list[AssistantContent]:
    text, signature = block.get("thinking"), block.get("signature")
    text, signature = text if isinstance(text, str) else "", signature if isinstance(signature, str) else ""
    if not text and not signature:
        remark("thinking-empty", "thinking with neither text nor signature")
        return []
    return [ThinkingContent(text, signature)]


def _redacted(block: Object, remark: Remarks) -> list[AssistantContent]:
    data = block.get("data")
    if isinstance(data, str) and data:
        return [ThinkingContent("", data, redacted=True)]
    remark("thinking-empty", "redacted thinking without data")
    return []


def _call(block: Object, remark: Remarks) -> list[AssistantContent]:
    arguments = as_arguments(block.get("input"))
    if arguments is None:
        remark("arguments-unreadable", f"the arguments of call {block.get('id')} are not an object")
        arguments = {"input": block.get("input")}
    return [ToolCall(str(block.get("id") or ""), str(block.get("name") or ""), arguments)]


_ANSWER: dict[Any, Callable[[Object, Remarks], list[AssistantContent]]] = {
    "text": _text,
    "thinking": _thinking,
    "redacted_thinking": _redacted,
    "tool_use": _call,
}


def _by_protocol(block: Object, role: str, remark: Remarks) -> list[Any]:
    """A block that the reader of the protocol knows."""
    try:
        body = {"messages": [{"role": role, "content": [block]}]}
        (message,) = protocol_of("anthropic-messages").ingest(body, None, 0).messages
    except (FormatError, ValueError, TypeError):
        remark("block-unknown", f"a block of type {block.get('type')!r} that cannot be read")
        return []
    if isinstance(message, UserMessage | AssistantMessage):
        return list(message.content)
    return []
