"""Write a session of Codex: its description, an event for each prompt, and the items.

What ``codex resume`` needs was found by running 0.166.0 (2026-11-16): the description is enough, and the list of
sessions shows files with an event of what was typed. Names of tools and ids of calls are sent as they are.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

from ..types import (
    AssistantContent,
    AssistantMessage,
    Context,
    ImageContent,
    Message,
    ProviderContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserContent,
    UserMessage,
)
from ..types.codec import json_text
from .format import Draft, Target
from .reading import iso_time, joined_text
from .rows import data_url, lines_of
from .source import Object, read_line

VERSION = "0.166.0"


def write(context: Context, target: Target) -> Draft:
    """The file of a new session."""
    began = iso_time(target.now)
    meta = {
        "id": target.id,
        "timestamp": began,
        "cwd": target.cwd,
        "originator": "codex_cli_rs",
        "cli_version": VERSION,
        "source": "cli",
        "model_provider": target.provider or "openai",
    }
    rows = [{"timestamp": began, "type": "session_meta", "payload": meta}]
    for message in context.messages:
        for kind, payload in _payloads(message):
            rows.append({"timestamp": iso_time(target.now + len(rows)), "type": kind, "payload": payload})
    if target.title:
        title = {"type": "thread_name_updated", "thread_id": target.id, "thread_name": target.title}
        rows.append({"timestamp": iso_time(target.now + len(rows)), "type": "event_msg", "payload": title})
    moment = datetime.fromtimestamp(target.now / 1000, UTC)
    name = f"sessions/{moment:%Y/%m/%d}/rollout-{moment:%Y-%m-%dT%H-%M-%S}-{target.id}.jsonl"
    return Draft(name, lines_of(rows), f"cd {target.cwd} && codex resume {target.id}")


def _payloads(message: Message) -> Iterator[tuple[str, Object]]:
    if isinstance(message, UserMessage):
        if not message.injected:
            yield "event_msg", {"type": "user_message", "message": joined_text(message.content), "images": []}
        yield "response_item", {"type": "message", "role": "user", "content": _parts(message.content)}
    elif isinstance(message, ToolResultMessage):
        kind = "custom_tool_call_output" if (message.meta or {}).get("custom") else "function_call_output"
        yield "response_item", {"type": kind, "call_id": message.tool_call_id, "output": _output(message)}
    elif isinstance(message, AssistantMessage):
        for block in message.content:
            yield "response_item", _ITEMS[type(block)](block)


def _parts(content: list[UserContent]) -> list[Object]:
    return [
        {"type": "input_image", "image_url": data_url(block)}
        if isinstance(block, ImageContent)
        else {"type": "input_text", "text": getattr(block, "text", "") or ""}
        for block in content
    ]


def _output(message: ToolResultMessage) -> Any:
    only = message.content[0] if len(message.content) == 1 else None
    if isinstance(only, TextContent):
        return only.text
    return _parts(message.content) if message.content else ""


def _message(block: TextContent) -> Object:
    signature = block.text_signature or ""
    known = read_line(signature.encode("utf-8", "replace")) if signature.startswith("{") else None
    item: Object = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": block.text}]}
    return item | (known if isinstance(known, dict) else {})


def _reasoning(block: ThinkingContent) -> Object:
    """Reasoning with its encrypted content. Codex reads it back only with the account that it came from."""
    item = read_line((block.thinking_signature or "").encode("utf-8", "replace"))
    if isinstance(item, dict):
        return item
    return {"type": "reasoning", "summary": [{"type": "summary_text", "text": block.thinking}], "content": None}


def _call(block: ToolCall) -> Object:
    named = {"id": block.thought_signature} if block.thought_signature else {}
    if block.kind == "custom":
        text = block.arguments.get("input", "")
        return {"type": "custom_tool_call", "call_id": block.id, "name": block.name, "input": text} | named
    item = {"type": "function_call", "name": block.name, "arguments": json_text(block.arguments), "call_id": block.id}
    return item | named | ({"namespace": block.namespace} if block.namespace else {})


def _provider(block: ProviderContent) -> Object:
    value: Object = block.value
    return value


_ITEMS: dict[type[AssistantContent], Callable[[Any], Object]] = {
    TextContent: _message,
    ThinkingContent: _reasoning,
    ToolCall: _call,
    ProviderContent: _provider,
}
