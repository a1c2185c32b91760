"""Answers of Anthropic Messages, streamed (named events, no ``[DONE]``) and whole.

Events and fields as in the SDK's ``types/raw_*_event.py`` (anthropic 2.8.0, 2026-11).
"""

from collections.abc import Callable, Mapping
from typing import Any

from ...types import Usage
from ..common.answer import Answer, StopWords
from ..common.arguments import read_arguments
from ..common.drafts import CallDraft, Draft, ProviderDraft, TextDraft, ThinkingDraft
from ..common.reader import error_text
from .replay import citations_signature
from .server_tools import readable

STOPS: StopWords = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "compaction": "stop",
    "tool_use": "toolUse",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "error",
}


class Reader:
    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.open: dict[Any, Draft | None] = {}  # by index; None for blocks that a message cannot hold
        self.inputs: dict[Any, Any] = {}  # by index: the input in the start event of a call, if any
        self.citations: dict[Any, list[Any]] = {}  # by index, of texts
        self.pieces: dict[Any, list[str]] = {}  # by index: the streamed input of a server tool
        self.usage: dict[str, Any] = {}
        self.transformed: list[Mapping[str, Any]] = []
        self.stop: str | None = None
        self.why = ""

    def event(self, name: bytes, data: Any) -> None:
        act = _EVENTS.get(data.get("type") or name.decode("utf-8", "replace"))
        if act is not None:
            act(self, data)
        elif data.get("error"):  # from proxies that leave the type out
            self.error(data)

    def whole(self, body: Mapping[str, Any]) -> None:
        if body.get("type") == "error" or "content" not in body:
            self.error(body)
            return
        self.message_start({"message": body})
        for index, block in enumerate(body["content"] or ()):
            self.block_start({"index": index, "content_block": block})
            self.block_stop({"index": index})
        self.message_delta({"delta": body})
        self.message_stop(body)

    def end(self, marked: bool) -> None:
        # Only `message_stop` marks a complete stream. `[DONE]` is not part of this protocol, but proxies write it
        # instead.
        if not marked:
            self.answer.break_off()
        elif self.stop is not None:
            self.message_stop({})

    # -- events ------------------------------------------------------------------------------------------------------

    def message_start(self, data: Mapping[str, Any]) -> None:
        message = data.get("message") or {}  # missing in the first chunk of Bedrock's InvokeModel (pydantic-ai#5774)
        self.answer.response_id = message.get("id")
        self.answer.response_model = message.get("model")
        self.add_usage(message.get("usage"))
        self.read_transformations(message)
        self.answer.begin()

    def block_start(self, data: Mapping[str, Any]) -> None:
        block, index = data["content_block"], data.get("index")
        kind = block.get("type")
        make: Callable[[Answer, Any], Draft] = _BLOCKS.get(kind, _provider)
        self.open[index] = None if kind in _SILENT else make(self.answer, block)
        self.citations[index] = list(block.get("citations") or ())
        if block.get("input"):
            self.inputs[index] = block["input"]

    def block_delta(self, data: Mapping[str, Any]) -> None:
        index, delta = data.get("index"), data["delta"]
        kind = delta.get("type")
        draft = self.open.get(index)
        if draft is None and (draft := self.open_late(index, kind)) is None:
            return
        field = _DELTAS.get(kind)
        if type(draft) is ProviderDraft:
            self.provider_delta(index, kind, delta, draft)
        elif field is not None:
            draft.add(delta.get(field) or "")
        elif kind == "citations_delta" and type(draft) is TextDraft:
            self.citations.setdefault(index, []).append(delta["citation"])
        elif kind == "signature_delta" and type(draft) is ThinkingDraft:
            draft.sign(delta.get("signature"))
        else:
            self.answer.left_out(f"deltas of type {kind}")

    def provider_delta(self, index: Any, kind: Any, delta: Mapping[str, Any], draft: ProviderDraft) -> None:
        if kind == "input_json_delta":
            self.pieces.setdefault(index, []).append(str(delta.get("partial_json") or ""))
        elif kind == "compaction_delta":
            draft.set({**draft.raw, "content": delta.get("content")}, str(delta.get("content") or ""))
        else:
            self.answer.left_out(f"deltas of type {kind}")

    def open_late(self, index: Any, kind: str) -> Draft | None:
        """Open a block whose start event is missing; ``None`` for a block that is left out on purpose."""
        make = None if index in self.open else _OPENED_BY.get(kind)
        if make is not None:
            self.open[index] = make(self.answer)
        return self.open.get(index)

    def block_stop(self, data: Mapping[str, Any]) -> None:
        index = data.get("index")
        draft = self.open.get(index)
        if draft is not None:  # None: the block is left out
            del self.open[index]
            self.add_input(index, draft)
            draft.sign(citations_signature(self.citations.pop(index, [])))
            draft.end()

    def add_input(self, index: Any, draft: Draft) -> None:
        """Use the input from the start event of a call if no deltas followed, as the SDK does."""
        value = self.inputs.pop(index, None)
        if type(draft) is ProviderDraft:
            self.complete(index, draft)
        elif value and type(draft) is CallDraft and not draft.so_far:
            draft.whole(value)

    def complete(self, index: Any, draft: ProviderDraft) -> None:
        """Add the streamed input of a server tool to its block."""
        pieces = "".join(self.pieces.pop(index, ()))
        if pieces:
            arguments, _ = read_arguments(pieces)
            draft.set({**draft.raw, "input": arguments}, readable({**draft.raw, "input": arguments}))

    def message_delta(self, data: Mapping[str, Any]) -> None:
        delta = data.get("delta") or {}
        self.stop = delta.get("stop_reason") or self.stop
        details = delta.get("stop_details")
        if details:
            self.why = ": ".join(str(details[key]) for key in ("category", "explanation") if details.get(key))
        self.add_usage(data.get("usage"))
        self.read_transformations(data)

    def message_stop(self, data: Mapping[str, Any]) -> None:
        for index in [*self.inputs, *self.open]:  # blocks whose end is missing
            self.block_stop({"index": index})
        for entry in self.transformed:
            what = " ".join(str(entry[key]) for key in ("type", "reason") if entry.get(key))
            text = f"the provider changed the request before the model saw it: {what} at {entry.get('path')}"
            self.answer.note("input-transformed", text, dict(entry))
        if self.stop == "pause_turn":
            self.answer.note("paused", "the provider paused a long turn; the same history continues it")
        self.answer.finish(self.stop, STOPS, self.why)

    def error(self, data: Mapping[str, Any]) -> None:
        self.answer.fail(error_text(data))

    def read_transformations(self, data: Mapping[str, Any]) -> None:
        """Read ``input_transformations``: thinking in the request that was dropped or failed a check. "When streaming,
        the array is final in `message_start`; the final `message_delta` event carries it only when a server-side model
        fallback happened mid-stream, in which case it … replaces the one in `message_start`" (SDK anthropic 2.8.0,
        ``beta_raw_message_delta_event.py``). It is part of the beta ``thinking-binding-controls-2026-08-01``."""
        entries = data.get("input_transformations")
        if entries is not None:
            self.transformed = [dict(entry) for entry in entries]

    def add_usage(self, usage: Mapping[str, Any] | None) -> None:
        """Update the usage. It is cumulative: the last value of each field counts."""
        if not usage:
            return
        self.usage.update({name: count for name, count in usage.items() if count is not None})
        spent, made, read, written = (
            int(self.usage.get(name, 0))
            for name in ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
        )
        long = int((self.usage.get("cache_creation") or {}).get("ephemeral_1h_input_tokens") or 0)
        total = spent + made + read + written
        self.answer.usage = Usage(spent, made, read, written, total, cache_write_long=long)
        # `speed` is a tier of its own: fast answers have other prices (SDK anthropic 2.8.0, usage.py).
        self.answer.served("fast" if self.usage.get("speed") == "fast" else self.usage.get("service_tier"))


