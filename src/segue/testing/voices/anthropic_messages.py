"""Anthropic Messages, the provider's side, without state: there are no threads.

Shapes: anthropic 2.8.0, types/raw_*_event.py (2026-11).
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, assert_never

from ...types import AssistantContent, Model, StopReason, TextContent, ThinkingContent, ToolCall
from ..script import FaultKind
from ..signatures import Signer
from ..voice import Answer, Body, Refusal, Voice
from .common import answer_id, arguments_of, pieces, route_to, sse, with_ids
from .thinking_bindings import bind, bindings

_STOPS: dict[StopReason, str] = {
    "stop": "end_turn",
    "length": "max_tokens",
    "toolUse": "tool_use",
    "error": "refusal",
    "aborted": "end_turn",
}
_REDACTED = "redacted"


def _complete(content: list[AssistantContent], signer: Signer, model: Model) -> list[AssistantContent]:
    signed = [_signed(block, signer) if isinstance(block, ThinkingContent) else block for block in content]
    return with_ids(signed, "toolu_", 24, signer)


def _signed(block: ThinkingContent, signer: Signer) -> ThinkingContent:
    """The block with a signature; redacted thinking has only its payload."""
    text = "" if block.redacted else block.thinking
    signature = block.thinking_signature or signer.issue(_REDACTED if block.redacted else text)
    return ThinkingContent(text, signature, block.redacted)


def _block(block: AssistantContent) -> Body:
    if isinstance(block, TextContent):
        return {"type": "text", "text": block.text}
    if isinstance(block, ThinkingContent):
        if block.redacted:
            return {"type": "redacted_thinking", "data": block.thinking_signature}
        return {"type": "thinking", "thinking": block.thinking, "signature": block.thinking_signature}
    if isinstance(block, ToolCall):
        return {"type": "tool_use", "id": block.id, "name": block.name, "input": block.arguments}
    assert_never(block)


def _bind(content: list[AssistantContent], request: Body, signer: Signer, model: Model) -> list[AssistantContent]:
    named = with_ids(content, "toolu_", 24, signer)  # later thinking is bound to the calls before it
    return bind(named, request, signer, model, _block)


def _message(answer: Answer) -> Body:
    reported = {} if answer.transformed is None else {"input_transformations": answer.transformed}
    return reported | {
        "id": f"msg_{answer_id(answer, 12)}",
        "type": "message",
        "role": "assistant",
        "model": answer.model.id,
        "stop_sequence": None,
        "usage": {
            "input_tokens": answer.usage.input,
            "cache_creation_input_tokens": answer.usage.cache_write,
            "cache_read_input_tokens": answer.usage.cache_read,
        },
    }


def _whole(answer: Answer) -> Body:
    message = _message(answer)
    message["usage"]["output_tokens"] = answer.usage.output
    return {**message, "content": [_block(block) for block in answer.content], "stop_reason": _STOPS[answer.stop]}


def _events(answer: Answer) -> Iterator[bytes]:
    def event(name: str, **fields: Any) -> bytes:
        return sse({"type": name, **fields}, name)

    start = _message(answer)
    start["usage"]["output_tokens"] = 1
    yield event("message_start", message={**start, "content": [], "stop_reason": None})
    yield event("ping")
    for index, block in enumerate(answer.content):
        empty, deltas = _opened(block)
        yield event("content_block_start", index=index, content_block=empty)
        for delta in deltas:
            yield event("content_block_delta", index=index, delta=delta)
        yield event("content_block_stop", index=index)
    delta = {"stop_reason": _STOPS[answer.stop], "stop_sequence": None}
    yield event("message_delta", delta=delta, usage={"output_tokens": answer.usage.output})
    yield event("message_stop")


def _opened(block: AssistantContent) -> tuple[Body, list[Body]]:
    """A block at the start of its stream, and the deltas that fill it."""
    whole = _block(block)
    if isinstance(block, TextContent):
        return {**whole, "text": ""}, [{"type": "text_delta", "text": piece} for piece in pieces(block.text)]
    if isinstance(block, ThinkingContent):
        if block.redacted:
            return whole, []
        thoughts: list[Body] = [{"type": "thinking_delta", "thinking": piece} for piece in pieces(block.thinking)]
        signed = {"type": "signature_delta", "signature": block.thinking_signature}
        return {**whole, "thinking": "", "signature": ""}, [*thoughts, signed]
    if isinstance(block, ToolCall):
        parts = ["", *pieces(arguments_of(block))]
        return {**whole, "input": {}}, [{"type": "input_json_delta", "partial_json": part} for part in parts]
    assert_never(block)


def _forged(body: Body, signer: Signer, model: Model) -> Iterable[str]:
    for at, message in enumerate(body["messages"]):
        content = message["content"]
        for index, block in enumerate(content if isinstance(content, list) else []):
            place = f"messages.{at}.content.{index}"
            if block["type"] == "thinking" and not signer.verify(block.get("signature"), block.get("thinking", "")):
                yield f"{place}: Invalid `signature` in `thinking` block"
            if block["type"] == "redacted_thinking" and not signer.verify(block.get("data"), _REDACTED):
                yield f"{place}: Invalid `data` in `redacted_thinking` block"


def _error(refusal: Refusal) -> Body:
    return {"type": "error", "error": {"type": refusal.kind, "message": refusal.text}}


def _error_event(refusal: Refusal) -> bytes:
    return sse(_error(refusal), "error")


def _invalid(text: str) -> Refusal:
    """A refusal; this provider writes paths as ``messages.1.content.0``."""
    path, colon, rest = text.partition(": ")
    return Refusal(400, "invalid_request_error", _index.sub(r".\1", path) + colon + rest)


_index = re.compile(r"\[(\d+)\]")

_FAULTS: dict[FaultKind, Refusal] = {
    "rate-limit": Refusal(429, "rate_limit_error", "This request would exceed your organization's rate limit."),
    "server-error": Refusal(500, "api_error", "Internal server error"),
    "unavailable": Refusal(503, "api_error", "Service Unavailable"),
    "overloaded": Refusal(529, "overloaded_error", "Overloaded"),
    "wrong-key": Refusal(401, "authentication_error", "invalid x-api-key"),
    "overflow": Refusal(400, "invalid_request_error", "prompt is too long: 213462 tokens > 200000 maximum"),
    "error-event": Refusal(200, "overloaded_error", "Overloaded"),
}

VOICE = Voice(
    route=route_to("/v1/messages"),
    complete=_complete,
    whole=_whole,
    events=_events,
    forged=_forged,
    bind=_bind,
    bindings=bindings,
    error=_error,
    error_event=_error_event,
    broken_event=b'event: content_block_delta\ndata: {"type": "\n\n',
    invalid=_invalid,
    faults=_FAULTS,
    auth="x-api-key",
    request_id="request-id",
)
