"""Write answers of generateContent and streamGenerateContent.

Every event is a ``GenerateContentResponse``, and so is a whole answer (google-genai 3.1.0, types.py). A signature comes
on the part that it signs; in a stream, the signature of a text comes on an empty part after it
(claude-code-router#1275, 2026-03; opencode#43984, 2026-08). Calls are not streamed in pieces. Statuses are
google.rpc.Code (2026-11).
"""

from typing import assert_never

import msgspec

from ...types import AssistantContent, AssistantMessage, ProviderContent, TextContent, ThinkingContent, ToolCall
from ..common.writing import AnswerForm, Body, Failed, Head, Kind, Stops, StreamWriter, json_line, split_usage, stop_of
from .decode import STOPS as READ
from .server_parts import is_source

Part = Body

STOPS: Stops = {
    "stop": "STOP",
    "length": "MAX_TOKENS",
    "toolUse": "STOP",
    "error": "SAFETY",
    "aborted": "STOP",
}


class Writer(StreamWriter):
    """Writes one answer as a stream."""

    def begin(self, message: AssistantMessage) -> None:
        self._response = response_head(self.head)

    def holds(self, block: AssistantContent) -> bool:
        return _holds(self.head, block)

    def open(self, number: int, block: AssistantContent) -> None:
        pass

    def add(self, number: int, kind: Kind, delta: str) -> None:
        if kind != "call":
            self._emit({"text": delta, "thought": True} if kind == "thinking" else {"text": delta})

    def close(self, number: int, block: AssistantContent | None) -> None:
        if isinstance(block, ToolCall | ProviderContent):
            self._emit(part(self.head, block))
        elif block is not None:
            self.late(number, block)

    def late(self, number: int, block: AssistantContent) -> None:
        body = part(self.head, block)
        if "thoughtSignature" in body and not isinstance(block, ToolCall):
            self._emit(body | {"text": ""})

    def end(self, message: AssistantMessage, refusal: str | None) -> None:
        self.frames.append(("", self._response | _end(self.head, message, [{"text": ""}], refusal)))

    def fail(self, message: AssistantMessage, failed: Failed) -> None:
        self.frames.append(("error", error(*ERRORS[failed.kind], failed.text)))

    def _emit(self, body: Part) -> None:
        self.frames.append(("", self._response | {"candidates": [_candidate([body])]}))


def whole(head: Head, message: AssistantMessage, refusal: str | None) -> Body:
    """The whole answer."""
    parts = [part(head, block) for block in message.content if _holds(head, block)]
    return response_head(head) | _end(head, message, parts, refusal)


def part(head: Head, block: AssistantContent) -> Part:
    """The part for a block."""
    body: Part
    if isinstance(block, TextContent):
        body = {"text": block.text}
    elif isinstance(block, ThinkingContent):
        body = {"text": "" if block.redacted else block.thinking, "thought": True}
    elif isinstance(block, ToolCall):
        call = {"id": head.call_id(block.id), "name": block.name, "args": block.arguments}
        body = {"functionCall": call}
    elif isinstance(block, ProviderContent):
        body = block.value
    else:
        assert_never(block)
    signature = head.signature(block)
    return body if signature is None else body | {"thoughtSignature": signature}


def _holds(head: Head, block: AssistantContent) -> bool:
    """A part needs a text, a call or a signature. Provider content belongs to the protocol that it came in; sources are
    not a part."""
    if isinstance(block, ProviderContent):
        return head.own and not is_source(block)
    return part(head, block) not in ({"text": ""}, {"text": "", "thought": True})


def _candidate(parts: list[Part]) -> Body:
    return {"content": {"parts": parts, "role": "model"}, "index": 0}


def response_head(head: Head) -> Body:
    return {"modelVersion": head.model, "responseId": head.id}


def _end(head: Head, message: AssistantMessage, parts: list[Part], refusal: str | None) -> Body:
    candidate = _candidate(parts) | {"finishReason": STOPS[stop_of(message)]}
    for block in message.content if head.own else ():
        if isinstance(block, ProviderContent) and is_source(block):
            candidate |= block.value
    if refusal is not None:
        word = (message.error_message or "").partition(": ")[0]
        if READ.get(word) == "error":
            candidate["finishReason"] = word
        if refusal:
            candidate["finishMessage"] = refusal
    return {"candidates": [candidate], "usageMetadata": usage_metadata(message)}


def usage_metadata(message: AssistantMessage) -> Body:
    """The usage; the prompt includes cached tokens."""
    prompt, output = split_usage(message)
    counts = {"promptTokenCount": prompt, "candidatesTokenCount": output}
    if message.usage.cache_read:
        counts["cachedContentTokenCount"] = message.usage.cache_read
    return counts | {"totalTokenCount": message.usage.total_tokens or prompt + output}


def frame(name: str, data: object) -> bytes:
    """A server-sent event. An error is bare JSON in lines: "When API returns an error message, it comes line by line"
    (google-genai 3.1.0, _api_client.py; vercel/ai#5217, 2025-03)."""
    if name == "error":
        return msgspec.json.format(json_line(data), indent=2) + b"\n"
    return b"data: " + json_line(data) + b"\r\n\r\n"


def _keepalive(head: Head | None) -> bytes:
    """An event without candidates: comments end the streams of Google's clients (measured 2026-11)."""
    counts = {"promptTokenCount": 0 if head is None else head.input_tokens}
    return frame("", {"usageMetadata": counts, **({} if head is None else response_head(head))})


def error(status: int, kind: str, text: str) -> Body:
    """The body of an error: ``status`` is Google's name for the kind, ``code`` its HTTP status."""
    return {"error": {"code": status, "message": text, "status": kind}}


ERRORS: dict[str, tuple[int, str]] = {
    "provider": (500, "INTERNAL"),
    "rate-limit": (429, "RESOURCE_EXHAUSTED"),
    "quota": (429, "RESOURCE_EXHAUSTED"),
    "overloaded": (503, "UNAVAILABLE"),
    "server": (500, "INTERNAL"),
    "network": (503, "UNAVAILABLE"),
    "authentication": (401, "UNAUTHENTICATED"),
    "model-not-found": (404, "NOT_FOUND"),
    "invalid-request": (400, "INVALID_ARGUMENT"),
    "overflow": (400, "INVALID_ARGUMENT"),
    "refused": (400, "FAILED_PRECONDITION"),
}

ANSWER_FORM = AnswerForm(
    id_prefix="",
    writer=Writer,
    whole=whole,
    frame=frame,
    keepalive=_keepalive,
    errors=ERRORS,
    error=error,
    overflow="The input token count exceeds the maximum number of tokens allowed",
)
