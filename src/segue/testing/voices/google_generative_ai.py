"""Google generateContent as the Gemini API and Vertex speak it.

Shapes: google-genai 3.1.0, types.GenerateContentResponse (2026-11). Where signatures stand: on the first call of an
answer (ai.google.dev/gemini-api/docs/thought-signatures, 2025-11); without calls on the last text, in a stream on an
empty one after it (claude-code-router#1275, 2026-03; opencode#43984, 2026-08). Words: gemini-cli#13467 and 9router#301
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
from ..voice import Body, Refusal, Route, Spoken, Voice
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
# google.rpc.Code, by the status that goes with it.
_WORDS = {400: "INVALID_ARGUMENT", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE"}


def _route(path: str) -> Route | None:
    """The same for both surfaces: what stands before the models is a version, or a project and its location."""
    found = _PATH.search(path)
    return None if found is None else Route(model=found[1], stream=found[2] == "streamGenerateContent")


# -- what the provider makes -----------------------------------------------------------------------------------------


def _complete(content: list[AssistantContent], signer: Signer, model: Model) -> list[AssistantContent]:
    """One signature for an answer. Gemini 3 signs every answer with calls; 2.5 those that it thought about (adk-python
    #2565, 2025-08). Texts are signed after thinking alone, so that a plain script gives a plain answer."""
    dialect = _dialect(model)
    thinks = any(isinstance(block, ThinkingContent) for block in content)
    signs_always = dialect.signature_required
    # There is no part for thinking that is withheld: the signature is all that shows of it.
    made = [block for block in content if not (isinstance(block, ThinkingContent) and block.redacted)]
    if dialect.send_ids:
        made = with_ids(made, "", 8, signer)
    calls = [at for at, block in enumerate(made) if isinstance(block, ToolCall)]
    texts = [at for at, block in enumerate(made) if isinstance(block, TextContent)]
    if calls and (signs_always or (thinks and model.reasoning)):
        made[calls[0]] = _signed(made[calls[0]], signer)
    elif texts and not calls and signs_always and thinks:
        made[texts[-1]] = _signed(made[texts[-1]], signer)
    return made


def _dialect(model: Model) -> GoogleGenerativeAI:
    return model.dialect if isinstance(model.dialect, GoogleGenerativeAI) else GoogleGenerativeAI()


def _signed(block: AssistantContent, signer: Signer) -> AssistantContent:
    """Bound to the account and not to what it stands on: nobody saw a signature refused because a text was changed."""
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
        if dialect.send_ids:  # who must not send ids back is given none
            call["id"] = block.id
        part, signature = {"functionCall": call}, block.thought_signature
    else:
        assert_never(block)
    return part if signature is None else {**part, "thoughtSignature": signature}


def _chunks(spoken: Spoken) -> Iterator[list[Part]]:
    """The parts of each event: text in pieces, a signature after them on an empty one; calls whole, all in a row."""
    calls: list[Part] = []
    for block in spoken.content:
        part = _part(block, _dialect(spoken.model))
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


def _response(spoken: Spoken, parts: list[Part], last: bool) -> Body:
    content: Body = {"parts": parts, "role": "model"} if parts else {"role": "model"}
    candidate: Body = {"content": content, "index": 0}
    if last:
        candidate["finishReason"] = _STOPS[spoken.stop]
    return {
        "candidates": [candidate],
        "usageMetadata": _usage(spoken, last),
        "modelVersion": spoken.model.id,
        "responseId": spoken.id,
    }


def _usage(spoken: Spoken, last: bool) -> Body:
    """Of the whole prompt, cached or not; what was made is told at the end, thoughts apart."""
    usage = spoken.usage
    prompt = usage.input + usage.cache_read + usage.cache_write
    counts = {"promptTokenCount": prompt, "totalTokenCount": prompt}
    if usage.cache_read:
        counts["cachedContentTokenCount"] = usage.cache_read
    if last:
        thinks = any(isinstance(block, ThinkingContent) for block in spoken.content)
        thoughts = usage.output // 2 if thinks else 0
        counts["candidatesTokenCount"] = usage.output - thoughts
        if thoughts:
            counts["thoughtsTokenCount"] = thoughts
        counts["totalTokenCount"] = usage.total_tokens or prompt + usage.output
    return counts


def _whole(spoken: Spoken) -> Body:
    dialect = _dialect(spoken.model)
    parts = [_part(block, dialect) for block in spoken.content]
    return _response(spoken, [part for part in parts if part != {"text": ""}], last=True)


def _events(spoken: Spoken) -> Iterator[bytes]:
    chunks = list(_chunks(spoken)) or [[]]
    for at, parts in enumerate(chunks):
        yield b"data: " + msgspec.json.encode(_response(spoken, parts, last=at == len(chunks) - 1)) + b"\r\n\r\n"


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
    """``status`` is Google's word for the kind, ``code`` the status that goes with it, also after a 200."""
    code = 503 if refusal.status == 200 else refusal.status
    return {"error": {"code": code, "message": refusal.text, "status": _WORDS.get(code, refusal.kind)}}


def _error_event(refusal: Refusal) -> bytes:
    """No event at all, but bare JSON in lines: "When API returns an error message, it comes line by line" (google-genai
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
