"""Write answers of OpenAI Responses.

Events and fields are those of the SDK's ``types/responses/response*.py`` (openai 3.49.0, 2026-11). Each block is an
item. An item keeps the id with which it was announced: the SDK refuses one that changes. Blocks of this protocol whose
ids are known at their beginning keep them; all others get ids that are derived from the answer's.
"""

from collections.abc import Sequence
from typing import Any, assert_never

from ...types import AssistantContent, AssistantMessage, ProviderContent, TextContent, ThinkingContent, ToolCall
from ..common.dataurl import to_json
from ..common.openai_errors import ERRORS, TYPES, openai_error
from ..common.writing import (
    AnswerForm,
    Body,
    Failed,
    Head,
    Kind,
    StreamWriter,
    input_of,
    split_usage,
    sse,
    stop_of,
    written_arguments,
)
from .replay import annotations_of, message_of, reasoning_item
from .shapes import ID_PREFIXES, ITEMS, Item, is_item_id

APART = "\n\n"
"""Joins the parts of a summary."""
_ECHOED: Body = {
    # The fields of a response that repeat the request, with their defaults.
    "background": False,
    "instructions": None,
    "max_output_tokens": None,
    "max_tool_calls": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "previous_response_id": None,
    "prompt_cache_key": None,
    "reasoning": {"effort": None, "summary": None},
    "safety_identifier": None,
    "service_tier": "default",
    "store": True,
    "temperature": 1.0,
    "text": {"format": {"type": "text"}},
    "tool_choice": "auto",
    "tools": [],
    "top_logprobs": 0,
    "top_p": 1.0,
    "truncation": "disabled",
    "user": None,
}


_EMPTY: dict[str, Item] = {
    # What is empty in an item when it is announced.
    "message": {"content": []},
    "function_call": {"arguments": ""},
    "custom_tool_call": {"input": ""},
}
_GROWING = {"function_call": "function_call_arguments", "custom_tool_call": "custom_tool_call_input"}
"""The events that fill a call."""


