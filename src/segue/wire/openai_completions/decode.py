"""Read answers of Chat Completions and its family, streamed (chunks without names, then ``[DONE]``) or whole.

Chunks and fields are those of the SDKs' ``chat_completion_chunk.py`` (openai 3.49.0, groq 1.7.0, 2026-11), and those
that members of the family add. A message has one text, whatever arrives between its pieces. Reasoning ends where text
or a call begins, unless it has ``reasoning_details``, which may arrive at any time.
"""

from collections.abc import Mapping
from typing import Any

from ...dialects import REASONING_FIELDS, OpenAICompletions
from ...types.codec import json_text
from ..common.answer import Answer, StopWords
from ..common.call_deltas import CallDeltas
from ..common.drafts import CallDraft, TextDraft, ThinkingDraft
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
    "refusal": "error",  # our own word, for `delta.refusal`
    "error": "error",  # OpenRouter, with `native_finish_reason`
    "model_context_window_exceeded": "length",  # Z.ai, in its documentation, like the next two (2026-11)
    "sensitive": "error",
    "network_error": "error",
    "insufficient_system_resource": "error",  # DeepSeek, in its documentation (2026-11)
    "abort": "error",  # vLLM and SGLang, when the engine aborts a request
    "end": "stop",
    "end_turn": "stop",
    "eos": "stop",
    "eos_token": "stop",  # TGI, like the next one
    "stop_sequence": "stop",
    "max_tokens": "length",
    # Gemini's OpenAI endpoint passes on Gemini's own words (Vibe-Trading#308, 2026-06), some with a prefix:
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
    """The decoder of one answer."""

    def __init__(self, answer: Answer) -> None:
        dialect = answer.model.dialect
        self.answer = answer
        self.text: TextDraft | None = None
        self.annotations: list[Any] = []  # of the text
        self.thought: ThinkingDraft | None = None
        self.calls = CallDeltas(answer)
        self.details = Details()
        self.tags: ThinkTags | None = None
        self.upstream_field: str | None = None
        if isinstance(dialect, OpenAICompletions):
            self.upstream_field = dialect.upstream_field
            if reads_tags(dialect):
                self.tags = ThinkTags(self.add_thinking, self.add_text)
        self.blank: list[str] = []  # white space that may begin a text
        self.refusal: list[str] = []
        self.in_pieces = False
        self.stop: str | None = None
        self.stop_detail = ""

    def event(self, name: bytes, data: Any) -> None:
        answer = self.answer
        if not answer.response_id:
            self.read_origin(data)
        choices = data.get("choices")
        if data.get("usage"):
            self.count_usage(data["usage"])
        if "service_tier" in data:
            self.answer.served(data["service_tier"])
        for choice in choices or ():  # Copilot sends the calls of Claude in a second choice (mini-swe-agent#804)
            delta = choice.get("delta")
            if delta:
                self.in_pieces = True
                self.read_delta(delta)
            elif not self.in_pieces and choice.get("message"):  # MiniMax repeats it at the end (OpenBitFun#792)
                self.read_delta(choice["message"])
            if choice.get("finish_reason"):
                self.read_stop(choice)
        if not choices or "error" in data or "x_groq" in data:
            self.read_other(name, data)

    def whole(self, body: Mapping[str, Any]) -> None:
        if not body.get("choices"):
            self.answer.fail(_fault(body) or error_text(body))
            return
        self.event(b"", body)
        self.end(marked=True)

    def end(self, marked: bool) -> None:
        """An answer is complete if it has a finish reason, or if ``[DONE]`` follows any content (xAI sends no finish
        reason with calls: fast-agent#276)."""
        if self.answer.finished is not None:
            return
        if self.refusal:
            self.finish_blocks()
            self.answer.finish("refusal", STOPS, "".join(self.refusal))
        elif self.stop is None and not (marked and self.answer.blocks):
            self.answer.break_off()
        else:
            self.finish_blocks()
            if self.stop is None and not self.call_drafts():
                self.answer.note("no-stop-reason", "the stream ended properly, but without a finish reason")
            self.answer.finish(self.stop, STOPS, self.stop_detail)

    # -- the parts of a chunk ------------------------------------------------------------------------------------------

    def read_origin(self, data: Mapping[str, Any]) -> None:
        """Read the id and the model of the answer. The first chunks of Azure have neither."""
        answer = self.answer
        answer.begin()
        answer.response_id = data.get("id")
        answer.response_model = data.get("model") or answer.response_model
        if self.upstream_field is not None:
            answer.upstream = data.get(self.upstream_field) or answer.upstream

    def read_other(self, name: bytes, data: Mapping[str, Any]) -> None:
        """Read what is not in a choice: an error, usage, filter results, a heartbeat."""
        fault = _fault(data) or (error_text(data) if name == b"error" else "")
        groq = data.get("x_groq") or {}
        if fault or groq.get("error"):
            self.answer.fail(fault or error_text(groq["error"]))
        elif groq.get("usage"):
            self.count_usage(groq["usage"])
        # `prompt_filter_results` (Azure), `moderation` and unknown fields are not recorded.

    def read_delta(self, delta: Object) -> None:
        """Read a delta or a whole message."""
        if not _KNOWN.issuperset(delta):
            for name in delta.keys() - _KNOWN:
                if name == "annotations":
                    self.annotations += [each for each in delta[name] or () if isinstance(each, dict)]
                elif delta[name]:
                    self.answer.left_out(name)
        for name in REASONING_FIELDS:
            if thought := delta.get(name):  # only the first: chutes sends the same text under two names
                self.add_thinking(thought, name)
                break
        if details := delta.get(DETAILS):
            self.add_details(details, bool(thought))
        if content := delta.get("content"):
            if type(content) is not str:
                self.read_parts(content)
            elif self.tags is not None:
                self.read_tagged(content)
            elif self.text is not None:
                self.text.add(content)
            else:
                self.add_text(content)
        if pieces := delta.get("tool_calls"):
            self.add_calls(pieces)
        if legacy := delta.get("function_call"):
            self.add_calls([{"index": -1, "function": legacy}])
        if refusal := delta.get("refusal"):
            self.refusal.append(refusal)

    def read_stop(self, choice: Mapping[str, Any]) -> None:
        self.stop, self.stop_detail = str(choice["finish_reason"]), _stop_detail(choice)
        word, _, rest = self.stop.partition(": ")
        if word in STOPS:
            self.stop, self.stop_detail = word, rest or self.stop_detail
        if choice.get("usage"):  # Moonshot (pi#2017)
            self.count_usage(choice["usage"])

    def count_usage(self, usage: Object) -> None:
        counted = read_usage(usage)
        if counted is not None:
            self.answer.usage = counted

    # -- blocks ------------------------------------------------------------------------------------------------------

    def add_text(self, text: str) -> None:
        """Add text. The block begins with the first word: white space before a call is not a text (GLM, MiniMax)."""
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
        self.end_thinking()
        self.text = self.answer.text()

    def add_thinking(self, thought: str, field: str | None = None) -> None:
        if self.thought is None and thought:
            self.thought = self.answer.thinking(field)
        if self.thought is not None:
            self.thought.add(thought)

    def end_thinking(self) -> None:
        """End the thinking, because text or a call begins."""
        if self.thought is not None and not self.details.entries:
            self.thought.end()
            self.thought = None

    def add_details(self, entries: Any, is_repeated: bool) -> None:
        """Add ``reasoning_details``; if ``is_repeated``, a plain field has contained their text already."""
        readable = self.details.add(entries, self.in_pieces)
        if not is_repeated:
            self.add_thinking(readable)
        if self.thought is None and any(entry.get("type") == ENCRYPTED and not entry.get("id") for entry in entries):
            self.thought = self.answer.thinking()  # it signs the answer, not a call

    def add_calls(self, pieces: list[Object]) -> None:
        if self.tags is not None:
            self.tags.flush()
            self.leave_tags()
        self.blank.clear()
        self.end_thinking()
        drafts = self.calls.add(pieces) if self.in_pieces else self.calls.whole(pieces)
        for place, piece in enumerate(pieces):
            if EXTRA in piece:
                drafts[place].sign(attached(piece[EXTRA]))

    def call_drafts(self) -> list[CallDraft]:
        return [block for block in self.answer.blocks if type(block) is CallDraft]

    def read_tagged(self, content: str) -> None:
        assert self.tags is not None
        self.tags.feed(content)
        self.leave_tags()

    def leave_tags(self) -> None:
        if self.tags is not None and self.tags.done:
            self.tags = None

    def read_parts(self, content: Any) -> None:
        """Read content that is a list of parts, as Mistral's models send it on other hosts."""
        for part in content:
            if isinstance(part, str):
                self.read_delta({"content": part})
            elif part.get("type") == "thinking":
                inner: Any = part.get("thinking") or ""
                self.add_thinking(inner if type(inner) is str else "".join([each["text"] for each in inner]))
            elif part.get("type", "text") == "text":
                self.read_delta({"content": part.get("text")})
            elif part["type"] == "refusal":
                self.refusal.append(part["refusal"])
            else:
                self.answer.left_out(f"{part['type']} in the content")

    # -- the end -----------------------------------------------------------------------------------------------------

    def finish_blocks(self) -> None:
        """Finish what can only be decided at the end: incomplete tags are text, and details sign their calls."""
        if self.tags is not None:
            self.tags.flush()
            self.tags = None
        if any(self.blank):
            blank = "".join(self.blank)
            self.begin_text()
            self.add_text(blank)
        if self.annotations and self.text is not None:  # what the text is based on; requests have no place for it
            self.text.sign(json_text(self.annotations))
        elif self.annotations:
            self.answer.left_out("annotations without a text")
        signature = self.details.finish(self.call_drafts())
        if signature is not None:
            thought = self.thought or self.answer.thinking()
            thought.sign(signature)


