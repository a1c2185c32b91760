"""Google generateContent, the provider's side, of the Gemini API and Vertex.

Shapes: google-genai 3.1.0, types.GenerateContentResponse (2026-11). Signatures are on the first call of an answer
(ai.google.dev/gemini-api/docs/thought-signatures, 2025-11); without calls on the last text, in a stream on an empty one
after it (claude-code-router#1275, 2026-03; opencode#43984, 2026-08). Texts: gemini-cli#13467 and 9router#301
(signatures), vercel/ai#5217 and lightpanda-io/browser#2915 (overload), oh-my-pi#449 (key), 2025-2026.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, assert_never

import msgspec

from ...dialects import GoogleGenerativeAI
from ...types import AssistantContent, Model, StopReason, TextContent, ThinkingContent, ToolCall
from ...wire.google_generative_ai.shapes import DUMMIES, every_part, get
from ..script import FaultKind
from ..signatures import Signer
from ..voice import Answer, Body, Refusal, Route, Voice
from .common import pieces, with_ids

Part = dict[str, Any]

_PATH = re.compile(r"/models/([^/]+):(generateContent|streamGenerateContent)$")
_STOPS: dict[StopReason, str] = {
    "stop": "STOP",
    "length": "MAX_TOKENS",
    "toolUse": "STOP",
    "error": "SAFETY",
    "aborted": "STOP",
}
# google.rpc.Code by HTTP status.
_CODES = {400: "INVALID_ARGUMENT", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE"}


def _route(path: str) -> Route | None:
    """Both surfaces have the same route, after a version, or after a project and its location."""
    found = _PATH.search(path)
    return None if found is None else Route(model=found[1], stream=found[2] == "streamGenerateContent")


# -- ids and signatures ----------------------------------------------------------------------------------------------


def _complete(content: list[AssistantContent], signer: Signer, model: Model) -> list[AssistantContent]:
    """Add one signature to an answer. Gemini 3 signs every answer with calls, 2.5 only after thinking (adk-python#2565,
    2025-08). Texts are signed only after thinking, so that a plain script results in a plain answer."""
    dialect = _dialect(model)
    thinks = any(isinstance(block, ThinkingContent) for block in content)
    signs_always = dialect.signature_required
    # There is no part for redacted thinking: only the signature shows that there was some.
    blocks = [block for block in content if not (isinstance(block, ThinkingContent) and block.redacted)]
    if dialect.send_ids:
        blocks = with_ids(blocks, "", 8, signer)
    calls = [at for at, block in enumerate(blocks) if isinstance(block, ToolCall)]
    texts = [at for at, block in enumerate(blocks) if isinstance(block, TextContent)]
    if calls and (signs_always or (thinks and model.reasoning)):
        blocks[calls[0]] = _signed(blocks[calls[0]], signer)
    elif texts and not calls and signs_always and thinks:
        blocks[texts[-1]] = _signed(blocks[texts[-1]], signer)
    return blocks


def _dialect(model: Model) -> GoogleGenerativeAI:
    return model.dialect if isinstance(model.dialect, GoogleGenerativeAI) else GoogleGenerativeAI()


def _signed(block: AssistantContent, signer: Signer) -> AssistantContent:
    """The block with a signature of the account. It is not bound to the text: no report shows such a refusal."""
    if isinstance(block, ToolCall):
        return ToolCall(block.id, block.name, block.arguments, block.thought_signature or signer.issue())
    if isinstance(block, TextContent):
        return TextContent(block.text, block.text_signature or signer.issue())
    return block


# -- answers ---------------------------------------------------------------------------------------------------------


def _part(block: AssistantContent, dialect: GoogleGenerativeAI) -> Part:
    part: Part
    if isinstance(block, TextContent):
        part, signature = {"text": block.text}, block.text_signature
    elif isinstance(block, ThinkingContent):
        part, signature = {"text": block.thinking, "thought": True}, block.thinking_signature
    elif isinstance(block, ToolCall):
        call: Body = {"name": block.name, "args": block.arguments}
        if dialect.send_ids:  # clients that must not send ids back get none
            call["id"] = block.id
        part, signature = {"functionCall": call}, block.thought_signature
    else:
        assert_never(block)
    return part if signature is None else {**part, "thoughtSignature": signature}


def _chunks(answer: Answer) -> Iterator[list[Part]]:
    """The parts of each event: text in pieces, then a signature on an empty text; adjacent calls in one event."""
    calls: list[Part] = []
    for block in answer.content:
        part = _part(block, _dialect(answer.model))
        if "functionCall" in part:
            calls.append(part)
            continue
        if calls:
            yield calls
            calls = []
        signature = part.pop("thoughtSignature", None)
        for piece in pieces(part["text"]):
            yield [{**part, "text": piece}]
        if signature is not None:
            yield [{**part, "text": "", "thoughtSignature": signature}]
    if calls:
        yield calls


def _response(answer: Answer, parts: list[Part], last: bool) -> Body:
    content: Body = {"parts": parts, "role": "model"} if parts else {"role": "model"}
    candidate: Body = {"content": content, "index": 0}
    if last:
        candidate["finishReason"] = _STOPS[answer.stop]
    return {
        "candidates": [candidate],
        "usageMetadata": _usage(answer, last),
        "modelVersion": answer.model.id,
        "responseId": answer.id,
    }


def _usage(answer: Answer, last: bool) -> Body:
    """The usage of the whole prompt, cached or not; output and thoughts are counted at the end."""
    usage = answer.usage
    prompt = usage.input + usage.cache_read + usage.cache_write
    counts = {"promptTokenCount": prompt, "totalTokenCount": prompt}
    if usage.cache_read:
        counts["cachedContentTokenCount"] = usage.cache_read
    if last:
        thinks = any(isinstance(block, ThinkingContent) for block in answer.content)
        thoughts = usage.output // 2 if thinks else 0
        counts["candidatesTokenCount"] = usage.output - thoughts
        if thoughts:
            counts["thoughtsTokenCount"] = thoughts
        counts["totalTokenCount"] = usage.total_tokens or prompt + usage.output
    return counts


def _whole(answer: Answer) -> Body:
    dialect = _dialect(answer.model)
    parts = [_part(block, dialect) for block in answer.content]
    return _response(answer, [part for part in parts if part != {"text": ""}], last=True)


def _events(answer: Answer) -> Iterator[bytes]:
    chunks = list(_chunks(answer)) or [[]]
    for at, parts in enumerate(chunks):
        yield b"data: " + msgspec.json.encode(_response(answer, parts, last=at == len(chunks) - 1)) + b"\r\n\r\n"


# -- refusals --------------------------------------------------------------------------------------------------------


def _forged(body: Body, signer: Signer, model: Model) -> Iterable[str]:
    vertex = _dialect(model).surface == "vertex"
    for _, part in every_part(body):
        signature = get(part, "thoughtSignature")
        if signature is None or signature in DUMMIES:
            continue
        # Bytes in JSON are base64 of either alphabet; the SDK writes the one for URLs.
        if not signer.verify(signature.replace("-", "+").replace("_", "/")):
            yield (
                "Unable to submit request because Thought signature is not valid.."
                if vertex
                else "Corrupted thought signature."
            )


def _error(refusal: Refusal) -> Body:
    """``status`` is Google's name for the kind, ``code`` its HTTP status, also after a 200."""
    code = 503 if refusal.status == 200 else refusal.status
    return {"error": {"code": code, "message": refusal.text, "status": _CODES.get(code, refusal.kind)}}


