"""Google generateContent, the provider's side, of the Gemini API and Vertex.

Shapes: google-genai 3.1.0, types.GenerateContentResponse (2026-11). Signatures are on the first call of an answer
(ai.google.dev/gemini-api/docs/thought-signatures, 2025-11); without calls on the last text, in a stream on an empty one
after it (claude-code-router#1275, 2026-03; opencode#43984, 2026-08). Texts: gemini-cli#13467 and 9router#301
(signatures), vercel/ai#5217 and lightpanda-io/browser#2915 (overload), oh-my-pi#449 (key), 2025-2026.
"""

import re
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from ...dialects import GoogleGenerativeAI
from ...types import AssistantContent, Model, TextContent, ThinkingContent, ToolCall
from ...wire.common.writing import Head
from ...wire.google_generative_ai.shapes import DUMMIES, every_part, get, standard_base64
from ...wire.google_generative_ai.write import Writer, error, frame, whole
from ..script import FaultKind
from ..signatures import Signer
from ..voice import Answer, Body, Refusal, Route, Voice
from .common import frames_of, head_of, message_of, refusal_in, with_ids

_PATH = re.compile(r"/models/([^/]+):(generateContent|streamGenerateContent)$")
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
        return replace(block, thought_signature=block.thought_signature or signer.issue())
    if isinstance(block, TextContent):
        return TextContent(block.text, block.text_signature or signer.issue())
    return block


# -- answers ---------------------------------------------------------------------------------------------------------


def _whole(answer: Answer) -> Body:
    message = message_of(answer, answer.content)
    return _adapted(whole(_head(answer), message, refusal_in(message)), answer)


def _events(answer: Answer) -> Iterator[bytes]:
    frames = frames_of(message_of(answer, answer.content), Writer(_head(answer)))
    for response in _joined(response for _, response in frames):
        yield frame("", _adapted(response, answer))


def _head(answer: Answer) -> Head:
    return head_of(answer, answer.id)


def _joined(responses: Iterator[Body]) -> Iterator[Body]:
    """The events: adjacent calls are in one, and the last content is in the one that ends the answer."""
    held: Body | None = None
    for response in responses:
        candidate = response["candidates"][0]
        parts, ends = candidate["content"]["parts"], "finishReason" in candidate
        if ends and parts == [{"text": ""}]:
            parts.clear()
        before = [] if held is None else held["candidates"][0]["content"]["parts"]
        if held is not None and (ends or ("functionCall" in parts[0] and "functionCall" in before[-1])):
            parts[:0] = before
        elif held is not None:
            yield held
        held = response
    if held is not None:
        yield held


def _adapted(response: Body, answer: Answer) -> Body:
    """An event as this provider sends it: with the usage in each, and ids only for clients that may send them back."""
    candidate = response["candidates"][0]
    if not candidate["content"]["parts"]:
        del candidate["content"]["parts"]
    for part in candidate["content"].get("parts", []):
        if "functionCall" in part and not _dialect(answer.model).send_ids:
            del part["functionCall"]["id"]
    return response | {"usageMetadata": _usage(answer, last="finishReason" in candidate)}


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


# -- refusals --------------------------------------------------------------------------------------------------------


def _forged(body: Body, signer: Signer, model: Model) -> Iterable[str]:
    vertex = _dialect(model).surface == "vertex"
    for _, part in every_part(body):
        signature = get(part, "thoughtSignature")
        if signature is None or signature in DUMMIES:
            continue
        # Bytes in JSON are base64 of either alphabet; the SDK writes the one for URLs.
        if not signer.verify(standard_base64(signature)):
            yield (
                "Unable to submit request because Thought signature is not valid.."
                if vertex
                else "Corrupted thought signature."
            )


def _error(refusal: Refusal) -> Body:
    """``status`` is Google's name for the kind, ``code`` its HTTP status, also after a 200."""
    code = 503 if refusal.status == 200 else refusal.status
    return error(code, _CODES.get(code, refusal.kind), refusal.text)


def _error_event(refusal: Refusal) -> bytes:
    return frame("error", _error(refusal))


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
