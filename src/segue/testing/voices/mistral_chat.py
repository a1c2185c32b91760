"""Mistral chat completions, the provider's side.

Shapes: mistralai 3.7.0, models/completionchunk.py and related files (2026-11); thinking in streams: litellm#16272
(2025-11); whole calls, all of them in one delta: comet-ml/opik#7385 (2026-07). Texts, types and codes of errors:
nearai/ironclaw#1241, zed-industries/zed#53034, raycast/extensions#31107 (2026), agent0ai/agent-zero#539 (2025), and
for unknown fields sipeed/picoclaw#1502 (2026-03).
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, assert_never

from ...types import AssistantContent, Model, ProviderContent, StopReason, TextContent, ThinkingContent, ToolCall
from ...types.text import whole_number
from ...wire.mistral_chat.rules_content import chunks_of
from ...wire.mistral_chat.rules_order import turns
from ..script import FaultKind
from ..signatures import Signer
from ..voice import Answer, Body, Refusal, Voice
from .common import answer_id, arguments_of, pieces, route_to_both, sse, with_ids

_STOPS: dict[StopReason, str] = {
    "stop": "stop",
    "length": "length",
    "toolUse": "tool_calls",
    "error": "error",
    "aborted": "stop",
}
# The signed text: "Signature to replay some reasoning blocks across turns" (mistralai 3.7.0, ``ThinkChunk``) does not
# mention a text that it is bound to, and a client may send the thinking back in its original chunks.
_SIGNED = "thinking"


# -- ids and signatures ----------------------------------------------------------------------------------------------


def _complete(content: list[AssistantContent], signer: Signer, model: Model) -> list[AssistantContent]:
    """The blocks in the order of an answer: calls have their own field, after the content; adjacent texts are joined;
    redacted thinking is a signature without a text."""
    blocks: list[AssistantContent] = []
    calls: list[AssistantContent] = []
    for block in content:
        if isinstance(block, ToolCall):
            calls.append(block)
        elif isinstance(block, ThinkingContent):
            text = "" if block.redacted else block.thinking
            blocks.append(ThinkingContent(text, block.thinking_signature or signer.issue(_SIGNED)))
        elif isinstance(block, ProviderContent):
            raise TypeError("answers of this protocol have no provider content")
        elif not isinstance(block, TextContent):
            assert_never(block)
        elif blocks and isinstance(blocks[-1], TextContent):
            blocks[-1] = TextContent(blocks[-1].text + block.text)
        elif block.text:
            blocks.append(TextContent(block.text))
    return [*blocks, *with_ids(calls, "", 9, signer)]


# -- answers ---------------------------------------------------------------------------------------------------------


def _text(text: str) -> Body:
    return {"type": "text", "text": text}


def _thinking(text: str, signature: str | None = None) -> Body:
    chunk: Body = {"type": "thinking", "thinking": [_text(text)] if text else []}
    return chunk if signature is None else {**chunk, "signature": signature, "closed": True}


def _chunk(block: TextContent | ThinkingContent) -> Body:
    if isinstance(block, ThinkingContent):
        return _thinking(block.thinking, block.thinking_signature)
    return _text(block.text)


def _content(blocks: list[TextContent | ThinkingContent]) -> str | list[Body]:
    """The content of a message: a string, or a list of chunks if there is thinking."""
    if not any(isinstance(block, ThinkingContent) for block in blocks):
        return "".join(block.text for block in blocks if isinstance(block, TextContent))
    return [_chunk(block) for block in blocks]


def _calls(answer: Answer) -> list[Body]:
    calls = [block for block in answer.content if isinstance(block, ToolCall)]
    return [
        {"id": call.id, "function": {"name": call.name, "arguments": arguments_of(call)}, "index": index}
        for index, call in enumerate(calls)
    ]


def _content_blocks(answer: Answer) -> list[TextContent | ThinkingContent]:
    return [block for block in answer.content if isinstance(block, TextContent | ThinkingContent)]


def _usage(answer: Answer) -> Body:
    """Tokens read from the cache are part of the prompt (vercel/ai#14382, 2026-04); written ones are not reported."""
    usage = answer.usage
    return {
        "prompt_tokens": usage.input + usage.cache_read + usage.cache_write,
        "completion_tokens": usage.output,
        "total_tokens": usage.total_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read},
    }


def _head(answer: Answer, kind: str) -> Body:
    return {"id": answer_id(answer, 16), "object": kind, "created": answer.created, "model": answer.model.id}


def _whole(answer: Answer) -> Body:
    message = {"role": "assistant", "content": _content(_content_blocks(answer)), "tool_calls": _calls(answer) or None}
    choice = {"index": 0, "message": message, "finish_reason": _STOPS[answer.stop]}
    return {**_head(answer, "chat.completion"), "choices": [choice], "usage": _usage(answer)}