class Writer(StreamWriter):
    """Writes one answer as a stream."""

    def begin(self, message: AssistantMessage) -> None:
        self._items: list[Item] = []
        self._ids: set[str] = set()
        self._number = 0
        self._text: list[str] = []  # of the open part
        self._summary: list[str] = []  # the finished parts of the open summary
        self._parts: list[int] = []  # the lengths of its parts, where they are known before they are written
        self._part = self._skip = 0
        started = response(self.head, "in_progress", [])
        self._emit("created", response=started)
        self._emit("in_progress", response=started)

    def holds(self, block: AssistantContent) -> bool:
        return _holds(self.head, block)

    # -- items -------------------------------------------------------------------------------------------------------

    def open(self, number: int, block: AssistantContent) -> None:
        if isinstance(block, ProviderContent):
            self._items.append(block.value)
            self._emit("output_item.added", output_index=number, item=self._items[-1])
            return
        item = self._announced(number, block)
        self._ids.add(item["id"])
        self._items.append(item)
        self._text = []
        self._emit("output_item.added", output_index=number, item=item)
        if isinstance(block, TextContent):
            self._of_item("content_part.added", content_index=0, part=_text_part(""))
        elif isinstance(block, ThinkingContent):
            stored = reasoning_item(block) if self.head.own else None
            texts = [part["text"] for part in (stored or {}).get("summary") or []]
            self._parts = [len(text) for text in texts] if APART.join(texts) == block.thinking else []
            self._summary, self._part, self._skip = [], 0, 0

    def _announced(self, number: int, block: AssistantContent) -> Item:
        """The item as it is announced: without its content, and with an id that no other item has."""
        item = item_of(self.head, number, block)
        if self.head.own and is_item_id(item["type"], self.item_id):
            item["id"] = self.item_id
        if item["id"] in self._ids:
            item["id"] = self.head.derived_id(f"{ID_PREFIXES[item['type']]}_", number)
        if item["type"] == "reasoning":
            # "The `encrypted_content` in `response.output_item.added` may be incomplete" (SDK, reasoning item).
            return item | {"summary": [], "encrypted_content": (item["encrypted_content"] or "")[:12] or None}
        return item | _EMPTY[item["type"]] | {"status": "in_progress"}

    def add(self, number: int, kind: Kind, delta: str) -> None:
        if kind == "thinking":
            self._add_summary(delta)
        elif kind == "text":
            self._text.append(delta)
            self._of_item("output_text.delta", content_index=0, delta=delta, logprobs=[])
        else:
            self._text.append(delta)
            self._of_item(f"{_GROWING[self._items[-1]['type']]}.delta", delta=delta)

    def close(self, number: int, block: AssistantContent | None) -> None:
        """End an item. If its block ends here, its content is final; otherwise it is what was written so far."""
        item = self._items[-1]
        if isinstance(block, ProviderContent):
            self._emit("output_item.done", output_index=number, item=item)
            return
        final = {} if block is None else item_of(self.head, number, block)
        if number in self.continued:  # the final content is in several items
            final = {name: final[name] for name in ("phase", "encrypted_content") if name in final}
        if self.is_cut:  # "One of `in_progress`, `completed`, or `incomplete`" (SDK, all three kinds of items)
            final = {"status": "incomplete"}
        if item["type"] == "reasoning":
            self._end_part()
            done = {"summary": [_summary_part(text) for text in self._summary], "encrypted_content": None} | final
        else:
            text = "".join(self._text)
            done = {"status": "completed"} | final
            if item["type"] == "message":
                done.setdefault("content", [_text_part(text)])
                part = done["content"][0]
                self._of_item("output_text.done", content_index=0, text=part["text"], logprobs=[])
                self._of_item("content_part.done", content_index=0, part=part)
            else:
                field = "input" if item["type"] == "custom_tool_call" else "arguments"
                if field == "arguments":
                    done[field] = written_arguments(text, block) if isinstance(block, ToolCall) else text
                self._of_item(f"{_GROWING[item['type']]}.done", **{field: done[field]})
        self._items[-1] = item | done | {"id": item["id"]}
        self._emit("output_item.done", output_index=number, item=self._items[-1])

    def free_text(self, call: ToolCall) -> str:
        return input_of(call)

    def late(self, number: int, block: AssistantContent) -> None:
        """The last event has the encrypted content of reasoning that was finished after the next item had begun."""
        if isinstance(block, ThinkingContent):
            content = item_of(self.head, number, block).get("encrypted_content")
            self._items[number] = self._items[number] | {"encrypted_content": content}

    # -- reasoning ---------------------------------------------------------------------------------------------------

    def _add_summary(self, delta: str) -> None:
        """Add to the summary. Text between two parts belongs to neither."""
        while delta:
            skipped = min(self._skip, len(delta))
            self._skip -= skipped
            delta = delta[skipped:]
            room = self._parts[self._part] if self._part < len(self._parts) - 1 else len(delta)
            piece, delta = delta[:room], delta[room:]
            if piece:
                if not self._text:
                    self._of_item("reasoning_summary_part.added", summary_index=self._part, part=_summary_part(""))
                self._text.append(piece)
                self._of_item("reasoning_summary_text.delta", summary_index=self._part, delta=piece)
            if self._part < len(self._parts) - 1:
                self._parts[self._part] -= len(piece)
                if not self._parts[self._part]:
                    self._end_part()

    def _end_part(self) -> None:
        if self._text:
            text = "".join(self._text)
            self._of_item("reasoning_summary_text.done", summary_index=self._part, text=text)
            self._of_item("reasoning_summary_part.done", summary_index=self._part, part=_summary_part(text))
            self._summary.append(text)
        self._text = []
        self._part += 1
        self._skip = len(APART)

    # -- the end -----------------------------------------------------------------------------------------------------

    def end(self, message: AssistantMessage, refusal: str | None) -> None:
        if refusal and not _is_last_text(message, refusal):
            self._refuse(refusal)
        ended = finished(self.head, self._items, message, refusal)
        self._emit(ended["status"], response=ended)

    def _refuse(self, refusal: str) -> None:
        """Write a refusal that is not a block of the answer as a message of its own."""
        number = len(self._items)
        item = refusal_item(self.head, number, refusal)
        self._items.append(item | {"content": [], "status": "in_progress"})
        self._emit("output_item.added", output_index=number, item=self._items[-1])
        self._of_item("content_part.added", content_index=0, part=_refusal_part(""))
        self._of_item("refusal.delta", content_index=0, delta=refusal)
        self._of_item("refusal.done", content_index=0, refusal=refusal)
        self._of_item("content_part.done", content_index=0, part=_refusal_part(refusal))
        self._items[-1] = item
        self._emit("output_item.done", output_index=number, item=item)

    def fail(self, message: AssistantMessage, failed: Failed) -> None:
        ended = response(self.head, "failed", self._items) | {"error": _response_error(failed)}
        self._emit("failed", response=ended)

    def _of_item(self, name: str, **fields: Any) -> None:
        """Emit an event of the last item."""
        self._emit(name, item_id=self._items[-1]["id"], output_index=len(self._items) - 1, **fields)

    def _emit(self, name: str, **fields: Any) -> None:
        name = f"response.{name}"
        self.frames.append((name, {"type": name, "sequence_number": self._number, **fields}))
        self._number += 1


