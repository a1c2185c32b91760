"""Write conversations as messages of pydantic-ai. What they have no field for is in their ``metadata``."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from ..types import (
    AssistantMessage,
    Context,
    FileContent,
    ImageContent,
    Message,
    ProviderContent,
    TextContent,
    ThinkingContent,
    ToolResultMessage,
    UserMessage,
)
from ..types.codec import encode
from . import signatures
from .format import Draft, Target
from .marks import left_out, marked
from .originals import Originals
from .origins import BEDROCK, GOOGLE
from .reading import iso_time, text_of
from .source import Object

_FINISH = {"stop": "stop", "length": "length", "toolUse": "tool_call", "error": "error", "aborted": "error"}
_NAMES = {"amazon-bedrock": "bedrock", "google-vertex": "google-cloud"}
"""Providers that have another name there."""
_PROVIDER_PARTS = frozenset({"builtin-tool-call", "builtin-tool-return", "compaction", "file", "speech"})


def write_messages(context: Context, originals: Originals | None = None) -> list[Any]:
    """Serialise a conversation. Messages that were read and are unchanged are handed back as they were."""
    known = originals or Originals()
    written: list[Any] = []
    prompt = [] if known.has_prompt(context) else [context.system_prompt or ""]
    if any(prompt):
        written.append({"kind": "request", "parts": [{"part_kind": "system-prompt", "content": prompt[0]}]})
    for original, messages in known.parts(context):
        if original is not None:
            written.append(original)
        elif isinstance(messages[0], AssistantMessage):
            written.append(_response(messages[0]))
        else:
            written.append(_request(messages[0]))
    return [*_joined(written, originals is not None)]


def _joined(items: list[Any], keep: bool) -> Iterator[Any]:
    """Join requests in a row, as pydantic-ai has them; those with a mark stay apart."""
    if keep:
        yield from items
        return
    for plain, run in groupby(items, key=lambda each: each["kind"] == "request" and "metadata" not in each):
        if not plain:
            yield from run
            continue
        parts = [part for each in run for part in each["parts"]]
        yield {"kind": "request", "parts": parts}


def _request(message: Message) -> Object:
    if isinstance(message, ToolResultMessage):
        part: Object = {
            "part_kind": "tool-return",
            "tool_name": message.tool_name,
            "tool_call_id": message.tool_call_id,
            "content": _written(message.content),
            "outcome": "failed" if message.is_error else "success",
        }
        return {"kind": "request", "parts": [part | marked("metadata", synthetic=message.synthetic)]}
    assert isinstance(message, UserMessage)
    part = {"part_kind": "user-prompt", "content": _written(message.content)}
    return {"kind": "request", "parts": [part]} | marked("metadata", injected=message.injected)


def _written(content: list[TextContent | ImageContent | FileContent]) -> Any:
    if len(content) == 1 and isinstance(content[0], TextContent):
        return content[0].text
    return [_written_piece(block) for block in content]


def _written_piece(block: TextContent | ImageContent | FileContent) -> Any:
    if isinstance(block, TextContent):
        return block.text
    name = {"identifier": block.name} if isinstance(block, FileContent) and block.name else {}
    if not block.url:
        return {"kind": "binary", "media_type": block.mime_type, "data": block.data} | name
    kinds = {"image": "image-url", "audio": "audio-url", "video": "video-url"}
    kind = "image-url" if isinstance(block, ImageContent) else kinds.get(block.kind, "document-url")
    return {"kind": kind, "url": block.url} | ({"media_type": block.mime_type} if block.mime_type else {}) | name


def _response(message: AssistantMessage) -> Object:
    provider = _NAMES.get(message.provider, message.provider) or None
    usage = message.usage
    mark = {"protocol": message.protocol, "stop": message.stop_reason, "error": message.error_message}
    return {
        "kind": "response",
        "parts": [_written_part(block, message.protocol, provider) for block in message.content],
        "usage": {
            "input_tokens": usage.prompt,
            "cache_read_tokens": usage.cache_read,
            "cache_write_tokens": usage.cache_write,
            "output_tokens": usage.output,
        },
        "model_name": message.model or None,
        "provider_name": provider,
        "provider_response_id": message.response_id,
        "finish_reason": _FINISH[message.stop_reason],
        "timestamp": iso_time(message.timestamp),
    } | marked("metadata", **mark)


def _written_part(block: Any, protocol: str, provider: str | None) -> Object:
    if isinstance(block, ProviderContent):
        return _written_provider(block)
    parts = signatures.opened(block, protocol)
    signature = {"signature": parts["signature"]} if "signature" in parts else {}
    if isinstance(block, ThinkingContent):
        found: Object = {"part_kind": "thinking", "content": block.thinking} | signature
        if "redacted" in parts:
            redacted = "redacted_content" if protocol == BEDROCK else "redacted_thinking"
            found |= {"id": redacted, "signature": parts["redacted"]}
        if "encrypted" in parts:
            found |= {"id": parts.get("id"), "signature": parts["encrypted"]}
        return found | {"provider_name": provider}
    if isinstance(block, TextContent):
        found = {"part_kind": "text", "content": block.text}
    else:
        found = {"part_kind": "tool-call", "tool_name": block.name, "args": block.arguments, "tool_call_id": block.id}
    details = {"phase": parts.get("phase"), "thought_signature": parts.get("signature") if protocol == GOOGLE else None}
    kept = {name: value for name, value in details.items() if value}
    if not kept and "id" not in parts:
        return found
    return found | {"id": parts.get("id"), "provider_name": provider, "provider_details": kept or None}


def _written_provider(block: ProviderContent) -> Object:
    """A block that pydantic-ai wrote; one of another origin as text."""
    stored = block.value
    if isinstance(stored, dict) and text_of(stored.get("part_kind")) in _PROVIDER_PARTS:
        return stored
    return {"part_kind": "text", "content": f"[{block.kind}] {block.text}".strip()}


def draft(context: Context, target: Target) -> Draft:
    return Draft(f"{target.id}.json", encode(write_messages(context)), changes=left_out(context))
