"""Recognise bodies of chat completions: those with ``messages`` that do not look like another protocol."""

from typing import Any

Object = dict[str, Any]

# Top-level names that only other protocols have: Responses, Google, Bedrock, Anthropic.
_OTHERS = frozenset(
    {"input", "instructions", "contents", "toolConfig", "inferenceConfig", "modelId", "system", "anthropic_version"}
    | {"stop_sequences", "output_config"}
)
_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
_PARTS = frozenset({"text", "image_url", "input_audio", "file", "refusal", "video_url", "input_video", "image"})
# Fields of the body and of messages that neither Anthropic nor Mistral has.
_FIELDS = frozenset(
    {"max_completion_tokens", "stream_options", "reasoning", "enable_thinking", "logit_bias", "functions", "store"}
)
_KEYS = frozenset({"reasoning_content", "reasoning", "reasoning_details", "function_call", "refusal"})

DEFAULT, FAMILY, SURE = 6, 50, 80
"""How sure it is: only ``messages``; fields that Mistral has, too; fields of this family alone."""


def recognise(body: Object) -> int:
    """Return how sure it is that ``body`` is a chat completion; 0 if it cannot be one."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not _OTHERS.isdisjoint(body) or not all(map(_may_be, messages)):
        return 0
    if _has_other_tools(body.get("tools")):
        return 0
    if not _FIELDS.isdisjoint(body) or any(map(_is_sure, messages)):
        return SURE
    return FAMILY if any(map(_is_family, messages)) or "tools" in body else DEFAULT


def _parts(message: Object) -> list[Any]:
    content = message.get("content")
    return content if isinstance(content, list) else []


def _may_be(message: Any) -> bool:
    if not isinstance(message, dict) or not isinstance(message.get("role"), str) or message["role"] not in _ROLES:
        return False
    parts = _parts(message)
    if not all(
        isinstance(part, str) or (isinstance(part, dict) and isinstance(part.get("type"), str)) for part in parts
    ):
        return False
    return all(isinstance(part, str) or (part["type"] in _PARTS and "source" not in part) for part in parts)


def _is_sure(message: Object) -> bool:
    if message["role"] in ("developer", "function") or not _KEYS.isdisjoint(message):
        return True
    return any(
        isinstance(part, dict) and part["type"] in ("input_audio", "file", "refusal") for part in _parts(message)
    )


def _is_family(message: Object) -> bool:
    return message["role"] in ("system", "tool") or "tool_calls" in message


def _has_other_tools(tools: Any) -> bool:
    """Whether the tools are Anthropic's, with the schema next to the name."""
    return isinstance(tools, list) and any(isinstance(tool, dict) and "input_schema" in tool for tool in tools)