# The known fields of a delta or a message: those that are read, and those that hold no content of the model.
_KNOWN = frozenset(
    {*REASONING_FIELDS, DETAILS, "content", "tool_calls", "function_call", "refusal"}
    | {"role", "name", "id", "index", "logprobs", "token_ids", "prompt_token_ids", "stop_reason", "matched_stop"}
    | {"channel", "padding"}  # Groq, of gpt-oss; Copilot, so that lengths reveal nothing
)


def _fault(data: Mapping[str, Any]) -> str:
    """The text of an error in a chunk, or in place of an answer."""
    if data.get("error"):
        return error_text(data)
    if data.get("object") == "error":  # older vLLM
        return error_text(data)
    base = data.get("base_resp") or {}
    if base.get("status_code"):  # MiniMax, with HTTP 200 (edenai-apis#360)
        return error_text({"code": base["status_code"], "message": base.get("status_msg")})
    return ""


def _stop_detail(choice: Mapping[str, Any]) -> str:
    """Details of the finish reason: an error or the upstream's own reason (OpenRouter), the filters that were hit
    (Azure)."""
    if choice.get("error"):
        return error_text(choice["error"])
    native = choice.get("native_finish_reason")
    results = choice.get("content_filter_results") or {}
    hit = [name for name, result in results.items() if isinstance(result, dict) and result.get("filtered")]
    return ", ".join(hit) or (str(native) if native and native != choice["finish_reason"] else "")
