"""Answers of generateContent and streamGenerateContent, of the Gemini API and Vertex.

Every event is a ``GenerateContentResponse``, and so is a whole answer (google-genai 3.1.0, types.py). There is no last
event: ``finishReason`` says that the answer is complete, and it is told when the bytes end, because content and usage
may follow it (kelivo#1003, 2026-09).
"""

from collections.abc import Mapping
from typing import Any

from ...types import Usage
from ..common.answer import Answer, CallDraft, Draft, StopWords
from ..common.reader import error_text
from .partial_args import Writer
from .parts import readable
from .shapes import DUMMIES, kinds, many

# types.FinishReason of google-genai 3.1.0. Calls end with STOP, too.
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
# "If empty, the model has not stopped"; Vertex says the second on the way (google-cloud-dotnet#15173, 2025-10).
GOES_ON = (None, "", "FINISH_REASON_UNSPECIFIED")
_SOURCES = ("citationMetadata", "groundingMetadata", "urlContextMetadata")
PLAIN = {"text", "thought", "thoughtSignature", "functionCall"}


class Reader:
    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.open: Draft | None = None  # text or thinking that the next part may go on with
        self.thinks = False  # which of the two it is
        self.call: CallDraft | None = None  # whose arguments are being streamed
        self.arguments: Writer | None = None
        self.counts: dict[str, Any] = {}
        self.stop: str | None = None
        self.why = ""
        self.noted: set[str] = set()

    def event(self, name: str, data: Any) -> None:
        answer = self.answer
        if data.get("error"):
            answer.fail(_error(data["error"]))
            return
        answer.begin()
        for candidate in data.get("candidates") or ():
            if candidate.get("index"):
                self.note("candidate-left-out", "there is more than one candidate, and only the first is kept")
            else:
                self.candidate(candidate)
        usage = data.get("usageMetadata")
        if usage:
            self.take_usage(usage)
        if answer.response_id is None or answer.response_model is None:
            answer.response_id = answer.response_id or _text(data.get("responseId"))
            answer.response_model = answer.response_model or _text(data.get("modelVersion"))
        feedback = data.get("promptFeedback")
        if feedback and feedback.get("blockReason") and not data.get("candidates"):
            word = str(feedback["blockReason"])
            answer.finish(word, {word: "error"}, feedback.get("blockReasonMessage") or "")
        # createTime, modelStatus, and a candidate's safety ratings and logprobs have no place in the record.

    def whole(self, body: Mapping[str, Any]) -> None:
        if not any(name in body for name in ("candidates", "promptFeedback", "usageMetadata")):
            self.answer.fail(_error(body.get("error") or body))
            return
        self.event("", body)
        self.end(marked=False)

    def end(self, marked: bool) -> None:
        if self.stop is not None:
            if self.stop == "STOP":
                self.end_call(told=False)
            self.answer.finish(self.stop, STOPS, self.why)
        elif not marked:  # the mark is not of this protocol; some gateways add it
            self.answer.break_off()

    # -- candidates --------------------------------------------------------------------------------------------------

    def candidate(self, candidate: Mapping[str, Any]) -> None:
        content = candidate.get("content")
        if content:
            for part in many(content.get("parts")):
                text = part.get("text")
                if text and type(text) is str and "thoughtSignature" not in part:
                    self.say(text, part.get("thought") is True)
                else:
                    self.other(part)
        for name in _SOURCES:
            if any((candidate.get(name) or {}).values()):
                self.answer.left_out(name)
        word = candidate.get("finishReason")
        # Gateways write STOP on any chunk without content (CLIProxyAPI#5640, 2026-09): it takes nothing back.
        if word not in GOES_ON and (word != "STOP" or self.stop is None):
            self.stop = str(word)
            self.why = candidate.get("finishMessage") or ""

    def say(self, text: str, thinks: bool) -> None:
        """More text or thinking; parts of one kind are one block."""
        if self.open is None or thinks is not self.thinks:
            self.leave()
            self.open = self.answer.thinking() if thinks else self.answer.text()
            self.thinks = thinks
        self.open.add(text)

    def other(self, part: Mapping[str, Any]) -> None:
        """Parts that are blocks of their own, and empty ones."""
        signature = part.get("thoughtSignature") or None
        if not isinstance(signature, str | None):
            raise TypeError("a signature is a text")
        if signature in DUMMIES:  # GEM-20: a gateway's, nobody signed anything
            signature = None
        call = part.get("functionCall")
        if call is not None:
            self.leave()
            self.take_call(call, signature)
            return
        found, thinks = kinds(part), part.get("thought") is True
        text = readable(part, "part") if found else ""
        if found in ([], ["text"]) and signature is None:
            if text:
                self.say(text, thinks)
            elif left := part.keys() - PLAIN:
                self.note("part-left-out", f"the record has no place for {', '.join(sorted(left))}")
            return
        if found not in ([], ["text"]):
            self.note("part-as-text", f"the record has no place for {', '.join(found)}: what can be read of it is text")
        # A signature goes back on the very part that it came on, so that part is joined with no other (opencode#43984,
        # harness-sdk#3306, 2026-08); it may be an empty text (GEM-19).
        half = self.open.take_half() if self.open is not None and thinks is self.thinks else ""
        self.leave()
        draft = self.answer.thinking(signature) if thinks else self.answer.text(signature)
        draft.add(half + text)
        draft.end()

    def leave(self) -> None:
        """What comes next does not go on with the open block."""
        if self.open is not None:
            self.open.end()
            self.open = None

    # -- calls -------------------------------------------------------------------------------------------------------

    def take_call(self, call: Mapping[str, Any], signature: str | None) -> None:
        """A whole call; or a piece of one: the first has the name, the last lacks ``willContinue`` and may be empty
        (adk-python#4311, vercel/ai#14358, 2026)."""
        if self.call is None or (call.get("name") and not (call.get("id") and call["id"] == self.call.id)):
            if not call:
                return  # the end of a call that had ended
            self.end_call(told=False)
            self.call = self.answer.call(_text(call.get("id")), _text(call.get("name")))
            self.arguments = None
        self.call.sign(self.call.signature or signature)
        if call.get("args"):
            self.call.whole(call["args"])
        for argument in many(call.get("partialArgs")):
            if self.arguments is None:
                self.arguments = Writer(self.call.add)
            self.arguments.take(argument)
        if not call.get("willContinue"):
            self.end_call(told=True)

    def end_call(self, told: bool) -> None:
        if self.call is None:
            return
        if self.arguments is not None:
            self.arguments.close(told)
            if self.arguments.out_of_order:
                self.note("arguments-out-of-order", "the arguments were streamed in an order that cannot be followed")
        self.call.end()
        self.call = None

    # -- the rest ----------------------------------------------------------------------------------------------------

    def take_usage(self, usage: Mapping[str, Any]) -> None:
        """Usage is cumulative: what came last counts, field by field. The prompt includes what was cached, candidates
        exclude thoughts, and the total is the sum of prompt, candidates, tool use and thoughts (google-genai 3.1.0,
        types.GenerateContentResponseUsageMetadata)."""
        counts = self.counts
        counts.update(usage)
        prompt, cached = counts.get("promptTokenCount") or 0, counts.get("cachedContentTokenCount") or 0
        spent = max(prompt - cached, 0) + (counts.get("toolUsePromptTokenCount") or 0)
        made = (counts.get("candidatesTokenCount") or 0) + (counts.get("thoughtsTokenCount") or 0)
        total = counts.get("totalTokenCount") or spent + cached + made
        if total:  # empty or all zeros on the way (Portkey gateway#934, 2025-02; CLIProxyAPI#4964, 2026-08)
            self.answer.usage = Usage(spent, made, cached, 0, total)

    def note(self, kind: str, message: str) -> None:
        if message not in self.noted:
            self.noted.add(message)
            self.answer.note(kind, message)


def _text(value: Any) -> str | None:
    return str(value) if value else None


def _error(error: Any) -> str:
    """``{"code": 503, "message": …, "status": "UNAVAILABLE"}``, the form of all of Google's errors."""
    if isinstance(error, dict) and error.get("status"):
        return error_text({**error, "code": " ".join(str(error[key]) for key in ("code", "status") if error.get(key))})
    return error_text(error)
