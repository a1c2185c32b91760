"""Write a session of Claude Code: one row for each message, each of which names the one before it.

What ``claude --resume`` needs was found by running 2.1.197 (2026-11-16): the chain of parents decides, a whole answer
may be in one row, and nothing is repaired, so ids, thinking and results must be valid.
"""

from collections.abc import Callable
from typing import Any

from ..types import (
    AssistantMessage,
    Block,
    Context,
    FileContent,
    ImageContent,
    Message,
    ProviderContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    Usage,
)
from .format import Draft, Target
from .reading import iso_time
from .rows import folder_name, lines_of, row_id
from .source import Object, read_line

VERSION = "2.1.197"
_STOPS = {"toolUse": "tool_use", "length": "max_tokens"}


def write(context: Context, target: Target) -> Draft:
    """The file of a new session."""
    rows: list[Object] = []
    used: set[str] = set()
    for number, message in enumerate(context.messages):
        name = row_id(target.id, number)
        row = {
            "parentUuid": rows[-1]["uuid"] if rows else None,
            "isSidechain": False,
            "userType": "external",
            "cwd": target.cwd,
            "sessionId": target.id,
            "version": VERSION,
            "type": "assistant" if isinstance(message, AssistantMessage) else "user",
            "message": _message(message, name, used, target),
            "uuid": name,
            "timestamp": iso_time(target.now + number),
        }
        rows.append(row | ({"isMeta": True} if getattr(message, "injected", False) else {}))
    if target.title:
        rows.append({"type": "custom-title", "customTitle": target.title, "sessionId": target.id})
    path = f"projects/{folder_name(target.cwd)}/{target.id}.jsonl"
    return Draft(path, lines_of(rows), f"cd {target.cwd} && claude --resume {target.id}")


def _message(message: Message, name: str, used: set[str], target: Target) -> Object:
    if not isinstance(message, AssistantMessage):
        if isinstance(message, ToolResultMessage):
            content = [_block(block) for block in message.content]
            result = {"type": "tool_result", "tool_use_id": message.tool_call_id, "content": content}
            return {"role": "user", "content": [result | ({"is_error": True} if message.is_error else {})]}
        return {"role": "user", "content": [_block(block) for block in message.content]}
    identity = message.response_id or ""
    if not identity.startswith("msg_") or identity in used:
        identity = f"msg_{name.replace('-', '')[:24]}"
    used.add(identity)
    return {
        "id": identity,
        "type": "message",
        "role": "assistant",
        "model": message.model or target.model or "unknown",
        "content": [_block(block) for block in message.content],
        "stop_reason": _STOPS.get(message.stop_reason, "end_turn"),
        "stop_sequence": None,
        "usage": _usage(message.usage),
    }


def _usage(usage: Usage) -> Object:
    return {
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
        "output_tokens": usage.output,
    }


def _text(block: TextContent) -> Object:
    signature = block.text_signature
    citations = read_line(signature.encode("utf-8", "replace")) if signature and signature.startswith("[") else None
    return {"type": "text", "text": block.text} | ({"citations": citations} if citations else {})


def _thinking(block: ThinkingContent) -> Object:
    if block.redacted:
        return {"type": "redacted_thinking", "data": block.thinking_signature}
    return {"type": "thinking", "thinking": block.thinking, "signature": block.thinking_signature or ""}


def _image(block: ImageContent) -> Object:
    return {"type": "image", "source": {"type": "base64", "media_type": block.mime_type, "data": block.data}}


def _file(block: FileContent) -> Object:
    return {"type": "document", "source": {"type": "base64", "media_type": block.mime_type, "data": block.data}}


def _call(block: ToolCall) -> Object:
    return {"type": "tool_use", "id": block.id, "name": block.name, "input": block.arguments}


def _provider(block: ProviderContent) -> Any:
    return block.raw


_BLOCKS: dict[type[Block], Callable[[Any], Any]] = {
    TextContent: _text,
    ThinkingContent: _thinking,
    ImageContent: _image,
    FileContent: _file,
    ToolCall: _call,
    ProviderContent: _provider,
}


def _block(block: Block) -> Any:
    return _BLOCKS[type(block)](block)