_EVENTS: dict[str, Callable[[Reader, Any], None]] = {
    "message_start": Reader.message_start,
    "content_block_start": Reader.block_start,
    "content_block_delta": Reader.block_delta,
    "content_block_stop": Reader.block_stop,
    "message_delta": Reader.message_delta,
    "message_stop": Reader.message_stop,
    "error": Reader.error,
    # `ping` and unknown events are ignored, as the documentation recommends.
}

_DELTAS = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}
_OPENED_BY: dict[str, Callable[[Answer], Draft]] = {
    "text_delta": Answer.text,
    "thinking_delta": Answer.thinking,
    "signature_delta": Answer.thinking,
    "input_json_delta": Answer.call,
}


# Blocks are empty at their start in a stream, and complete in a whole answer. Tools that the provider runs itself,
# their results and all new kinds of blocks are kept as they came.
_SILENT = frozenset({"fallback"})  # names the model that answers; it has no content


def _text(answer: Answer, block: Mapping[str, Any]) -> Draft:
    draft = answer.text()
    draft.add(block.get("text") or "")
    return draft


def _thinking(answer: Answer, block: Mapping[str, Any]) -> Draft:
    draft = answer.thinking(block.get("signature"))
    draft.add(block.get("thinking") or "")
    return draft


def _redacted(answer: Answer, block: Mapping[str, Any]) -> Draft:
    return answer.thinking(block.get("data"), redacted=True)


def _call(answer: Answer, block: Mapping[str, Any]) -> CallDraft:
    return answer.call(block.get("id"), block.get("name"))  # for its input see `Reader.add_input`


def _provider(answer: Answer, block: Mapping[str, Any]) -> Draft:
    return answer.provider(str(block.get("type")), dict(block), readable(block))


_BLOCKS: dict[str, Callable[[Answer, Any], Draft]] = {
    "text": _text,
    "thinking": _thinking,
    "redacted_thinking": _redacted,
    "tool_use": _call,
}
