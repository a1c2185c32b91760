"""Write answers of Anthropic Messages.

Events and fields are those of the SDK's ``types/raw_*_event.py`` and ``types/message.py`` (anthropic 2.8.0, 2026-11),
errors those of ``types/shared/*_error.py`` with the statuses of platform.claude.com, "Errors" (2026-11).
"""

from typing import Any, assert_never

from ...types import AssistantContent, AssistantMessage, ProviderContent, TextContent, ThinkingContent, ToolCall, Usage
from ...types.codec import json_text
from ..common.writing import AnswerForm, Body, Failed, Head, Kind, Stops, StreamWriter, sse, stop_of
from .replay import cited

STOPS: Stops = {
    "stop": "end_turn",
    "length": "max_tokens",
    "toolUse": "tool_use",
    "error": "refusal",
    "aborted": "end_turn",
}
# Of `RefusalStopDetails` in the SDK.
_CATEGORIES = frozenset({"cyber", "bio", "frontier_llm", "reasoning_extraction", "general_harms"})
_DELTAS: dict[Kind, tuple[str, str]] = {
    "text": ("text_delta", "text"),
    "thinking": ("thinking_delta", "thinking"),
    "call": ("input_json_delta", "partial_json"),
}


class Writer(StreamWriter):
    """Writes one answer as a stream."""

    def begin(self, message: AssistantMessage) -> None:
        usage = _usage(message.usage)
        if not any(usage.values()):
            usage["input_tokens"] = self.head.input_tokens
        start: Body = {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage | {"output_tokens": 1}}
        self._emit("message_start", message=_message(self.head) | start)

    def holds(self, block: AssistantContent) -> bool:
        return _holds(self.head, block)

    def open(self, number: int, block: AssistantContent) -> None:
        self._emit("content_block_start", index=number, content_block=_empty(self.head, block))

    def add(self, number: int, kind: Kind, delta: str) -> None:
        name, field = _DELTAS[kind]
        self._emit("content_block_delta", index=number, delta={"type": name, field: delta})

    def close(self, number: int, block: AssistantContent | None) -> None:
        for delta in _last_deltas(self.head, block):
            self._emit("content_block_delta", index=number, delta=delta)
        self._emit("content_block_stop", index=number)

    def end(self, message: AssistantMessage, refusal: str | None) -> None:
        usage = _usage(message.usage) | {"output_tokens": message.usage.output}
        self._emit("message_delta", delta=_stop(message, refusal), usage=usage)
        self._emit("message_stop")

    def fail(self, message: AssistantMessage, failed: Failed) -> None:
        _, kind = ERRORS[failed.kind]
        self.frames.append(("error", error(0, kind, failed.text)))

    def _emit(self, name: str, **fields: Any) -> None:
        self.frames.append((name, {"type": name, **fields}))


def whole(head: Head, message: AssistantMessage, refusal: str | None) -> Body:
    """The whole answer."""
    usage = _usage(message.usage) | {"output_tokens": message.usage.output}
    content = [block_body(head, block) for block in message.content if _holds(head, block)]
    return _message(head) | {"content": content, **_stop(message, refusal), "usage": usage}


def block_body(head: Head, block: AssistantContent) -> Body:
    """A block as a whole answer has it."""
    if isinstance(block, TextContent):
        return (cited(block) if head.own else None) or {"type": "text", "text": block.text}
    if isinstance(block, ThinkingContent):
        if block.redacted:
            return {"type": "redacted_thinking", "data": head.signature(block)}
        return {"type": "thinking", "thinking": block.thinking, "signature": head.signature(block) or ""}
    if isinstance(block, ToolCall):
        return {"type": "tool_use", "id": head.call_id(block.id), "name": block.name, "input": block.arguments}
    if isinstance(block, ProviderContent):
        raw: Body = block.value
        return raw
    assert_never(block)


def _empty(head: Head, block: AssistantContent) -> Body:
    """A block at the start of its stream. Redacted thinking and results of the provider are complete; all else grows:
    Claude Code reads the input of server tools only from deltas (measured with 2.1, 2026-11)."""
    body = block_body(head, block)
    if isinstance(block, ProviderContent):
        return body | {"input": {}} if body.get("input") else body
    growing: Body = {"text": "", "citations": [], "thinking": "", "signature": "", "input": {}}
    return {name: growing.get(name, value) for name, value in body.items()}


def _last_deltas(head: Head, block: AssistantContent | None) -> list[Body]:
    """What comes at the end of a block: the citations of a text, the signature of thinking, the input of a server
    tool."""
    if isinstance(block, ProviderContent):
        asked = block_body(head, block).get("input")
        return [{"type": "input_json_delta", "partial_json": json_text(asked)}] if asked else []
    if isinstance(block, TextContent):
        citations = block_body(head, block).get("citations") or []
        return [{"type": "citations_delta", "citation": citation} for citation in citations]
    if isinstance(block, ThinkingContent) and not block.redacted and (signature := head.signature(block)) is not None:
        return [{"type": "signature_delta", "signature": signature}]
    return []


def _holds(head: Head, block: AssistantContent) -> bool:
    """Redacted thinking is nothing but its payload. Provider content belongs to the protocol that it came in."""
    if isinstance(block, ProviderContent):
        return head.own
    return not (isinstance(block, ThinkingContent) and block.redacted and not head.signature(block))


def _message(head: Head) -> Body:
    return {"id": head.id, "type": "message", "role": "assistant", "model": head.model}


def _is_paused(message: AssistantMessage) -> bool:
    """Whether the provider paused the answer: its last block is a tool of the provider that is still running."""
    last = message.content[-1] if message.content else None
    return stop_of(message) == "stop" and isinstance(last, ProviderContent) and last.kind == "server_tool_use"


def _stop(message: AssistantMessage, refusal: str | None) -> Body:
    stop: Body = {
        "stop_reason": "pause_turn" if _is_paused(message) else STOPS[stop_of(message)],
        "stop_sequence": None,
    }
    if refusal:
        category, _, rest = refusal.partition(": ")
        if category not in _CATEGORIES:
            category, rest = "", refusal
        stop["stop_details"] = {"type": "refusal", "category": category or None, "explanation": rest or None}
    return stop


def _usage(usage: Usage) -> Body:
    return {
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
    }


def error(status: int, kind: str, text: str) -> Body:
    """The body of an error."""
    return {"type": "error", "error": {"type": kind, "message": text}}


ERRORS: dict[str, tuple[int, str]] = {
    "provider": (500, "api_error"),
    "rate-limit": (429, "rate_limit_error"),
    "quota": (402, "billing_error"),
    "overloaded": (529, "overloaded_error"),
    "server": (500, "api_error"),
    "network": (502, "api_error"),
    "authentication": (401, "authentication_error"),
    "model-not-found": (404, "not_found_error"),
    "invalid-request": (400, "invalid_request_error"),
    "overflow": (400, "invalid_request_error"),
    "refused": (400, "invalid_request_error"),
}

ANSWER_FORM = AnswerForm(
    id_prefix="msg_",
    writer=Writer,
    whole=whole,
    frame=sse,
    keepalive=lambda head: sse("ping", {"type": "ping"}),
    errors=ERRORS,
    error=error,
    overflow="prompt is too long",
)
