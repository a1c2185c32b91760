"""Write conversations as messages of LangChain, in the form of ``messages_to_dict``.

Answers have the standard blocks of version 1 (``output_version``), which the integrations translate to the form of
their provider (langchain-anthropic 1.7.7, langchain-openai 1.7.3: ``_compat.py``, 2026-11-18).
"""

from typing import Any

from ..types import (
    AssistantContent,
    AssistantMessage,
    Context,
    FileContent,
    ImageContent,
    Message,
    ProviderContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    UserContent,
    UserMessage,
)
from ..types.codec import encode
from . import signatures
from .format import Draft, Target
from .marks import left_out, marked
from .originals import Originals
from .source import Object

_PROVIDERS = {"google": "google_genai", "google-vertex": "google_vertexai", "amazon-bedrock": "bedrock_converse"}


def write_messages(context: Context, originals: Originals | None = None) -> list[Any]:
    """Serialise a conversation as ``messages_to_dict`` does. Messages that were read and are unchanged are handed back
    as they were."""
    known = originals or Originals()
    written: list[Any] = []
    if context.system_prompt and not known.has_prompt(context):
        written.append({"type": "system", "data": {"type": "system", "content": context.system_prompt}})
    for original, messages in known.parts(context):
        written.append(_written(messages[0]) if original is None else original)
    return written


def _written(message: Message) -> Object:
    if isinstance(message, AssistantMessage):
        content: Any = [_answer_block(each, message.protocol) for each in message.content]
        return {"type": "ai", "data": {"type": "ai", "content": content} | _ai(message)}
    content = _plain(message.content) or [_written_block(block) for block in message.content]
    if isinstance(message, UserMessage):
        mark = marked("additional_kwargs", injected=message.injected)
        return {"type": "human", "data": {"type": "human", "content": content} | mark}
    fields = {
        "tool_call_id": message.tool_call_id,
        "name": message.tool_name or None,
        "status": "error" if message.is_error else "success",
    } | marked("additional_kwargs", synthetic=message.synthetic)
    return {"type": "tool", "data": {"type": "tool", "content": content} | fields}


def _plain(content: list[UserContent]) -> str:
    return content[0].text if len(content) == 1 and isinstance(content[0], TextContent) else ""


def _written_block(block: UserContent) -> Object:
    if isinstance(block, TextContent):
        return {"type": "text", "text": block.text}
    kind = "image" if isinstance(block, ImageContent) else {"document": "file"}.get(block.kind, block.kind)
    place = {"url": block.url} if block.url else {"base64": block.data}
    name = {"extras": {"filename": block.name}} if isinstance(block, FileContent) and block.name else {}
    return {"type": kind} | place | ({"mime_type": block.mime_type} if block.mime_type else {}) | name


def _ai(message: AssistantMessage) -> Object:
    usage = message.usage
    mark = {"protocol": message.protocol, "stop": message.stop_reason, "error": message.error_message}
    return {
        "tool_calls": [
            {"type": "tool_call", "id": block.id, "name": block.name, "args": block.arguments}
            for block in message.content
            if isinstance(block, ToolCall)
        ],
        "usage_metadata": {
            "input_tokens": usage.prompt,
            "output_tokens": usage.output,
            "total_tokens": usage.prompt + usage.output,
            "input_token_details": {"cache_read": usage.cache_read, "cache_creation": usage.cache_write},
        },
        "response_metadata": {
            "output_version": "v1",
            "model_provider": _PROVIDERS.get(message.provider, message.provider),
            "model_name": message.model,
        }
        | ({"id": message.response_id} if message.response_id else {}),
    } | marked("additional_kwargs", time=message.timestamp, **mark)


def _answer_block(block: AssistantContent, protocol: str) -> Object:
    if isinstance(block, ProviderContent):
        return {"type": "non_standard", "value": block.value}
    parts = signatures.opened(block, protocol)
    if "redacted" in parts:
        return {"type": "non_standard", "value": {"type": "redacted_thinking", "data": parts["redacted"]}}
    names = {"signature": "signature", "encrypted": "encrypted_content", "phase": "phase"}
    extras = {names[part]: value for part, value in parts.items() if part in names}
    found: Object = {}
    if isinstance(block, TextContent):
        found = {"type": "text", "text": block.text}
    elif isinstance(block, ThinkingContent):
        found = {"type": "reasoning", "reasoning": block.thinking}
    else:
        found = {"type": "tool_call", "id": block.id, "name": block.name, "args": block.arguments}
    if "id" in parts and isinstance(block, ToolCall):
        extras["item_id"] = parts["id"]
    elif "id" in parts:
        found["id"] = parts["id"]
    return found | ({"extras": extras} if extras else {})


def draft(context: Context, target: Target) -> Draft:
    return Draft(f"{target.id}.json", encode(write_messages(context)), changes=left_out(context))
