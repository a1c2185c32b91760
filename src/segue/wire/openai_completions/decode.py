"""Answers of Chat Completions and its family, streamed (chunks without names, then ``[DONE]``) and whole.

Chunks and fields as in the SDKs' ``chat_completion_chunk.py`` (openai 3.49.0, groq 1.7.0, 2026-11), and what members
of the family add. A message has one text, whatever came between its pieces. Reasoning ends where text or a call
begins, unless it has ``reasoning_details``, of which more may come at any time.
"""

from collections.abc import Mapping
from typing import Any

from ...dialects import REASONING_FIELDS, OpenAICompletions
from ..common.answer import Answer, CallDraft, StopWords, TextDraft, ThinkingDraft
from ..common.call_deltas import CallDeltas
from ..common.reader import error_text
from .answer_details import ENCRYPTED, Details
from .answer_tags import ThinkTags
from .answer_usage import read_usage
from .reasoning import DETAILS, EXTRA, attached, reads_tags

Object = dict[str, Any]

STOPS: StopWords = {
    "stop": "stop",
    "tool_calls": "toolUse",
    "function_call": "toolUse",
    "length": "length",
    "content_filter": "error",
    "refusal": "error",  # ours, for `delta.refusal`
    "error": "error",  # OpenRouter, with `native_finish_reason`
    "model_context_window_exceeded": "length",  # Z.ai, in its documentation, as the next two (2026-11)
    "sensitive": "error",
    "network_error": "error",
    "insufficient_system_resource": "error",  # DeepSeek, in its documentation (2026-11)
    "abort": "error",  # vLLM and SGLang, when the engine gives up
    "end": "stop",
    "end_turn": "stop",
    "eos": "stop",
    "eos_token": "stop",  # TGI, as the next one
    "stop_sequence": "stop",
    "max_tokens": "length",
    # Gemini's OpenAI endpoint hands its own words through (Vibe-Trading#308, 2026-06), some behind one of its making:
    # "function_call_filter: MALFORMED_FUNCTION_CALL" (in the code of several clients, 2026-09).
    "function_call_filter": "error",
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "SAFETY": "error",
    "RECITATION": "error",
    "BLOCKLIST": "error",
    "PROHIBITED_CONTENT": "error",
    "SPII": "error",
    "MALFORMED_FUNCTION_CALL": "error",
}


