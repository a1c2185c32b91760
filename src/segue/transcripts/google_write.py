"""Write parts of Gemini's contents, and the sessions of Gemini CLI and Qwen Code.

Gemini CLI sends results twice if they are also beside the calls (0.60 and 0.61, its issue 29365): calls are written as
parts, and results only in the row that follows. Qwen Code writes a row for each result (0.15.10 and 0.24.4; 2026-11).
"""

import hashlib
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from ..types import (
    AssistantContent,
    AssistantMessage,
    Context,
    ImageContent,
    Message,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserContent,
)
from .format import Draft, Target
from .reading import iso_time
from .rows import folder_name, images_in, lines_of, row_id, text_of
from .source import Object

QWEN_VERSION = "0.24.4"


def _signed(part: Object, signature: str | None) -> Object:
    return part | ({"thoughtSignature": signature} if signature else {})


def answer_part(block: AssistantContent, signed: bool) -> Object:
    """A part of an answer, with its signature if it is Gemini's."""
    if isinstance(block, ThinkingContent):
        return _signed({"text": block.thinking, "thought": True}, block.thinking_signature if signed else None)
    if isinstance(block, ToolCall):
        call = {"id": block.id, "name": block.name, "args": block.arguments}
        return _signed({"functionCall": call}, block.thought_signature if signed else None)
    return _signed({"text": block.text}, block.text_signature if signed and isinstance(block, TextContent) else None)


def user_part(block: UserContent) -> Object:
    if isinstance(block, ImageContent):
        return {"inlineData": {"mimeType": block.mime_type, "data": block.data}}
    return {"text": getattr(block, "text", "") or ""}


def result_part(result: ToolResultMessage) -> Object:
    response = {"error" if result.is_error else "output": text_of(result)}
    value: Object = {"id": result.tool_call_id, "name": result.tool_name, "response": response}
    images = [user_part(image) for image in images_in(result.content)]
    return {"functionResponse": value | ({"parts": images} if images else {})}


def _answer_parts(message: AssistantMessage) -> list[Object]:
    return [answer_part(block, message.protocol == "google-generative-ai") for block in message.content]


def _batches(messages: Iterable[Message]) -> Iterable[list[Message]]:
    """The messages, with consecutive results together."""
    batch: list[Message] = []
    for message in messages:
        if batch and not (isinstance(message, ToolResultMessage) and isinstance(batch[-1], ToolResultMessage)):
            yield batch
            batch = []
        batch.append(message)
    if batch:
        yield batch


def write_gemini(context: Context, target: Target) -> Draft:
    """The file of a new session of Gemini CLI."""
    hashed = hashlib.sha256(target.cwd.encode()).hexdigest()
    began = iso_time(target.now)
    head: Object = {
        "sessionId": target.id,
        "projectHash": hashed,
        "startTime": began,
        "lastUpdated": began,
        "kind": "main",
    }
    rows = [head | ({"summary": target.title} if target.title else {})]
    for number, batch in enumerate(_batches(context.messages)):
        row: Object = {"id": row_id(target.id, number), "timestamp": iso_time(target.now + number)}
        rows.append(row | _gemini_row(batch, target))
    moment = datetime.fromtimestamp(target.now / 1000, UTC)
    name = f"tmp/{hashed}/chats/session-{moment:%Y-%m-%dT%H-%M}-{target.id[:8]}.jsonl"
    return Draft(name, lines_of(rows), f"cd {target.cwd} && gemini --resume {target.id}")


def _gemini_row(batch: list[Message], target: Target) -> Object:
    first = batch[0]
    if isinstance(first, AssistantMessage):
        usage = first.usage
        sent = usage.prompt
        tokens = {"input": sent, "output": usage.output, "cached": usage.cache_read, "thoughts": 0, "tool": 0}
        tokens["total"] = sent + usage.output
        model = first.model or target.model
        return {"type": "gemini", "content": _answer_parts(first), "tokens": tokens, "model": model}
    results = [result_part(each) for each in batch if isinstance(each, ToolResultMessage)]
    return {"type": "user", "content": results or [user_part(block) for block in first.content]}


def write_qwen(context: Context, target: Target) -> Draft:
    """The file of a new session of Qwen Code."""
    rows: list[Object] = []
    for number, message in enumerate(context.messages):
        row: Object = {
            "uuid": row_id(target.id, number),
            "parentUuid": rows[-1]["uuid"] if rows else None,
            "sessionId": target.id,
            "timestamp": iso_time(target.now + number),
            "cwd": target.cwd,
            "version": QWEN_VERSION,
        }
        rows.append(row | _qwen_row(message, target))
    if target.title:
        payload = {"customTitle": target.title}
        last = {"uuid": row_id(target.id, len(rows)), "parentUuid": rows[-1]["uuid"] if rows else None}
        more = {"sessionId": target.id, "timestamp": iso_time(target.now + len(rows)), "cwd": target.cwd}
        rows.append(
            {
                **last,
                **more,
                "version": QWEN_VERSION,
                "type": "system",
                "subtype": "custom_title",
                "systemPayload": payload,
            }
        )
    name = f"projects/{folder_name(target.cwd)}/chats/{target.id}.jsonl"
    return Draft(name, lines_of(rows), f"cd {target.cwd} && qwen --resume {target.id}")


def _qwen_row(message: Message, target: Target) -> Object:
    if isinstance(message, AssistantMessage):
        usage = message.usage
        counts: dict[str, Any] = {"promptTokenCount": usage.prompt, "candidatesTokenCount": usage.output}
        counts |= {"cachedContentTokenCount": usage.cache_read, "totalTokenCount": usage.prompt + usage.output}
        content = {"role": "model", "parts": _answer_parts(message)}
        return {
            "type": "assistant",
            "model": message.model or target.model,
            "message": content,
            "usageMetadata": counts,
        }
    if isinstance(message, ToolResultMessage):
        shown = {"callId": message.tool_call_id, "status": "error" if message.is_error else "success"}
        content = {"role": "user", "parts": [result_part(message)]}
        return {
            "type": "tool_result",
            "message": content,
            "toolCallResult": shown | {"resultDisplay": text_of(message)},
        }
    mark = {"subtype": "notification"} if message.injected else {}
    return {
        "type": "user",
        **mark,
        "message": {"role": "user", "parts": [user_part(block) for block in message.content]},
    }
