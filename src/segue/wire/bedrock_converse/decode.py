"""Answers of Converse (whole) and ConverseStream (named events in binary frames, see ``frames.py``; no ``[DONE]``).

Events and fields as in botocore 1.44.0, ``ConverseStreamOutput``. Bytes are base64 text on the wire, and the encoder
sends them back in that form. Blocks of text and reasoning begin with their first delta; only calls have a start.
"""

from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from typing import Any

from ...types import Usage
from ..common.answer import Answer, StopWords
from ..common.arguments import read_arguments
from ..common.drafts import CallDraft, Draft, ProviderDraft, TextDraft, ThinkingDraft
from ..common.reader import error_text
from .server_blocks import citations_signature, kind_of_block, readable

STOPS: StopWords = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "toolUse",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "guardrail_intervened": "error",
    "content_filtered": "error",
    "malformed_model_output": "error",
    "malformed_tool_use": "error",
}


class Reader:
    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        # By contentBlockIndex. Proxies leave it out (hermes-agent#115290, 2026-09): then the key is None, and events
        # without an index belong to the open block.
        self.open: dict[int | None, Draft] = {}
        self.pieces: dict[int | None, list[str]] = {}  # the streamed input of server tools
        self.citations: dict[int | None, list[Any]] = {}  # of texts
        self.stopped = False
        self.stop: str | None = None
        self.why = ""

    def event(self, name: bytes, data: Any) -> None:
        act = _EVENTS.get(name)
        if act is not None:
            act(self, data)
        elif b":" in name or name.endswith(b"Exception"):  # proxies send exceptions as events
            self.failed(name.rpartition(b":")[2].decode("utf-8", "replace"), data)
        # `initial-response` and unknown events are ignored.

    def whole(self, body: Mapping[str, Any]) -> None:
        output = body.get("output")
        if not isinstance(output, dict):
            self.failed("", body)
            return
        self.answer.begin()
        message = output.get("message") or {}
        for index, block in enumerate(message.get("content") or ()):
            for kind, value in block.items():  # a union: one member
                read = _BLOCKS.get(kind)
                if read is not None:
                    read(self, index, value)
                elif value and kind in _KEPT:
                    self.provider(index, kind, value)
                elif value:
                    self.answer.left_out(kind)
            self.block_stop({"contentBlockIndex": index})
        self.message_stop(body)
        self.metadata(body)
        self.end(marked=False)

    def end(self, marked: bool) -> None:
        if marked:
            return
        if self.stopped:  # only `metadata` is missing
            self.finish()
        else:
            self.answer.break_off()

    # -- events ------------------------------------------------------------------------------------------------------

    def message_start(self, data: Mapping[str, Any]) -> None:
        self.answer.begin()

    def block_start(self, data: Mapping[str, Any]) -> None:
        # Some proxies also send an empty start for a text (mulgadc/spinifex#844, 2026-08).
        start = data.get("start") or {}
        if start.get("toolUse"):
            self.call(data.get("contentBlockIndex"), start["toolUse"])
        for kind in start.keys() & _KEPT:
            self.provider(data.get("contentBlockIndex"), kind, start[kind])
        for kind in start.keys() - _KEPT - {"toolUse", "text"}:
            self.answer.left_out(kind)

    def block_delta(self, data: Mapping[str, Any]) -> None:
        for kind, value in (data.get("delta") or {}).items():  # a union: one member
            add = _DELTAS.get(kind)
            if add is not None:
                add(self, data.get("contentBlockIndex"), value)
            elif value and kind in _KEPT:
                self.more(data.get("contentBlockIndex"), kind, value)
            elif value:
                self.answer.left_out(kind)

    def block_stop(self, data: Mapping[str, Any]) -> None:
        index = data.get("contentBlockIndex")
        draft = self.open.pop(index, None)
        if type(draft) is ProviderDraft:
            self.complete(index, draft)
        if type(draft) is TextDraft:
            draft.sign(citations_signature(self.citations.pop(index, [])))
        if draft is not None:
            draft.end()

    def message_stop(self, data: Mapping[str, Any]) -> None:
        self.stopped = True
        word = data.get("stopReason")
        self.stop = None if word is None else str(word)
        self.finish_if_complete()

    def metadata(self, data: Mapping[str, Any]) -> None:
        """Read the usage, after ``messageStop``. There may be several such events (opencode#38712)."""
        self.add_usage(data.get("usage"))
        self.answer.served((data.get("serviceTier") or {}).get("type"))
        trace = data.get("trace") or {}
        self.why = (trace.get("guardrail") or {}).get("actionReason") or self.why
        routed = (trace.get("promptRouter") or {}).get("invokedModelId")
        self.answer.response_model = routed or self.answer.response_model
        self.finish_if_complete()

    def failed(self, kind: str, data: Mapping[str, Any]) -> None:
        """Read the body of an error, or an exception in the stream. Some include the model's own message."""
        kind = kind or str(data.get("__type") or "").partition(":")[0].rpartition("#")[2]  # "com.amazon.coral#Kind:…"
        text = error_text({**data, "type": kind})
        original = data.get("originalMessage")
        self.answer.fail(f"{text}: {original}" if original and original != data.get("message") else text)

    def finish_if_complete(self) -> None:
        if self.stopped and self.answer.usage is not None:
            self.finish()

    def finish(self) -> None:
        for index in list(self.open):  # proxies leave out the ends of blocks
            self.block_stop({"contentBlockIndex": index})
        if any(self.citations.values()):
            self.answer.left_out("citations without a text")
        self.answer.finish(self.stop, STOPS, self.why)

    def add_usage(self, usage: Mapping[str, Any] | None) -> None:
        if not usage:
            return
        spent, made, read, written = (
            int(usage.get(name) or 0)
            for name in ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheWriteInputTokens")
        )  # inputTokens is without the cache
        total = int(usage.get("totalTokens") or 0) or spent + made + read + written
        details = usage.get("cacheDetails") or ()
        long = sum(int(entry.get("inputTokens") or 0) for entry in details if entry.get("ttl") == "1h")
        self.answer.usage = Usage(spent, made, read, written, total, cache_write_long=long)

    # -- blocks ------------------------------------------------------------------------------------------------------

    def text(self, index: int | None, text: str) -> None:
        draft = self.open.get(index)
        if type(draft) is not TextDraft:
            if not text:
                return
            draft = self.open[index] = self.beginning(index).text()
        draft.add(text)

    def call(self, index: int | None, use: Mapping[str, Any]) -> None:
        """Read a call, or its start. A call of a server tool has a ``type``."""
        if use.get("type"):
            self.provider(index, "toolUse", use)
            return
        self.open[index] = self.beginning(index).call(use.get("toolUseId"), use.get("name"))
        self.arguments(index, use)

    def arguments(self, index: int | None, use: Mapping[str, Any]) -> None:
        draft = self.open.get(index)
        if type(draft) is ProviderDraft:
            self.pieces.setdefault(index, []).append(str(use.get("input") or ""))
            return
        if type(draft) is not CallDraft:
            draft = self.open[index] = self.beginning(index).call()
        if not draft.name:  # Kimi K2.5 names its calls in a delta (strands-agents/harness-sdk#2077, 2026-04)
            draft.id = draft.id or use.get("toolUseId") or ""
            draft.name = use.get("name") or ""
        draft.whole(use.get("input"))

    def reasoning(self, index: int | None, reasoning: Mapping[str, Any]) -> None:
        text, signature = reasoning.get("text"), reasoning.get("signature")
        payload = reasoning.get("redactedContent")
        draft = self.open.get(index)
        if payload:
            if type(draft) is ThinkingDraft and draft.redacted:
                draft.sign_more(payload, _joined)
            else:
                self.open[index] = self.beginning(index).thinking(payload, redacted=True)
        if not text and not signature:
            return
        if type(draft) is not ThinkingDraft or draft.redacted:
            draft = self.open[index] = self.beginning(index).thinking()
        draft.add(text or "")
        if signature and [signature] != draft.signed:  # Claude sends it in one piece; strands joins pieces
            draft.sign_more(signature)

    def citation(self, index: int | None, citation: Any) -> None:
        self.citations.setdefault(index, []).append(citation)

    def provider(self, index: int | None, member: str, value: Any) -> ProviderDraft:
        """Read a block that only the provider can read back, or its start."""
        raw = {member: dict(value) if isinstance(value, Mapping) else value}
        draft = self.beginning(index).provider(kind_of_block(raw), raw, readable(raw))
        self.open[index] = draft
        return draft

    def more(self, index: int | None, member: str, value: Any) -> None:
        """Add a delta to such a block."""
        draft = self.open.get(index)
        if type(draft) is not ProviderDraft:
            draft = self.provider(index, member, {})
        inner = draft.raw.get(member) or {}
        if isinstance(value, Mapping):
            inner = {**inner, **value}
        else:
            inner = {**inner, "content": [*inner.get("content", ()), *value]}
        draft.set({**draft.raw, member: inner}, readable({member: inner}))

    def complete(self, index: int | None, draft: ProviderDraft) -> None:
        """Add the streamed input of a server tool to its call."""
        pieces = "".join(self.pieces.pop(index, ()))
        if pieces:
            use = {**draft.raw["toolUse"], "input": read_arguments(pieces)[0]}
            draft.set({"toolUse": use}, readable({"toolUse": use}))

    def beginning(self, index: int | None) -> Answer:
        """End the open block at this index, and return the answer for a new one."""
        before = self.open.pop(index, None)
        if before is not None:
            before.end()
        return self.answer


