"""Anthropic Messages, the provider's side, without state: there are no threads.

Shapes: anthropic 2.8.0, types/raw_*_event.py (2026-11).
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from ...types import AssistantContent, Model, ThinkingContent
from ...wire.anthropic_messages.write import Writer, block_body, error, whole
from ...wire.common.writing import Head
from ..script import FaultKind
from ..signatures import Signer
from ..voice import Answer, Body, Refusal, Voice
from .common import answer_id, frames_of, head_of, message_of, refusal_in, route_to_both, sse, with_ids
from .thinking_bindings import bind, bindings

_REDACTED = "redacted"
_OWN = Head(id="", model="", created=0, own=True)


def _complete(content: list[AssistantContent], signer: Signer, model: Model) -> list[AssistantContent]:
    signed = [_signed(block, signer) if isinstance(block, ThinkingContent) else block for block in content]
    return with_ids(signed, "toolu_", 24, signer)


def _signed(block: ThinkingContent, signer: Signer) -> ThinkingContent:
    """The block with a signature; redacted thinking has only its payload."""
    text = "" if block.redacted else block.thinking
    signature = block.thinking_signature or signer.issue(_REDACTED if block.redacted else text)
    return ThinkingContent(text, signature, block.redacted)


def _block(block: AssistantContent) -> Body:
    return block_body(_OWN, block)


def _bind(content: list[AssistantContent], request: Body, signer: Signer, model: Model) -> list[AssistantContent]:
    named = with_ids(content, "toolu_", 24, signer)  # later thinking is bound to the calls before it
    return bind(named, request, signer, model, _block)


def _head(answer: Answer) -> Head:
    return head_of(answer, f"msg_{answer_id(answer, 12)}")


def _whole(answer: Answer) -> Body:
    message = message_of(answer, answer.content)
    return whole(_head(answer), message, refusal_in(message)) | _reported(answer)


def _events(answer: Answer) -> Iterator[bytes]:
    for name, data in frames_of(message_of(answer, answer.content), Writer(_head(answer))):
        if name == "message_start":
            data["message"] |= _reported(answer)
        yield sse(data, name)
        if name == "message_start":
            yield sse({"type": "ping"}, "ping")


def _reported(answer: Answer) -> Body:
    """What the provider reports that it left out of the request."""
    return {} if answer.transformed is None else {"input_transformations": answer.transformed}


def _forged(body: Body, signer: Signer, model: Model) -> Iterable[str]:
    for at, message in enumerate(body["messages"]):
        content = message["content"]
        for index, block in enumerate(content if isinstance(content, list) else []):
            place = f"messages.{at}.content.{index}"
            if block["type"] == "thinking" and not signer.verify(block.get("signature"), block.get("thinking", "")):
                yield f"{place}: Invalid `signature` in `thinking` block"
            if block["type"] == "redacted_thinking" and not signer.verify(block.get("data"), _REDACTED):
                yield f"{place}: Invalid `data` in `redacted_thinking` block"


def _addressed(model: Model, headers: Mapping[str, str]) -> Model:
    version = headers.get("anthropic-version")
    return model if version is None else model.amended({"api_version": version})


def _error(refusal: Refusal) -> Body:
    return error(refusal.status, refusal.kind, refusal.text)


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
    route=route_to_both("/v1/messages"),
    complete=_complete,
    whole=_whole,
    events=_events,
    forged=_forged,
    bind=_bind,
    bindings=bindings,
    addressed=_addressed,
    error=_error,
    error_event=_error_event,
    broken_event=b'event: content_block_delta\ndata: {"type": "\n\n',
    invalid=_invalid,
    faults=_FAULTS,
    auth="x-api-key",
    request_id="request-id",
)