# -- items -----------------------------------------------------------------------------------------------------------


def item_of(head: Head, number: int, block: AssistantContent) -> Item:
    """The finished item for a block."""
    if isinstance(block, TextContent):
        item_id, phase = message_of(block.text_signature) if head.own else (None, None)
        item: Item = {
            "id": item_id or head.derived_id("msg_", number),
            "type": "message",
            "status": "completed",
            "role": "assistant",
            "content": [_text_part(block.text, annotations_of(block) if head.own else [])],
        }
        return item if phase is None else item | {"phase": phase}
    if isinstance(block, ThinkingContent):
        return _reasoning(head, number, block)
    if isinstance(block, ToolCall):
        return _call(head, number, block)
    if isinstance(block, ProviderContent):
        raw: Item = block.value
        return raw
    assert_never(block)


def _call(head: Head, number: int, block: ToolCall) -> Item:
    kind = "custom_tool_call" if block.kind == "custom" else "function_call"
    item_id = block.thought_signature if head.own else None
    item = {
        "id": item_id if is_item_id(kind, item_id) else head.derived_id(f"{ID_PREFIXES[kind]}_", number),
        "type": kind,
        "status": "completed",
        "call_id": head.call_id(block.id),
        "name": block.name,
        **({} if block.namespace is None else {"namespace": block.namespace}),
    }
    if block.kind == "custom":
        return item | {"input": input_of(block)}
    return item | {"arguments": to_json(block.arguments).decode()}


def _reasoning(head: Head, number: int, block: ThinkingContent) -> Item:
    """The stored item, or one whose summary is the text."""
    stored = reasoning_item(block) if head.own else None
    if stored is not None:
        return stored
    text = "" if block.redacted else block.thinking
    return {
        "id": head.derived_id("rs_", number),
        "type": "reasoning",
        "summary": [_summary_part(text)] if text else [],
        "encrypted_content": None if head.own else head.seal(block),
    }


def refusal_item(head: Head, number: int, refusal: str) -> Item:
    """A message that is a refusal."""
    return {
        "id": head.derived_id("msg_", number),
        "type": "message",
        "status": "completed",
        "role": "assistant",
        "content": [_refusal_part(refusal)],
    }


