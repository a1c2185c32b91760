"""Amazon Bedrock Converse, the provider's side.

Shapes: botocore 1.44.0, ``ConverseResponse`` and ``ConverseStreamOutput`` (2026-11); additional fields of real frames:
boto/boto3#4584 (2025-08).
"""

import re
from collections.abc import Iterable, Iterator
from string import ascii_letters
from typing import Any, assert_never
from urllib.parse import unquote

import msgspec

from ...types import AssistantContent, Model, ProviderContent, StopReason, TextContent, ThinkingContent, ToolCall
from ...types.codec import json_text
from ...wire.bedrock_converse.dialect import dialect_of
from ...wire.bedrock_converse.encode import payload
from ...wire.bedrock_converse.server_blocks import cited
from ...wire.bedrock_converse.shapes import part, turns
from ..eventstream import frame
from ..script import FaultKind
from ..signatures import Signer
from ..voice import Answer, Body, Refusal, Route, Voice
from .common import arguments_of, pieces, with_ids

_STOPS: dict[StopReason, str] = {
    "stop": "end_turn",
    "length": "max_tokens",
    "toolUse": "tool_use",
    "error": "content_filtered",
    "aborted": "end_turn",
}
_REDACTED = "redacted"
# The prefix of errors that the model behind Converse returns.
_MODEL_ERROR = "The model returned the following errors: "

_path = re.compile(r"/model/([^/]+)/converse(-stream)?$").search


def _route(path: str) -> Route | None:
    found = _path(path)
    return None if found is None else Route(unquote(found[1]), found[2] is not None)


def _complete(content: list[AssistantContent], signer: Signer, model: Model) -> list[AssistantContent]:
    signs = dialect_of(model).reasoning_signature
    return with_ids([_signed(block, signs, signer) for block in content], "tooluse_", 22, signer)


def _signed(block: AssistantContent, signs: bool, signer: Signer) -> AssistantContent:
    """Only Claude signs readable thinking; other models also send redacted thinking (earendil-works/pi#8314)."""
    if not isinstance(block, ThinkingContent):
        return block
    scripted = block.thinking_signature
    if block.redacted:
        return ThinkingContent(block.thinking, signer.issue(_REDACTED) if scripted is None else payload(scripted), True)
    return ThinkingContent(block.thinking, signer.issue(block.thinking)) if signs and scripted is None else block


# -- answers ---------------------------------------------------------------------------------------------------------


def _block(block: AssistantContent) -> Body:
    if isinstance(block, TextContent):
        return cited(block) or {"text": block.text}
    if isinstance(block, ThinkingContent):
        if block.redacted:
            return {"reasoningContent": {"redactedContent": block.thinking_signature}}
        text = {"text": block.thinking}
        if block.thinking_signature is not None:
            text["signature"] = block.thinking_signature
        return {"reasoningContent": {"reasoningText": text}}
    if isinstance(block, ToolCall):
        return {"toolUse": {"toolUseId": block.id, "name": block.name, "input": block.arguments}}
    if isinstance(block, ProviderContent):
        raw: Body = block.value
        return raw
    assert_never(block)


def _usage(answer: Answer) -> Body:
    usage = answer.usage
    counts = {
        "inputTokens": usage.input,
        "outputTokens": usage.output,
        "totalTokens": usage.total_tokens,
        "cacheReadInputTokens": usage.cache_read,
        "cacheWriteInputTokens": usage.cache_write,
    }
    return {"usage": counts, "metrics": {"latencyMs": 1}}


def _whole(answer: Answer) -> Body:
    content = [_block(block) for block in answer.content]
    message = {"role": "assistant", "content": content}
    return {"output": {"message": message}, "stopReason": _STOPS[answer.stop], **_usage(answer)}


def _events(answer: Answer) -> Iterator[bytes]:
    yield _event("messageStart", role="assistant")
    for index, block in enumerate(answer.content):
        start = _start(block)
        if start is not None:
            yield _event("contentBlockStart", contentBlockIndex=index, start=start)
        for delta in _deltas(block):
            yield _event("contentBlockDelta", contentBlockIndex=index, delta=delta)
        yield _event("contentBlockStop", contentBlockIndex=index)
    yield _event("messageStop", stopReason=_STOPS[answer.stop])
    yield _event("metadata", **_usage(answer))


def _start(block: AssistantContent) -> Body | None:
    """The start of a block; texts and reasoning have none."""
    if isinstance(block, ToolCall):
        return {"toolUse": {"toolUseId": block.id, "name": block.name}}
    if isinstance(block, ProviderContent):
        member, value = next(iter(block.value.items()))
        return {member: {name: field for name, field in value.items() if name not in ("input", "content", "source")}}
    return None


def _event(name: str, **fields: Any) -> bytes:
    """One frame, padded like real ones, whose sizes must not reveal their content."""
    bare = msgspec.json.encode(fields)
    return frame(name, msgspec.json.encode({**fields, "p": ascii_letters[: len(bare) * 7 % len(ascii_letters)]}))


