"""Answers of generateContent and streamGenerateContent, of the Gemini API and Vertex.

Every event is a ``GenerateContentResponse``, and so is a whole answer (google-genai 3.1.0, types.py). There is no final
event: ``finishReason`` marks a complete answer, but the answer is finished only when the stream ends, because content
and usage may follow it (kelivo#1003, 2026-09).
"""

from collections.abc import Mapping
from typing import Any

from ...types import Usage
from ..common.answer import Answer, StopWords
from ..common.drafts import CallDraft, Draft
from ..common.reader import error_text
from .partial_args import Writer
from .parts import text_of
from .server_parts import is_kept, kind_of_part, readable, readable_sources
from .shapes import DUMMIES, SOURCES, many

# types.FinishReason of google-genai 3.1.0. Answers with calls also end with STOP.
STOPS: StopWords = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "CONTINUATION": "length",  # "reached the per-request token limit, but generation is not yet complete"
    "SAFETY": "error",
    "RECITATION": "error",
    "LANGUAGE": "error",
    "OTHER": "error",
    "BLOCKLIST": "error",
    "PROHIBITED_CONTENT": "error",
    "SPII": "error",
    "MALFORMED_FUNCTION_CALL": "error",
    "MALFORMED_RESPONSE": "error",
    "UNEXPECTED_TOOL_CALL": "error",
    "TOO_MANY_TOOL_CALLS": "error",
    "IMAGE_SAFETY": "error",
    "IMAGE_PROHIBITED_CONTENT": "error",
    "IMAGE_RECITATION": "error",
    "IMAGE_OTHER": "error",
    "NO_IMAGE": "error",
}
# "If empty, the model has not stopped"; Vertex sends the last one on the way (google-cloud-dotnet#15173, 2025-10).
CONTINUES = (None, "", "FINISH_REASON_UNSPECIFIED")