def _holds(head: Head, block: AssistantContent) -> bool:
    """Reasoning needs a text or encrypted content. Provider content belongs to the protocol that it came in; clients
    cannot read kinds that they do not know."""
    if isinstance(block, ProviderContent):
        return head.own and block.kind in ITEMS
    if not isinstance(block, ThinkingContent):
        return True
    item = _reasoning(head, 0, block)
    return bool(item.get("summary") or item.get("encrypted_content") or item.get("content"))


def _text_part(text: str, annotations: Sequence[Any] = ()) -> Body:
    return {"type": "output_text", "text": text, "annotations": list(annotations), "logprobs": []}


def _refusal_part(text: str) -> Body:
    return {"type": "refusal", "refusal": text}


def _summary_part(text: str) -> Body:
    return {"type": "summary_text", "text": text}


# -- responses -------------------------------------------------------------------------------------------------------


def whole(head: Head, message: AssistantMessage, refusal: str | None) -> Body:
    """The whole answer."""
    items: list[Item] = []
    for number, block in enumerate(message.content):
        if _holds(head, block):
            item = item_of(head, number, block)
            if items and items[-1]["id"] == item["id"] and item["type"] == "message":
                items[-1]["content"] += item["content"]  # parts of one message
            else:
                items.append(item)
    if refusal and not _is_last_text(message, refusal):
        items.append(refusal_item(head, len(message.content), refusal))
    return finished(head, items, message, refusal)


def finished(head: Head, items: list[Item], message: AssistantMessage, refusal: str | None) -> Body:
    """The response at the end of an answer. If it was cut, its last item is incomplete."""
    reason = _why_incomplete(message, items, refusal)
    if stop_of(message) == "length" and items and "status" in items[-1]:
        items = [*items[:-1], items[-1] | {"status": "incomplete"}]
    ended = response(head, "completed" if reason is None else "incomplete", items)
    if reason is not None:
        ended["incomplete_details"] = {"reason": reason}
    prompt, output = split_usage(message)
    ended["usage"] = {
        "input_tokens": prompt,
        "input_tokens_details": {
            "cached_tokens": message.usage.cache_read,
            "cache_write_tokens": message.usage.cache_write,
        },
        "output_tokens": output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": message.usage.total_tokens or prompt + output,
    }
    return ended


def _why_incomplete(message: AssistantMessage, items: list[Item], refusal: str | None) -> str | None:
    if stop_of(message) == "length":
        return "max_output_tokens"
    parts = [part for item in items for part in item.get("content") or []]
    explained = any(part["type"] == "refusal" for part in parts)
    return "content_filter" if refusal is not None and not explained else None


def _is_last_text(message: AssistantMessage, refusal: str) -> bool:
    """Whether the answer has the refusal as its last text already."""
    texts = [block.text for block in message.content if isinstance(block, TextContent)]
    return bool(texts) and texts[-1] == refusal


def response(head: Head, status: str, output: list[Item]) -> Body:
    """The response object of all events."""
    echoed = {name: head.request.get(name, default) for name, default in _ECHOED.items()}
    return {
        "id": head.id,
        "object": "response",
        "created_at": head.created,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "model": head.model,
        "output": output,
        "usage": None,
        **{name: _ECHOED[name] if value is None else value for name, value in echoed.items()},
    }


# -- errors ----------------------------------------------------------------------------------------------------------


def error(status: int, kind: str, text: str) -> Body:
    """The body of an error."""
    return openai_error(kind, text)


def _response_error(failed: Failed) -> Body:
    """The error in a failed response. Its code is a code of errors, or `server_error`."""
    kind = ERRORS[failed.kind][1]
    return {"code": kind if kind in TYPES else "server_error", "message": failed.text}


ANSWER_FORM = AnswerForm(
    id_prefix="resp_",
    writer=Writer,
    whole=whole,
    frame=sse,
    keepalive=lambda head: b": keepalive\n\n",
    errors=ERRORS,
    error=error,
    overflow="Your input exceeds the context window of this model",
)
