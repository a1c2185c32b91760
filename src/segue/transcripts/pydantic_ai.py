"""Message histories of pydantic-ai: the JSON of ``ModelMessagesTypeAdapter``.

Seen by running pydantic-ai 2.66.0 (2026-11-18); fields are those of ``pydantic_ai/messages.py``. Its usage counts what
a cache had as input.
"""

from collections.abc import Callable, Iterable
from typing import Any

from ..types import (
    FileContent,
    ImageContent,
    ProviderContent,
    TextContent,
    ThinkingContent,
    ToolCall,
)
from . import signatures
from .building import Conversation, media, tokens
from .entries import document_format
from .marks import mark_of
from .origins import RESPONSES, Origin
from .pydantic_ai_writing import draft
from .reading import as_text, mostly, object_of, objects, text_of
from .source import Object
from .values import Report

NAME = "pydantic-ai"
_REDACTED = {"redacted_thinking", "redacted_content"}
_OUTCOMES = {"success": False, "failed": True, "denied": True, "interrupted": True, "retried": True}
_KINDS = {"image-url": "", "audio-url": "audio/mpeg", "video-url": "video/mp4", "document-url": "application/pdf"}
"""The addresses of media, and their type if they have none."""


def is_own(items: Any) -> bool:
    """Whether a list holds messages of pydantic-ai."""
    return mostly(items, lambda each: each.get("kind") in ("request", "response") and "parts" in each)


def read_messages(items: Iterable[Any], report: Report | None = None, endpoint: str | None = None) -> Conversation:
    """Read serialised messages. ``endpoint`` is that of the answers; without one they are of no live endpoint."""
    conversation = Conversation(NAME, report, endpoint)
    instructions = ""
    for at, item in enumerate(items):
        message = object_of(item)
        parts = objects(message.get("parts"))
        prompt = text_of(message.get("instructions"))
        instructions = prompt or instructions
        has_prompt = any(part.get("part_kind") == "system-prompt" for part in parts)
        conversation.begin(item, f"[{at}]", has_system=bool(prompt) or has_prompt)
        if message.get("kind") == "response":
            _read_response(conversation, message, parts)
        elif message.get("kind") == "request":
            for part in parts:
                _read_request_part(conversation, part, mark_of(message.get("metadata")))
        else:
            conversation.remark("row-unknown", "neither a request nor a response")
    conversation.system.append(instructions)
    return conversation


# -- reading ---------------------------------------------------------------------------------------------------------


def _read_request_part(conversation: Conversation, part: Object, mark: Object) -> None:
    kind = text_of(part.get("part_kind"))
    if kind == "system-prompt":
        conversation.add_system(text_of(part.get("content")))
    elif kind == "user-prompt":
        conversation.add_user(_content(conversation, part.get("content")), mark.get("injected") is True)
    elif kind == "tool-return" or (kind == "retry-prompt" and part.get("tool_name")):
        failed = _OUTCOMES.get(text_of(part.get("outcome")), kind == "retry-prompt")
        content = _content(conversation, part.get("content"))
        synthetic = mark_of(part.get("metadata")).get("synthetic") is True
        conversation.add_result(part.get("tool_call_id"), content, failed, part.get("tool_name"), synthetic=synthetic)
    elif kind in ("retry-prompt", "retry-feedback"):
        conversation.add_user(as_text(part.get("content")), injected=True)
    else:
        conversation.remark("block-left-out", f"a part of kind {kind or 'unknown'}")


def _content(conversation: Conversation, value: Any) -> list[TextContent | ImageContent | FileContent]:
    """What a user or a tool said: text, a list of texts and media, or any JSON."""
    if not isinstance(value, list) or not any(isinstance(each, dict) and "kind" in each for each in value):
        strings = isinstance(value, list) and all(isinstance(each, str) for each in value)
        return [TextContent(each) for each in value] if strings else [TextContent(as_text(value))]
    found: list[TextContent | ImageContent | FileContent] = []
    for each in value:
        block = _piece(each)
        if block is None:
            conversation.remark("block-left-out", f"content of kind {_kind(each)}")
        else:
            found.append(block)
    return found


def _kind(value: Any) -> str:
    return text_of(object_of(value).get("kind")) or "unknown"


