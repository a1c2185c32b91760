"""Read answers of Mistral's chat completions, streamed (chunks without a name, then ``[DONE]``) or whole.

Fields are those of the SDK's ``models/completionchunk.py`` and related files (mistralai 3.7.0, 2026-11).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...dialects import REASONING_FIELDS
from ...types import Usage
from ...types.codec import json_text
from ..common.answer import Answer, StopWords
from ..common.call_deltas import CallDeltas
from ..common.drafts import Draft, TextDraft, ThinkingDraft
from ..common.reader import error_text

Object = Mapping[str, Any]

STOPS: StopWords = {
    "stop": "stop",
    "tool_calls": "toolUse",
    "length": "length",
    "model_length": "length",  # the context window is full
    "error": "error",
    "content_filter": "error",  # if another cloud serves the models
}


class Reader:
    """The decoder of one answer."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.calls = CallDeltas(answer)
        self.draft: Draft | None = None  # the text or thinking that is being streamed
        self.stop: str | None = None

    def event(self, name: bytes, data: Any) -> None:
        if "choices" not in data or data.get("error"):
            self.read_other(name, data)
            return
        if self.answer.response_id is None:
            self.read_head(data)
        if data.get("usage"):
            self.read_usage(data["usage"])
        for choice in data["choices"] or ():
            if choice.get("index"):
                self.answer.left_out("a second answer")
            else:
                self.read_message(choice.get("delta") or _NOTHING, self.calls.add)
                self.stop = choice.get("finish_reason") or self.stop

    def whole(self, body: Object) -> None:
        if body.get("error") or not body.get("choices"):
            self.answer.fail(error_text(body))
            return
        self.read_head(body)
        if body.get("usage"):
            self.read_usage(body["usage"])
        choice = body["choices"][0]
        for message in choice.get("messages") or [choice.get("message") or _NOTHING]:
            self.read_message(message, self.calls.whole)
        self.answer.finish(choice.get("finish_reason"), STOPS)

    def end(self, marked: bool) -> None:
        # The chunk with the finish reason also has the usage, so an answer without `[DONE]` is complete.
        if self.stop is None:
            self.answer.break_off()
        else:
            self.answer.finish(self.stop, STOPS)

    # -- pieces of an answer -----------------------------------------------------------------------------------------

    def read_head(self, data: Object) -> None:
        self.answer.response_id = data.get("id")
        self.answer.response_model = data.get("model")
        self.answer.begin()

    def read_other(self, name: bytes, data: Object) -> None:
        """Read an event that is not a chunk: an error in one of its forms; anything else is ignored."""
        if name == b"error" or any(data.get(key) for key in ("error", "message", "detail")):
            self.answer.fail(error_text(data))

    def read_message(self, message: Object, read_calls: Callable[[Sequence[Object]], Any]) -> None:
        """Read a delta or a whole message."""
        if not _KNOWN.issuperset(message):
            self.read_unknown(message)
        if message.get("role") == "tool":
            self.answer.left_out("the result of a tool that the provider ran")
            return
        content = message.get("content")
        if content:
            if type(content) is str:
                self.add_text(content)
            else:
                for chunk in content:
                    read = _CHUNKS.get(chunk.get("type"))
                    if read is not None:
                        read(self, chunk)
                    else:
                        self.answer.left_out(f"{chunk.get('type')} in the content")
        if message.get("tool_calls"):
            self.end_block()
            read_calls(message["tool_calls"])

    def read_unknown(self, message: Object) -> None:
        """Read fields that the SDK does not know. Gateways and other hosts use the reasoning fields of chat
        completions. If the content has thinking, too, that is used, as the provider's own form."""
        content = message.get("content")
        thinks = type(content) is list and any(chunk.get("type") == "thinking" for chunk in content)
        for name in REASONING_FIELDS:
            if (thought := message.get(name)) and not thinks:
                draft = self.draft
                if type(draft) is not ThinkingDraft or draft.signature:
                    draft = self.begin_block(self.answer.thinking)
                draft.add(thought)
                break
        for name in message.keys() - _KNOWN - {*REASONING_FIELDS}:
            if message[name]:
                self.answer.left_out(name)

    def add_text(self, text: str) -> None:
        self.text_draft().add(text)

    def text_draft(self) -> Draft:
        """The text that is being streamed, or a new one."""
        if type(self.draft) is not TextDraft:
            return self.begin_block(self.answer.text)
        return self.draft

    def text_chunk(self, chunk: Object) -> None:
        if chunk.get("text"):
            self.add_text(chunk["text"])

    def reference_chunk(self, chunk: Object) -> None:
        """Read references to results of tools: they are the citations of the text, each with its place in the text.
        Some have the text that they are about (langchain#37008, 2026-04)."""
        draft, text = self.text_draft(), chunk.get("text")
        if text:
            draft.add(text)
        named = {"type": "reference", "reference_ids": list(chunk.get("reference_ids") or ())}
        draft.sign_more(json_text([named | {"index": draft.length}]), _one_list)

    def thinking_chunk(self, chunk: Object) -> None:
        """Read thinking: a list of chunks, or a string in mistral-common; the signature is new in mistralai 3.7."""
        thought: Any = chunk.get("thinking") or ""
        signature = chunk.get("signature")
        if type(thought) is not str:
            if any(part.get("type", "text") != "text" for part in thought):
                self.answer.left_out("references in thinking")
            thought = "".join(part["text"] for part in thought if part.get("text"))
        draft = self.draft
        if type(draft) is not ThinkingDraft or (draft.signature and (thought or signature)):
            if not thought and not signature:
                return
            draft = self.begin_block(self.answer.thinking)
        draft.add(thought)
        draft.sign(signature)

    def begin_block(self, make: Callable[[], Draft]) -> Draft:
        """End the current block, and begin another."""
        self.end_block()
        self.draft = draft = make()
        return draft

    def end_block(self) -> None:
        """End the current block, if there is one."""
        if self.draft is not None:
            self.draft.end()
        self.draft = None

    def read_usage(self, usage: Object) -> None:
        prompt, output = usage.get("prompt_tokens") or 0, usage.get("completion_tokens") or 0
        read = min(_cached(usage), prompt)
        self.answer.usage = Usage(prompt - read, output, read, 0, usage.get("total_tokens") or prompt + output)


def _one_list(lists: list[str]) -> str:
    """Lists in JSON, which are not empty, as one."""
    return f"[{','.join(each[1:-1] for each in lists)}]"


_NOTHING: Object = {}
# The known fields of a delta or a message (mistralai 3.7.0, `DeltaMessage` and `AssistantMessage`).
_KNOWN = frozenset({"role", "content", "tool_calls", "prefix", "name", "tool_call_id", "index", "metadata"})

# Chunks of other kinds are left out: images, documents, audio, resources.
_CHUNKS: dict[str, Callable[[Reader, Any], None]] = {
    "text": Reader.text_chunk,
    "thinking": Reader.thinking_chunk,
    "reference": Reader.reference_chunk,
}


def _cached(usage: Object) -> int:
    """Tokens read from the cache, which Mistral reports in three places (vercel/ai#14382, 2026-04)."""
    for details in (usage, usage.get("prompt_tokens_details"), usage.get("prompt_token_details")):
        if details:
            count = details.get("num_cached_tokens") or details.get("cached_tokens")
            if count:
                return int(count)
    return 0