_KEPT = frozenset({"toolResult", "image", "audio"})
"""Blocks that are kept as they came, besides the calls of server tools."""


def _joined(pieces: list[str]) -> str:
    """Join pieces of base64. Pieces that are not base64 are joined as text."""
    try:
        return b64encode(b"".join(map(b64decode, pieces))).decode()
    except ValueError:
        return "".join(pieces)


_EVENTS: dict[bytes, Callable[[Reader, Any], None]] = {
    b"messageStart": Reader.message_start,
    b"contentBlockStart": Reader.block_start,
    b"contentBlockDelta": Reader.block_delta,
    b"contentBlockStop": Reader.block_stop,
    b"messageStop": Reader.message_stop,
    b"metadata": Reader.metadata,
}

# Other deltas belong to blocks that only the provider can read back: `toolResult` (of server tools), `image`.
_DELTAS: dict[str, Callable[[Reader, int | None, Any], None]] = {
    "text": Reader.text,
    "toolUse": Reader.arguments,
    "reasoningContent": Reader.reasoning,
    "citation": Reader.citation,
}


# Blocks of whole answers. Only the provider can read others back.


def _reasoning(reader: Reader, index: int, value: Mapping[str, Any]) -> None:
    reader.reasoning(index, value.get("reasoningText") or value)


def _cited(reader: Reader, index: int, value: Mapping[str, Any]) -> None:
    """Read text with citations. In a stream it arrives as text deltas."""
    for citation in value.get("citations") or ():
        reader.citation(index, citation)
    for piece in value.get("content") or ():
        reader.text(index, piece.get("text") or "")


_BLOCKS: dict[str, Callable[[Reader, int, Any], None]] = {
    "text": Reader.text,
    "citationsContent": _cited,
    "toolUse": Reader.call,
    "reasoningContent": _reasoning,
}