def _piece(value: Any) -> TextContent | ImageContent | FileContent | None:
    if isinstance(value, str):
        return TextContent(value)
    piece, kind = object_of(value), _kind(value)
    if kind in ("text-content", "structured-content"):
        return TextContent(text_of(piece.get("content")))
    if kind != "binary" and kind not in _KINDS:
        return None
    mime_type = text_of(piece.get("media_type")) or _KINDS.get(kind, "")
    name = text_of(piece.get("identifier"))  # by default a digest
    return media(mime_type, piece.get("data"), piece.get("url"), name if "." in name else None)


def _read_response(conversation: Conversation, message: Object, parts: list[Object]) -> None:
    mark = mark_of(message.get("metadata"))
    provider = text_of(message.get("provider_name"))
    conversation.origin = Origin()
    conversation.set_origin(provider, message.get("model_name"), mark.get("protocol"))
    blocks: list[Any] = []
    for part in parts:
        read = _PARTS.get(text_of(part.get("part_kind")))
        if read is None:
            kind = text_of(part.get("part_kind")) or "unknown"
            conversation.remark("block-unknown", f"a part of kind {kind}")
        elif not _merged(blocks, part):
            blocks.append(read(conversation, part))
    usage = object_of(message.get("usage"))
    read, written = usage.get("cache_read_tokens"), usage.get("cache_write_tokens")
    conversation.add_answer(
        blocks,
        stop=mark.get("stop") or message.get("finish_reason"),
        time=message.get("timestamp"),
        usage=tokens(
            usage.get("input_tokens"),
            usage.get("output_tokens"),
            read,
            written,
            inclusive=True,
            cache_write_long=usage.get("cache_write_1h_tokens"),
        ),
        response_id=text_of(message.get("provider_response_id")) or None,
        error_message=text_of(mark.get("error")) or None,
    )


def _merged(blocks: list[Any], part: Object) -> bool:
    """Add a further summary of a reasoning item to the thinking before it, which has the signature of both."""
    before = blocks[-1] if blocks else None
    if part.get("part_kind") != "thinking" or part.get("signature") or not isinstance(before, ThinkingContent):
        return False
    parts = signatures.opened(before, RESPONSES)
    if "encrypted" not in parts or parts.get("id") != part.get("id"):
        return False
    blocks[-1] = signatures.thinking(f"{before.thinking}\n\n{text_of(part.get('content'))}", parts)
    return True


def _parts_of(part: Object) -> signatures.Parts:
    details = object_of(part.get("provider_details"))
    found = {
        "signature": part.get("signature") or details.get("thought_signature"),
        "id": part.get("id"),
        "phase": details.get("phase"),
    }
    return {name: value for name, value in found.items() if isinstance(value, str) and value}


def _text(conversation: Conversation, part: Object) -> TextContent:
    if part.get("citations"):
        conversation.remark("block-left-out", "the citations of a text, whose form is not that of a provider")
    return signatures.text(text_of(part.get("content")), _parts_of(part))


def _thinking(conversation: Conversation, part: Object) -> ThinkingContent:
    parts, content = _parts_of(part), text_of(part.get("content"))
    if parts.get("id") in _REDACTED and "signature" in parts:
        return signatures.thinking(content, {"redacted": parts["signature"]})
    if conversation.origin.protocol == RESPONSES and "id" in parts and "signature" in parts:
        return signatures.thinking(content, {"id": parts["id"], "encrypted": parts["signature"]})
    return signatures.thinking(content, {"signature": parts.get("signature", "")})


def _call(conversation: Conversation, part: Object) -> ToolCall:
    signature = signatures.call_signature(_parts_of(part))
    return conversation.call(part.get("tool_call_id"), part.get("tool_name"), part.get("args"), signature=signature)


def _provider(conversation: Conversation, part: Object) -> ProviderContent:
    return ProviderContent(part, text_of(part.get("part_kind")), text_of(part.get("content")))


_PARTS: dict[str, Callable[[Conversation, Object], Any]] = {
    "text": _text,
    "thinking": _thinking,
    "tool-call": _call,
    "builtin-tool-call": _provider,
    "builtin-tool-return": _provider,
    "compaction": _provider,
    "file": _provider,
    "speech": _provider,
}


FORMAT = document_format(
    name=NAME,
    title="pydantic-ai messages",
    recognise=is_own,
    read=read_messages,
    write=draft,
    verified=True,
    source="pydantic-ai 2.66.0, run on 2026-11-18",
)