class Reader:
    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.open: Draft | None = None  # text or thinking that the next part may continue
        self.thinks = False  # whether the open block is thinking
        self.call: CallDraft | None = None  # the call whose arguments are being streamed
        self.arguments: Writer | None = None
        self.counts: dict[str, Any] = {}
        self.stop: str | None = None
        self.why = ""
        self.sources: dict[str, Any] = {}
        self.noted: set[str] = set()

    def event(self, name: bytes, data: Any) -> None:
        answer = self.answer
        if data.get("error"):
            answer.fail(_error(data["error"]))
            return
        answer.begin()
        for candidate in data.get("candidates") or ():
            if candidate.get("index"):
                self.note("candidate-left-out", "there is more than one candidate; only the first one is kept")
            else:
                self.candidate(candidate)
        usage = data.get("usageMetadata")
        if usage:
            self.add_usage(usage)
        if answer.response_id is None or answer.response_model is None:
            answer.response_id = answer.response_id or _text(data.get("responseId"))
            answer.response_model = answer.response_model or _text(data.get("modelVersion"))
        feedback = data.get("promptFeedback")
        if feedback and feedback.get("blockReason") and not data.get("candidates"):
            word = str(feedback["blockReason"])
            answer.finish(word, {word: "error"}, feedback.get("blockReasonMessage") or "")
        # createTime, modelStatus, and a candidate's safety ratings and logprobs are ignored.

    def whole(self, body: Mapping[str, Any]) -> None:
        if not any(name in body for name in ("candidates", "promptFeedback", "usageMetadata")):
            self.answer.fail(_error(body.get("error") or body))
            return
        self.event(b"", body)
        self.end(marked=False)

    def end(self, marked: bool) -> None:
        if self.stop is not None:
            if self.stop == "STOP":
                self.end_call(complete=False)
            self.add_sources()
            self.answer.finish(self.stop, STOPS, self.why)
        elif not marked:  # `[DONE]` is not part of this protocol; some gateways add it
            self.answer.break_off()

    def add_sources(self) -> None:
        """Add what the answer is based on, as the last events have it."""
        if self.sources:
            self.end_block()
        for name, value in self.sources.items():
            self.answer.provider(name, {name: value}, readable_sources(value)).end()

    # -- candidates --------------------------------------------------------------------------------------------------

    def candidate(self, candidate: Mapping[str, Any]) -> None:
        content = candidate.get("content")
        if content:
            for part in many(content.get("parts")):
                text = part.get("text")
                if text and type(text) is str and "thoughtSignature" not in part:
                    self.add_text(text, part.get("thought") is True)
                else:
                    self.other(part)
        for name in SOURCES:
            if any((candidate.get(name) or {}).values()):
                self.sources[name] = candidate[name]
        word = candidate.get("finishReason")
        # Gateways write STOP on any chunk without content (CLIProxyAPI#5640, 2026-09): another reason stays.
        if word not in CONTINUES and (word != "STOP" or self.stop is None):
            self.stop = str(word)
            self.why = candidate.get("finishMessage") or ""

    def add_text(self, text: str, thinks: bool) -> None:
        """Add text or thinking. Adjacent parts of one kind are one block."""
        if self.open is None or thinks is not self.thinks:
            self.end_block()
            self.open = self.answer.thinking() if thinks else self.answer.text()
            self.thinks = thinks
        self.open.add(text)

    def other(self, part: Mapping[str, Any]) -> None:
        """Read a part that is a block by itself, or an empty part."""
        signature = part.get("thoughtSignature") or None
        if not isinstance(signature, str | None):
            raise TypeError("a signature must be a text")
        if signature in DUMMIES:  # GEM-20: from a gateway; not a real signature
            signature = None
        call = part.get("functionCall")
        if call is not None:
            self.end_block()
            self.add_call(call, signature)
            return
        thinks, text = part.get("thought") is True, text_of(dict(part), "part")
        if is_kept(part):
            self.end_block()
            self.answer.provider(kind_of_part(part), dict(part), readable(part)).end()
            return
        if signature is None:
            if text:
                self.add_text(text, thinks)
            return
        # A signature must be sent back on the same part, so this part is not joined with another (opencode#43984,
        # harness-sdk#3306, 2026-08). It may be an empty text (GEM-19).
        half = self.open.pop_half() if self.open is not None and thinks is self.thinks else ""
        self.end_block()
        draft = self.answer.thinking(signature) if thinks else self.answer.text(signature)
        draft.add(half + text)
        draft.end()

    def end_block(self) -> None:
        """End the open block."""
        if self.open is not None:
            self.open.end()
            self.open = None

    # -- calls -------------------------------------------------------------------------------------------------------

    def add_call(self, call: Mapping[str, Any], signature: str | None) -> None:
        """Read a whole call, or a piece of one. The first piece has the name; the last one has no ``willContinue`` and
        may be empty (adk-python#4311, vercel/ai#14358, 2026)."""
        if self.call is None or (call.get("name") and not (call.get("id") and call["id"] == self.call.id)):
            if not call:
                return  # the end of a call that has already ended
            self.end_call(complete=False)
            self.call = self.answer.call(_text(call.get("id")), _text(call.get("name")))
            self.arguments = None
        self.call.sign(self.call.signature or signature)
        if call.get("args"):
            self.call.whole(call["args"])
        for argument in many(call.get("partialArgs")):
            if self.arguments is None:
                self.arguments = Writer(self.call.add)
            self.arguments.add(argument)
        if not call.get("willContinue"):
            self.end_call(complete=True)

    def end_call(self, complete: bool) -> None:
        if self.call is None:
            return
        if self.arguments is not None:
            self.arguments.close(complete)
            if self.arguments.out_of_order:
                self.note("arguments-out-of-order", "the arguments were streamed in an order that cannot be followed")
        self.call.end()
        self.call = None

    # -- the rest ----------------------------------------------------------------------------------------------------

    def add_usage(self, usage: Mapping[str, Any]) -> None:
        """Update the usage. It is cumulative: the last value of each field counts.

        The prompt includes cached tokens, candidates exclude thoughts, and the total is the sum of prompt, candidates,
        tool use and thoughts (google-genai 3.1.0, types.GenerateContentResponseUsageMetadata).
        """
        counts = self.counts
        counts.update(usage)
        prompt, cached = counts.get("promptTokenCount") or 0, counts.get("cachedContentTokenCount") or 0
        spent = max(prompt - cached, 0) + (counts.get("toolUsePromptTokenCount") or 0)
        made = (counts.get("candidatesTokenCount") or 0) + (counts.get("thoughtsTokenCount") or 0)
        total = counts.get("totalTokenCount") or spent + cached + made
        if total:  # may be empty or zero during the stream (Portkey gateway#934, 2025-02; CLIProxyAPI#4964, 2026-08)
            self.answer.usage = Usage(spent, made, cached, 0, total)
        # `serviceTier` on the Gemini API, `trafficType` (ON_DEMAND, ON_DEMAND_FLEX …) on Vertex (google-genai 3.1.0).
        tier = counts.get("serviceTier") or counts.get("trafficType")
        self.answer.served(tier.lower().removeprefix("on_demand_") if isinstance(tier, str) else None)

    def note(self, kind: str, message: str) -> None:
        if message not in self.noted:
            self.noted.add(message)
            self.answer.note(kind, message)


def _text(value: Any) -> str | None:
    return str(value) if value else None


def _error(error: Any) -> str:
    """``{"code": 503, "message": …, "status": "UNAVAILABLE"}``, the form of Google's errors."""
    if isinstance(error, dict) and error.get("status"):
        return error_text({**error, "code": " ".join(str(error[key]) for key in ("code", "status") if error.get(key))})
    return error_text(error)