def _deltas(block: AssistantContent) -> list[Body]:
    if isinstance(block, TextContent):
        citations = _block(block).get("citationsContent", {}).get("citations", [])
        texts = [{"text": piece} for piece in ("", *pieces(block.text))]
        return [*texts, *({"citation": citation} for citation in citations)]
    if isinstance(block, ThinkingContent):
        if block.redacted:
            return [_block(block)]
        thoughts: list[Body] = [{"text": piece} for piece in pieces(block.thinking)]
        if block.thinking_signature is not None:
            thoughts.append({"signature": block.thinking_signature})
        return [{"reasoningContent": thought} for thought in thoughts]
    if isinstance(block, ToolCall):
        return [{"toolUse": {"input": piece}} for piece in ("", *pieces(arguments_of(block)))]
    if isinstance(block, ProviderContent):
        member, value = next(iter(block.value.items()))
        if member == "toolUse":
            return [{member: {"input": piece}} for piece in pieces(json_text(value.get("input")))]
        return [{member: value.get("content", [])} if member == "toolResult" else {member: {"source": value["source"]}}]
    assert_never(block)


# -- forged signatures and streams that the model does not support ---------------------------------------------------


def _forged(body: Body, signer: Signer, model: Model) -> Iterable[str]:
    """With the texts of Claude's API, which Converse passes on (chenhg5/cc-connect#897, can1357/oh-my-pi#333)."""
    for turn in turns(body):
        for index, block in enumerate(turn.content):
            place = f"{_MODEL_ERROR}messages.{turn.at}.content.{index}"
            reasoning = part(block, "reasoningContent")
            text = part(reasoning, "reasoningText")
            if "signature" in text and not signer.verify(text["signature"], text["text"]):
                yield f"{place}: Invalid `signature` in `thinking` block"
            if "redactedContent" in reasoning and not signer.verify(reasoning["redactedContent"], _REDACTED):
                yield f"{place}: Invalid `data` in `redacted_thinking` block"


def _whole_only(body: Body, model: Model) -> str | None:
    """The part of BED-14 that a body does not show: earendil-works/pi#3739, run-llama/llama_index#19655."""
    if "toolConfig" in body and not dialect_of(model).tools_while_streaming:
        return "This model doesn't support tool use in streaming mode."
    return None


# -- errors ----------------------------------------------------------------------------------------------------------

_NAMES = {"not_found_error": "UnknownOperationException"}
"""AWS's names for refusals of the stand-in itself, before the request is read."""


def _error(refusal: Refusal) -> Body:
    return {"message": refusal.text}


def _error_headers(refusal: Refusal) -> dict[str, str]:
    """The kind is only in this header; its form: aws-samples/amazon-bedrock-client-for-mac#99 (2025-05)."""
    kind = _NAMES.get(refusal.kind, refusal.kind)
    return {"x-amzn-ErrorType": f"{kind}:http://internal.amazon.com/coral/com.amazon.bedrock/"}


def _error_event(refusal: Refusal) -> bytes:
    """The name in a stream is the name of the exception, with a lower-case first letter."""
    name = refusal.kind[:1].lower() + refusal.kind[1:]
    return frame(name, msgspec.json.encode(_error(refusal)), "exception")


def _invalid(text: str) -> Refusal:
    return Refusal(400, "ValidationException", text)


_UNABLE = "Bedrock is unable to process your request."
# Texts: amazon-bedrock-client-for-mac#99, hydro-project/infinity#124, foundation-model-benchmarking-tool#247 (in a
# stream), anthropics/claude-code#562, ai4s-research/open-science#53, continuedev/continue#9592 (2024-11 to 2026-09).
_FAULTS: dict[FaultKind, Refusal] = {
    "rate-limit": Refusal(429, "ThrottlingException", "Too many tokens, please wait before trying again."),
    "server-error": Refusal(
        500,
        "InternalServerException",
        "The system encountered an unexpected error during processing. Try your request again.",
    ),
    "unavailable": Refusal(503, "ServiceUnavailableException", _UNABLE),
    # This provider has no 529.
    "overloaded": Refusal(503, "ServiceUnavailableException", "Too many connections, please wait before trying again."),
    "wrong-key": Refusal(
        403, "AccessDeniedException", "Authentication failed: Please make sure your API Key is valid."
    ),
    "overflow": Refusal(400, "ValidationException", "Input is too long for requested model."),
    "error-event": Refusal(200, "ServiceUnavailableException", _UNABLE),
}

VOICE = Voice(
    route=_route,
    complete=_complete,
    whole=_whole,
    events=_events,
    content_type="application/vnd.amazon.eventstream",
    forged=_forged,
    whole_only=_whole_only,
    error=_error,
    error_headers=_error_headers,
    error_event=_error_event,
    broken_event=frame("contentBlockDelta", b'{"contentBlockIndex":0,"delta":{"te'),
    invalid=_invalid,
    faults=_FAULTS,
    auth="aws",
    request_id="x-amzn-RequestId",
)
