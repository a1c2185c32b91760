"""Write conversations as UI messages of the Vercel AI SDK: one assistant message for all steps in a row."""

from itertools import groupby
from typing import Any

from ..types import (
    AssistantContent,
    AssistantMessage,
    Context,
    FileContent,
    Message,
    ProviderContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserContent,
    UserMessage,
)
from ..types.codec import encode
from . import signatures
from .format import Draft, Target
from .marks import left_out, marked
from .originals import Originals
from .origins import ANTHROPIC, BEDROCK, GOOGLE, RESPONSES
from .reading import object_of, text_of
from .source import Object

USAGE = ("input", "output", "cacheRead", "cacheWrite")
SPACES = {ANTHROPIC: "anthropic", BEDROCK: "bedrock", RESPONSES: "openai", GOOGLE: "google"}
FIELDS = {
    "signature": "signature",
    "thoughtSignature": "signature",
    "redactedData": "redacted",
    "itemId": "id",
    "reasoningEncryptedContent": "encrypted",
    "phase": "phase",
}


def write_messages(context: Context, originals: Originals | None = None) -> list[Any]:
    """Serialise a conversation. Messages that were read and are unchanged are handed back as they were."""
    known = originals or Originals()
    written: list[Any] = []
    if context.system_prompt and not known.has_prompt(context):
        parts = [{"type": "text", "text": context.system_prompt}]
        written.append({"id": "system", "role": "system", "parts": parts})
    runs = groupby(known.parts(context), key=lambda part: "original" if part[0] is not None else _role(part[1][0]))
    at = 0
    for kind, run in runs:
        found = [*run]
        if kind == "original":
            written += [original for original, _ in found]
        elif kind == "user":
            written += [_user(messages[0], f"message-{at + number}") for number, (_, messages) in enumerate(found)]
        else:
            written.append(_assistant([messages[0] for _, messages in found], f"message-{at}"))
        at += len(found)
    return written


def _role(message: Message) -> str:
    return "user" if isinstance(message, UserMessage) else "assistant"


def _user(message: Message, name: str) -> Object:
    parts = [_written(block) for block in message.content if not isinstance(block, AssistantOnly)]
    return {"id": name, "role": "user", "parts": parts} | marked(
        "metadata", injected=getattr(message, "injected", False)
    )


AssistantOnly = ThinkingContent | ToolCall | ProviderContent


def _written(block: UserContent) -> Object:
    if isinstance(block, TextContent):
        return {"type": "text", "text": block.text}
    url = block.url or f"data:{block.mime_type};base64,{block.data}"
    name = {"filename": block.name} if isinstance(block, FileContent) and block.name else {}
    return {"type": "file", "mediaType": block.mime_type or "image/png", "url": url} | name


def _assistant(messages: list[Message], name: str) -> Object:
    results = {each.tool_call_id: each for each in messages if isinstance(each, ToolResultMessage)}
    parts: list[Object] = []
    steps = []
    for message in messages:
        if isinstance(message, AssistantMessage):
            steps.append(_step(message))
            parts.append({"type": "step-start"})
            parts += [_part(block, message.protocol, results) for block in message.content]
        elif isinstance(message, ToolResultMessage) and message.tool_call_id in results:
            parts.append({"type": "text", "text": _shown_result(results.pop(message.tool_call_id))})
    return {"id": name, "role": "assistant", "parts": parts} | marked("metadata", steps=steps)


def _shown_result(result: ToolResultMessage) -> str:
    return f"[Result of an earlier call to {result.tool_name}]\n{_text(result)}"


def _text(result: ToolResultMessage) -> str:
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))


def _step(message: AssistantMessage) -> Object:
    usage = message.usage
    counts = (usage.input, usage.output, usage.cache_read, usage.cache_write)
    found = {
        "provider": message.provider,
        "model": message.model,
        "protocol": message.protocol,
        "stop": message.stop_reason,
        "time": message.timestamp,
        "usage": dict(zip(USAGE, counts, strict=True)),
        "id": message.response_id,
        "error": message.error_message,
    }
    return {name: value for name, value in found.items() if value}


def _part(block: AssistantContent, protocol: str, results: dict[str, ToolResultMessage]) -> Object:
    if isinstance(block, ProviderContent):
        return _written_provider(block)
    parts = signatures.opened(block, protocol)
    names = {part: field for field, part in FIELDS.items()} | {"signature": "signature"}
    if protocol == GOOGLE:
        names["signature"] = "thoughtSignature"
    signed = {SPACES.get(protocol, "segue"): {names[part]: value for part, value in parts.items()}} if parts else {}
    if isinstance(block, ToolCall):
        found = _tool_part(block, results.pop(block.id, None))
        return found | ({"callProviderMetadata": signed} if signed else {})
    text = block.text if isinstance(block, TextContent) else block.thinking
    found = {"type": "text" if isinstance(block, TextContent) else "reasoning", "text": text, "state": "done"}
    return found | ({"providerMetadata": signed} if signed else {})


def _tool_part(call: ToolCall, result: ToolResultMessage | None) -> Object:
    found: Object = {"type": "dynamic-tool", "toolName": call.name, "toolCallId": call.id, "input": call.arguments}
    if result is None:
        return found | {"state": "input-available"}
    mark = marked("resultProviderMetadata", synthetic=result.synthetic)
    if result.is_error:
        return found | {"state": "output-error", "errorText": _text(result)} | mark
    if len(result.content) == 1 and isinstance(result.content[0], TextContent):
        return found | {"state": "output-available", "output": result.content[0].text} | mark
    pieces = [_written(block) for block in result.content]
    return found | {"state": "output-available", "output": {"type": "content", "value": pieces}} | mark


def _written_provider(block: ProviderContent) -> Object:
    """A part that the SDK wrote; one of another origin as text."""
    stored = object_of(block.value)
    if text_of(stored.get("type")) == block.kind and block.kind in ("file", "source-url", "source-document"):
        return stored
    return {"type": "text", "text": f"[{block.kind}] {block.text}".strip(), "state": "done"}


def draft(context: Context, target: Target) -> Draft:
    return Draft(f"{target.id}.json", encode(write_messages(context)), changes=left_out(context))
