"""Messages in the form of the convention: a role, and parts with a type.

The schemas are `gen-ai-input-messages.json` and `gen-ai-output-messages.json` of the conventions (seen 2026-11).
"""

import json
import os
from typing import Any

PLACES = {"SPAN_ONLY": {"span"}, "EVENT_ONLY": {"event"}, "SPAN_AND_EVENT": {"span", "event"}}
FINISHED = {"toolUse": "tool_call", "aborted": "error"}
"""Stop reasons whose words differ from segue's."""


def places() -> set[str]:
    """Where content is recorded: in spans, in events, in both, or (by default) nowhere."""
    return PLACES.get(os.environ.get("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "").strip().upper(), set())


def input_messages(messages: list[Any]) -> str:
    """The messages of a request, as JSON."""
    return as_json([{"role": _role(message), "parts": parts(message)} for message in messages])


def output_messages(message: Any) -> str:
    """An answer, as JSON."""
    reason = FINISHED.get(message.stop_reason, message.stop_reason)
    return as_json([{"role": "assistant", "parts": parts(message), "finish_reason": reason}])


def system_instructions(text: str) -> str:
    return as_json([{"type": "text", "content": text}])


def tool_definitions(tools: Any) -> str:
    return as_json(
        [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": json.loads(bytes(tool.parameters)),
            }
            for tool in tools
        ]
    )


def parts(message: Any) -> list[dict[str, Any]]:
    """The blocks of a message as parts."""
    if message.role == "toolResult":
        shown = "\n".join(block.text for block in message.content if block.type == "text")
        others = [_part(block) for block in message.content if block.type != "text"]
        return [{"type": "tool_call_response", "id": message.tool_call_id, "response": shown}, *others]
    return [_part(block) for block in message.content]


def _part(block: Any) -> dict[str, Any]:
    kind = block.type
    if kind == "text":
        return {"type": "text", "content": block.text}
    if kind == "thinking":
        return {"type": "reasoning", "content": block.thinking}
    if kind == "toolCall":
        return {"type": "tool_call", "id": block.id, "name": block.name, "arguments": block.arguments}
    if kind == "provider":
        return {"type": block.kind, "content": block.text}
    modality = (block.mime_type or "image/").partition("/")[0]
    if block.url:
        return {"type": "uri", "modality": modality, "uri": block.url}
    return {"type": "blob", "modality": modality, "mime_type": block.mime_type, "content": block.data}


def _role(message: Any) -> str:
    return "tool" if message.role == "toolResult" else str(message.role)


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str).encode("utf-8", "replace").decode()
