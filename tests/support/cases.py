"""Cases as data: one file per case, in a short notation.

A message is ``{"user": …}``, ``{"answer": […], "of": "provider/model"}`` or ``{"result": id, "tool": name,
"text": …}``; a block of an answer is a text, ``{"think": …}`` or ``{"call": id, "tool": name}``. Missing fields have
their defaults. ``changes`` are written ``code@message`` or ``code@message.block``, and ``code!`` if something is lost.
"""

import json
from pathlib import Path
from typing import Any

import segue
from segue.types import (
    AssistantMessage,
    Change,
    Context,
    ImageContent,
    Message,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
    UserMessage,
)

CASES = Path(__file__).parents[1] / "cases"
IMAGE = ImageContent("aW1hZ2U=", "image/png")


def load(folder: str) -> dict[str, dict[str, Any]]:
    return {path.stem: json.loads(path.read_text()) for path in sorted((CASES / folder).glob("*.json"))}


def context(case: dict[str, Any]) -> Context:
    tools = [ToolDefinition(name, "", {"type": "object"}) for name in case.get("tools", [])]
    return Context(
        system_prompt=case.get("system"), messages=[message(entry) for entry in case["messages"]], tools=tools
    )


def message(entry: dict[str, Any]) -> Message:
    if "user" in entry:
        return UserMessage([plain(block) for block in listed(entry["user"])])
    if "result" in entry:
        return ToolResultMessage(
            entry["result"],
            entry.get("tool", "bash"),
            [plain(block) for block in listed(entry.get("text", []))],
            is_error=entry.get("error", False),
            synthetic=entry.get("synthetic", False),
        )
    provider, model, protocol = origin(entry.get("of", "elsewhere/model"))
    content = [answer_block(block) for block in listed(entry["answer"])]
    has_calls = any(isinstance(block, ToolCall) for block in content)
    return AssistantMessage(
        content=content,
        protocol=protocol,
        provider=provider,
        model=model,
        stop_reason=entry.get("stop", "toolUse" if has_calls else "stop"),
        endpoint=entry.get("endpoint"),
        prefix_digest=entry.get("digest"),
    )


def origin(ref: str) -> tuple[str, str, str]:
    provider, _, model = ref.partition("/")
    protocol = segue.get_model(ref).protocol if provider in segue.list_providers() else ""
    return provider, model, protocol


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def plain(block: Any) -> TextContent | ImageContent:
    return IMAGE if block == {"image": True} else TextContent(block)


def answer_block(block: Any) -> TextContent | ThinkingContent | ToolCall:
    match block:
        case str():
            return TextContent(block)
        case {"say": text, "signature": signature}:
            return TextContent(text, signature)
        case {"think": thinking}:
            return ThinkingContent(thinking, block.get("signature"), block.get("redacted", False))
        case {"call": id}:
            return ToolCall(id, block.get("tool", "bash"), block.get("arguments", {}), block.get("signature"))
    raise ValueError(f"not a block: {block}")


def notation(message: Message) -> dict[str, Any]:
    """A rendered message in the notation of the cases, without its origin."""
    match message:
        case UserMessage():
            return {"user": unlisted([plain_notation(block) for block in message.content])}
        case ToolResultMessage():
            entry: dict[str, Any] = {"result": message.tool_call_id}
            if message.tool_name != "bash":
                entry["tool"] = message.tool_name
            entry["text"] = unlisted([plain_notation(block) for block in message.content])
            if message.is_error:
                entry["error"] = True
            if message.synthetic:
                entry["synthetic"] = True
            return entry
        case AssistantMessage():
            return {"answer": unlisted([block_notation(block) for block in message.content])}


def unlisted(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else values


def plain_notation(block: TextContent | ImageContent) -> Any:
    return block.text if isinstance(block, TextContent) else {"image": True}


def block_notation(block: TextContent | ThinkingContent | ToolCall) -> Any:
    match block:
        case TextContent(text=text, text_signature=None):
            return text
        case TextContent():
            return {"say": block.text, "signature": block.text_signature}
        case ThinkingContent():
            entry: dict[str, Any] = {"think": block.thinking}
            if block.thinking_signature:
                entry["signature"] = block.thinking_signature
            if block.redacted:
                entry["redacted"] = True
            return entry
        case ToolCall():
            entry = {"call": block.id}
            if block.name != "bash":
                entry["tool"] = block.name
            if block.arguments:
                entry["arguments"] = block.arguments
            if block.thought_signature:
                entry["signature"] = block.thought_signature
            return entry


def change_notation(change: Change) -> str:
    place = "" if change.message is None else f"@{change.message}"
    place += "" if change.block is None else f".{change.block}"
    return f"{change.code}{'!' if change.lossy else ''}{place}"