def _error_event(refusal: Refusal) -> bytes:
    """Not an event, but bare JSON in lines: "When API returns an error message, it comes line by line" (google-genai
    3.1.0, _api_client.py; vercel/ai#5217, 2025-03)."""
    return msgspec.json.format(msgspec.json.encode(_error(refusal)), indent=2) + b"\n"


def _invalid(text: str) -> Refusal:
    return Refusal(400, "INVALID_ARGUMENT", text)


_BUSY = (
    "This model is currently experiencing high demand. Spikes in demand are usually temporary. Please try again later."
)
_FAULTS: dict[FaultKind, Refusal] = {
    "rate-limit": Refusal(429, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."),
    "server-error": Refusal(500, "INTERNAL", "Internal error encountered."),
    "unavailable": Refusal(503, "UNAVAILABLE", "The service is currently unavailable."),
    "overloaded": Refusal(503, "UNAVAILABLE", _BUSY),
    "wrong-key": Refusal(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."),
    "overflow": Refusal(
        400,
        "INVALID_ARGUMENT",
        "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
    ),
    "error-event": Refusal(200, "UNAVAILABLE", _BUSY),
}

VOICE = Voice(
    route=_route,
    complete=_complete,
    whole=_whole,
    events=_events,
    forged=_forged,
    error=_error,
    error_event=_error_event,
    broken_event=b'data: {"candidates": [{"content": \r\n\r\n',
    invalid=_invalid,
    faults=_FAULTS,
    auth="x-goog-api-key",
    request_id="x-goog-request-id",
)