class Reader:
    def __init__(self, answer: Answer) -> None:
        dialect = answer.model.dialect
        self.answer = answer
        self.text: TextDraft | None = None
        self.thought: ThinkingDraft | None = None
        self.calls = CallDeltas(answer)
        self.details = Details()
        self.tags: ThinkTags | None = None
        self.upstream_field: str | None = None
        if isinstance(dialect, OpenAICompletions):
            self.upstream_field = dialect.upstream_field
            if reads_tags(dialect):
                self.tags = ThinkTags(self.think, self.say)
        self.blank: list[str] = []  # white space that may begin a text
        self.refusal: list[str] = []
        self.in_pieces = False
        self.stop: str | None = None
        self.why = ""

    def event(self, name: str, data: Any) -> None:
        answer = self.answer
        if not answer.response_id:
            self.meet(data)
        choices = data.get("choices")
        if data.get("usage"):
            self.count(data["usage"])
        for choice in choices or ():  # Copilot has the calls of Claude in a second one (mini-swe-agent#804)
            delta = choice.get("delta")
            if delta:
                self.in_pieces = True
                self.take(delta)
            elif not self.in_pieces and choice.get("message"):  # MiniMax: again, at the end (OpenBitFun#792)
                self.take(choice["message"])
            if choice.get("finish_reason"):
                self.stopped(choice)
        if not choices or "error" in data or "x_groq" in data:
            self.aside(name, data)

    def whole(self, body: Mapping[str, Any]) -> None:
        if not body.get("choices"):
            self.answer.fail(_fault(body) or error_text(body))
            return
        self.event("", body)
        self.end(marked=True)

    def end(self, marked: bool) -> None:
        """All of an answer is there when it has said why it stopped; ``[DONE]`` says so, too, if anything was said
        (xAI gives calls no reason at all: fast-agent#276)."""
        if self.answer.finished is not None:
            return
        if self.refusal:
            self.settle()
            self.answer.finish("refusal", STOPS, "".join(self.refusal))
        elif self.stop is None and not (marked and self.answer.blocks):
            self.answer.break_off()
        else:
            self.settle()
            if self.stop is None and not self.called():
                self.answer.note("no-stop-reason", "the stream ended without a reason, but properly")
            self.answer.finish(self.stop, STOPS, self.why)

    # -- what a chunk may hold -----------------------------------------------------------------------------------------

    def meet(self, data: Mapping[str, Any]) -> None:
        """Who answers. The first chunks of Azure have neither id nor model."""
        answer = self.answer
        answer.begin()
        answer.response_id = data.get("id")
        answer.response_model = data.get("model") or answer.response_model
        if self.upstream_field is not None:
            answer.upstream = data.get(self.upstream_field) or answer.upstream

    def aside(self, name: str, data: Mapping[str, Any]) -> None:
        """A chunk with no choices, or with more than choices: an error, usage, filter results, a heartbeat."""
        fault = _fault(data) or (error_text(data) if name == "error" else "")
        groq = data.get("x_groq") or {}
        if fault or groq.get("error"):
            self.answer.fail(fault or error_text(groq["error"]))
        elif groq.get("usage"):
            self.count(groq["usage"])
        # `prompt_filter_results` (Azure), `moderation` and what is new tell the record nothing.

    def take(self, delta: Object) -> None:
        """A delta or a whole message."""
        if not _KNOWN.issuperset(delta):
            for name in delta.keys() - _KNOWN:
                if delta[name]:
                    self.answer.left_out(name)
        for name in REASONING_FIELDS:
            if thought := delta.get(name):  # the first: chutes sends the same text under two names
                self.think(thought, name)
                break
        if details := delta.get(DETAILS):
            self.detail(details, bool(thought))
        if content := delta.get("content"):
            if type(content) is not str:
                self.parts(content)
            elif self.tags is not None:
                self.untag(content)
            elif self.text is not None:
                self.text.add(content)
            else:
                self.say(content)
        if pieces := delta.get("tool_calls"):
            self.call(pieces)
        if legacy := delta.get("function_call"):
            self.call([{"index": -1, "function": legacy}])
        if refusal := delta.get("refusal"):
            self.refusal.append(refusal)

    def stopped(self, choice: Mapping[str, Any]) -> None:
        self.stop, self.why = str(choice["finish_reason"]), _why(choice)
        word, _, rest = self.stop.partition(": ")
        if word in STOPS:
            self.stop, self.why = word, rest or self.why
        if choice.get("usage"):  # Moonshot (pi#2017)
            self.count(choice["usage"])

    def count(self, usage: Object) -> None:
        counted = read_usage(usage)
        if counted is not None:
            self.answer.usage = counted

    # -- blocks ------------------------------------------------------------------------------------------------------

    def say(self, text: str) -> None:
        """More text. It begins with its first word: white space alone before a call is not one (GLM, MiniMax)."""
        if self.text is None:
            if not text.strip():
                self.blank.append(text)
                return
            text = "".join([*self.blank, text])
            self.begin_text()
        assert self.text is not None
        self.text.add(text)

    def begin_text(self) -> None:
        self.blank.clear()
        self.turn()
        self.text = self.answer.text()

    def think(self, thought: str, field: str | None = None) -> None:
        if self.thought is None and thought:
            self.thought = self.answer.thinking(field)
        if self.thought is not None:
            self.thought.add(thought)

    def turn(self) -> None:
        """Something else than reasoning begins."""
        if self.thought is not None and not self.details.entries:
            self.thought.end()
            self.thought = None

    def detail(self, entries: Any, told: bool) -> None:
        """``reasoning_details``; their text counts only where no plain field has told it already."""
        readable = self.details.add(entries, self.in_pieces)
        if not told:
            self.think(readable)
        if self.thought is None and any(entry.get("type") == ENCRYPTED and not entry.get("id") for entry in entries):
            self.thought = self.answer.thinking()  # of no call, so of the answer

    def call(self, pieces: list[Object]) -> None:
        if self.tags is not None:
            self.tags.flush()
            self.leave_tags()
        self.blank.clear()
        self.turn()
        taken = self.calls.add(pieces) if self.in_pieces else self.calls.whole(pieces)
        for place, piece in enumerate(pieces):
            if EXTRA in piece:
                taken[place].sign(attached(piece[EXTRA]))

    def called(self) -> list[CallDraft]:
        return [block for block in self.answer.blocks if type(block) is CallDraft]

    def untag(self, content: str) -> None:
        assert self.tags is not None
        self.tags.feed(content)
        self.leave_tags()

    def leave_tags(self) -> None:
        if self.tags is not None and self.tags.done:
            self.tags = None

    def parts(self, content: Any) -> None:
        """Content as a list of parts: models of Mistral on other hosts."""
        for part in content:
            if isinstance(part, str):
                self.take({"content": part})
            elif part.get("type") == "thinking":
                inner: Any = part.get("thinking") or ""
                self.think(inner if type(inner) is str else "".join([each["text"] for each in inner]))
            elif part.get("type", "text") == "text":
                self.take({"content": part.get("text")})
            elif part["type"] == "refusal":
                self.refusal.append(part["refusal"])
            else:
                self.answer.left_out(f"{part['type']} in the content")

    # -- the end -----------------------------------------------------------------------------------------------------

    def settle(self) -> None:
        """What could only be known now: half a tag is text, and whose the details are."""
        if self.tags is not None:
            self.tags.flush()
            self.tags = None
        if any(self.blank):
            blank = "".join(self.blank)
            self.begin_text()
            self.say(blank)
        signature = self.details.settle(self.called())
        if signature is not None:
            thought = self.thought or self.answer.thinking()
            thought.sign(signature)


# What a delta or a message may have: what is read, and what holds nothing that the model said.
_KNOWN = frozenset(
    {*REASONING_FIELDS, DETAILS, "content", "tool_calls", "function_call", "refusal"}
    | {"role", "name", "id", "index", "logprobs", "token_ids", "prompt_token_ids", "stop_reason", "matched_stop"}
    | {"channel", "padding"}  # Groq: of gpt-oss; Copilot: against guessing by length
)


def _fault(data: Mapping[str, Any]) -> str:
    """What a provider says went wrong, in a chunk or in the place of an answer."""
    if data.get("error"):
        return error_text(data)
    if data.get("object") == "error":  # older vLLM
        return error_text(data)
    base = data.get("base_resp") or {}
    if base.get("status_code"):  # MiniMax, with HTTP 200 (edenai-apis#360)
        return error_text({"code": base["status_code"], "message": base.get("status_msg")})
    return ""


def _why(choice: Mapping[str, Any]) -> str:
    """What stands beside the word for the end: an error and the upstream's own word (OpenRouter), the filters that
    were hit (Azure)."""
    if choice.get("error"):
        return error_text(choice["error"])
    native = choice.get("native_finish_reason")
    results = choice.get("content_filter_results") or {}
    hit = [name for name, result in results.items() if isinstance(result, dict) and result.get("filtered")]
    return ", ".join(hit) or (str(native) if native and native != choice["finish_reason"] else "")