def _events(answer: Answer) -> Iterator[bytes]:
    head = _head(answer, "chat.completion.chunk")

    def event(delta: Body, stop: str | None = None, **fields: Any) -> bytes:
        return sse({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": stop}], **fields})

    yield event({"role": "assistant", "content": ""})
    for block in _content_blocks(answer):
        for content in _deltas(block):
            yield event({"content": content})
    calls = _calls(answer)
    last: Body = {"content": "", "tool_calls": calls} if calls else {"content": ""}
    yield event(last, _STOPS[answer.stop], usage=_usage(answer))
    yield b"data: [DONE]\n\n"


def _deltas(block: TextContent | ThinkingContent) -> Iterator[str | list[Body]]:
    if isinstance(block, TextContent):
        yield from pieces(block.text)
        return
    for piece in pieces(block.thinking):
        yield [_thinking(piece)]
    yield [_thinking("", block.thinking_signature)]


def _forged(body: Body, signer: Signer, model: Model) -> Iterable[str]:
    """Thinking without a signature is accepted, because models before mistralai 3.7 had none. The text is our own: the
    provider's is not known."""
    for path, message in turns(body):
        for where, chunk in chunks_of(message):
            signature = chunk.get("signature") if chunk.get("type") == "thinking" else None
            if signature is not None and not signer.verify(signature, _SIGNED):
                yield f"{path}.{where}: Invalid signature in thinking chunk"


# -- errors ----------------------------------------------------------------------------------------------------------

_CODES = {
    "invalid_request_message_order": "3230",
    "invalid_request_assistant_message": "3240",
    "invalid_function_call": "3280",
    "invalid_request_invalid_args": "3051",
    "rate_limited": "1300",
    "service_tier_capacity_exceeded": "3505",
    "unreachable_backend": "1100",
    "internal_server_error": "3800",
}
"""The code of an error by its type; null if the type only means that the request is invalid."""

_KINDS: tuple[tuple[str, int, str], ...] = (
    ("extra_forbidden", 422, "extra_forbidden"),
    ("HTTP 422", 422, "value_error"),
    ("Unexpected role|Expected last role|Not the same number", 400, "invalid_request_message_order"),
    ("Assistant message must", 400, "invalid_request_assistant_message"),
    ("Tool call id was", 400, "invalid_function_call"),
    ("", 400, "invalid_request_error"),
)
"""A pattern of the text, its status and its type. The first row that matches is used."""

_note = re.compile(r" \((?:code|HTTP) [^)]*\)")
_path_of = re.compile(r"(\w+(?:\[\d+\]|\.\w+)*): ").match
_step = re.compile(r"\w+")


def _invalid(text: str) -> Refusal:
    status, kind = next((status, kind) for pattern, status, kind in _KINDS if re.search(pattern, text))
    return Refusal(status, kind, _note.sub("", text))


def _error(refusal: Refusal) -> Body:
    if refusal.status in (401, 404):  # these come from the gateway before the API
        return {"detail": refusal.text}
    if refusal.status == 422:
        return {"detail": [_problem(refusal)]}
    return {
        "object": "error",
        "message": refusal.text,
        "type": refusal.kind,
        "param": None,
        "code": _CODES.get(refusal.kind),
        "raw_status_code": refusal.status,
    }


def _problem(refusal: Refusal) -> Body:
    path = _path_of(refusal.text)
    steps = _step.findall(path[1]) if path is not None else []
    message = refusal.text if path is None else refusal.text[path.end() :]
    return {
        "type": refusal.kind,
        "loc": ["body", *(step if (place := whole_number(step)) is None else place for step in steps)],
        "msg": message,
    }


def _error_event(refusal: Refusal) -> bytes:
    return sse({**_error(refusal), "raw_status_code": 503})


_FAULTS: dict[FaultKind, Refusal] = {
    "rate-limit": Refusal(429, "rate_limited", "Rate limit exceeded"),
    "server-error": Refusal(500, "internal_server_error", "Internal server error"),
    "unavailable": Refusal(503, "unreachable_backend", "Internal server error"),
    "overloaded": Refusal(
        429, "service_tier_capacity_exceeded", "Service tier capacity exceeded for this model."
    ),  # this provider has no 529
    "wrong-key": Refusal(401, "unauthorized", "Unauthorized"),
    "overflow": Refusal(
        400,
        "invalid_request_invalid_args",
        "Prompt contains 170397 tokens and 0 draft tokens, too large for model with 131072 maximum context length",
    ),
    "error-event": Refusal(200, "internal_server_error", "Service unavailable."),
}

VOICE = Voice(
    route=route_to_both("/chat/completions"),
    complete=_complete,
    whole=_whole,
    events=_events,
    forged=_forged,
    error=_error,
    error_event=_error_event,
    invalid=_invalid,
    faults=_FAULTS,
    request_id="mistral-correlation-id",
)
