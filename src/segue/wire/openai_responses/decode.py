"""Read answers of OpenAI Responses, streamed (each event has a ``type``; no reliable ``[DONE]``) or whole.

Events and fields are those of the SDK's ``types/responses/response_*_event.py`` (openai 3.49.0, 2026-11). The final
content of an item is in ``response.output_item.done`` ("the `encrypted_content` in `response.output_item.added` may be
incomplete", same place), or, if that is missing, in the response of the last event or in the ends of its parts. Deltas
are only for display. This file finds the item of an event and the end of the answer; the items are in ``items.py``.
"""

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from ...types import Usage
from ..common.answer import Answer, StopWords
from ..common.drafts import Draft
from ..common.reader import error_text
from .items import KINDS, Call, CustomCall, Hosted, Item, Message, Reasoning
from .shapes import kind_of

STOPS: StopWords = {
    "completed": "stop",
    "steered": "stop",  # "stopped at a safe output boundary": the answer continues in another response (SDK)
    "incomplete": "length",  # without a known reason: the answer is not complete, so its calls must not run
    "max_output_tokens": "length",
    "max_messages": "length",
    "content_filter": "error",
    "refusal": "error",  # our own word, for an answer with a refusal: its status is `completed`, too
    "cancelled": "error",
}
_ENDS = frozenset({"completed", "incomplete", "failed", "cancelled"})
_UNFINISHED = frozenset({"queued", "in_progress"})  # of background responses


class Reader:
    """The decoder of one answer."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.items: list[Item] = []
        # For each kind, the items by id, by `call_id` and by `output_index`. Gateways use one index for items of
        # several kinds, or ids that change from event to event, or announce no items (BerriAI/litellm#36375, 2026-08).
        self.tables: dict[type[Item], dict[Any, Item]] = {kind: {} for kind in (*KINDS.values(), Hosted)}
        self.messages, self.calls = self.tables[Message], self.tables[Call]
        self.waiting: Reasoning | None = None  # reasoning whose following item is not known yet
        self.drops_ids = False  # an item could not be recorded: those after it are stored without ids (OAR-08)
        self.refused: Draft | None = None

    def event(self, name: bytes, data: Any) -> None:
        handle = _EVENTS.get(data.get("type") or name.decode("utf-8", "replace"))
        if handle is not None:
            handle(self, data)
        elif data.get("error"):
            self.error(data)

    def whole(self, body: Mapping[str, Any]) -> None:
        if not isinstance(body.get("output"), list):
            self.answer.fail(error_text(body))
        elif body.get("status") in _UNFINISHED:
            self.read_response(body)
            self.answer.fail(f"the response is not finished: {body['status']}")
        else:
            self.read_end("completed", body)

    def end(self, marked: bool) -> None:
        if not marked:
            self.answer.break_off()

    # -- events ------------------------------------------------------------------------------------------------------

    def started(self, data: Mapping[str, Any]) -> None:
        self.read_response(data.get("response") or {})
        self.answer.begin()

    def text_delta(self, data: Mapping[str, Any]) -> None:
        item = self.messages.get(data.get("item_id")) or self.item_for(Message, data)
        if not item.finished:
            item.add(data.get("content_index") or 0, data.get("delta"))

    def refusal_delta(self, data: Mapping[str, Any]) -> None:
        item, part = self.item_for(Message, data), data.get("content_index") or 0
        if not item.finished:
            item.add(part, data.get("delta"))
            item.refuse(part)

    def summary_delta(self, data: Mapping[str, Any]) -> None:
        item = self.item_for(Reasoning, data)
        if not item.finished:
            item.add(("summary", data.get("summary_index")), data.get("delta"))

    def reasoning_delta(self, data: Mapping[str, Any]) -> None:
        item = self.item_for(Reasoning, data)
        if not item.finished:
            item.add(("content", data.get("content_index")), data.get("delta"))

    def arguments_delta(self, data: Mapping[str, Any]) -> None:
        item = self.calls.get(data.get("item_id")) or self.item_for(Call, data)
        if not item.finished:
            item.add(None, data.get("delta"))

    def text_done(self, data: Mapping[str, Any]) -> None:
        self.part_done(Message, data.get("content_index") or 0, data, "text")

    def refusal_done(self, data: Mapping[str, Any]) -> None:
        part = data.get("content_index") or 0
        item = self.part_done(Message, part, data, "refusal")
        if not item.finished:
            item.refuse(part)

    def summary_done(self, data: Mapping[str, Any]) -> None:
        self.part_done(Reasoning, ("summary", data.get("summary_index")), data, "text")

    def reasoning_done(self, data: Mapping[str, Any]) -> None:
        self.part_done(Reasoning, ("content", data.get("content_index")), data, "text")

    def arguments_done(self, data: Mapping[str, Any]) -> None:
        self.part_done(Call, None, data, "arguments")

    def part_done(self, kind: type[Item], part: Any, data: Mapping[str, Any], field: str) -> Item:
        """Read the complete text of a part of an item from ``field``."""
        item = self.item_for(kind, data)
        if not item.finished:
            item.complete(part, data.get(field))
        return item

    def input_delta(self, data: Mapping[str, Any]) -> None:
        item = self.item_for(CustomCall, data)
        if not item.finished:
            item.add(None, data.get("delta"))

    def input_done(self, data: Mapping[str, Any]) -> None:
        self.part_done(CustomCall, "input", data, "input")

    def item_added(self, data: Mapping[str, Any]) -> None:
        item = data.get("item")
        if item is None:  # some providers announce no items (SDK, lib/streaming/responses)
            return
        kind = KINDS.get(kind_of(item), Hosted)
        known = self.tables[kind].get(item.get("id"))
        if known is None or known.finished:
            self.open_item(kind, item, data.get("output_index"))

    def item_done(self, data: Mapping[str, Any]) -> None:
        item, index = data.get("item"), data.get("output_index")
        if item is None:
            return
        kind = KINDS.get(kind_of(item), Hosted)
        known = self.find_item(kind, item)
        if known is None:
            known = self.tables[kind].get(index)
            if known is None or known.finished:
                known = self.open_item(kind, item, index)
        if not known.finished:
            known.finish(item)

    def completed(self, data: Mapping[str, Any]) -> None:
        self.read_end("completed", data.get("response") or {})

    def incomplete(self, data: Mapping[str, Any]) -> None:
        self.read_end("incomplete", data.get("response") or {})

    def failed(self, data: Mapping[str, Any]) -> None:
        self.read_end("failed", data.get("response") or data)

    def cancelled(self, data: Mapping[str, Any]) -> None:
        self.read_end("cancelled", data.get("response") or {})

    def error(self, data: Mapping[str, Any]) -> None:
        """Read an error: flat, or nested, as over a websocket and behind gateways."""
        self.answer.fail(error_text(data))

    # -- finding items -----------------------------------------------------------------------------------------------

    def item_for(self, kind: type[Item], data: Mapping[str, Any]) -> Item:
        """Return the item of a delta; an item that was not announced begins with it. Finished items get no deltas."""
        item_id, index = data.get("item_id") or None, data.get("output_index")
        for table in (self.tables[kind], self.tables[Hosted]):
            if item_id in table:
                return table[item_id]
            item = table.get(index)
            if item is not None and not (item.finished and item_id):
                return item
        return self.open_item(kind, {"id": item_id}, index)

    def find_item(self, kind: type[Item], item: Mapping[str, Any]) -> Item | None:
        table = self.tables[kind]
        by_id = table.get(item["id"]) if item.get("id") else None
        return by_id or (table.get(item["call_id"]) if item.get("call_id") else None)

    def open_item(self, kind: type[Item], item: dict[str, Any], index: Any) -> Item:
        opened = kind(self, item)
        self.items.append(opened)
        table, item_id = self.tables[kind], item.get("id") or None
        for key in (index, item_id, item.get("call_id")):
            if key is not None:
                table[key] = opened
        if index is None and item_id is None:  # deltas without either belong to it
            table[None] = opened
        return opened

    # -- the end -----------------------------------------------------------------------------------------------------

    def read_response(self, response: Mapping[str, Any]) -> None:
        answer = self.answer
        answer.response_id = response.get("id") or answer.response_id
        answer.response_model = response.get("model") or answer.response_model
        if response.get("usage"):
            answer.usage = _usage(response["usage"])
        answer.served(response.get("service_tier"))

    def read_end(self, word: str, response: Mapping[str, Any]) -> None:
        """Read the last event. Some servers name it `completed`, with another status in the response."""
        self.read_response(response)
        status = response.get("status")
        word = status if status in _ENDS else word
        self.read_output(response.get("output") or [])
        if word == "failed":
            self.answer.fail(error_text(response.get("error") or word))
            return
        for item in self.items:
            if not item.finished:
                item.abandon()
        self.end_waiting(True)
        if self.refused is not None:
            self.answer.finish("refusal", STOPS, self.refused.so_far)
        else:
            self.answer.finish(self.stop_reason(response) if word == "incomplete" else word, STOPS)

    def stop_reason(self, response: Mapping[str, Any]) -> str:
        reason = (response.get("incomplete_details") or {}).get("reason")
        if reason is None or reason in STOPS:
            return reason or "incomplete"
        self.answer.note("unknown-stop-reason", f"the provider's stop reason is unknown: {reason}")
        return "incomplete"

    def read_output(self, output: list[Any]) -> None:
        """Finish items with the output of the last event, and add items that were not streamed.

        The list may be empty though items were streamed (BerriAI/litellm#32724, 2026-07), and ids in it may be new: the
        items of a kind that are left on both sides are matched in order.
        """
        kinds = [KINDS.get(kind_of(item), Hosted) for item in output]
        found = [self.find_item(kind, item) for kind, item in zip(kinds, output, strict=True)]
        matched = {id(item) for item in found}
        left: dict[type[Item], deque[Item]] = {kind: deque() for kind in self.tables}
        for item in self.items:
            if id(item) not in matched and not item.identified:
                left[type(item)].append(item)
        for at, kind in enumerate(kinds):
            if found[at] is None and left[kind]:
                found[at] = left[kind].popleft()
        last = max((at for at, item in enumerate(found) if item is not None), default=-1)
        for at, (kind, item, known) in enumerate(zip(kinds, output, found, strict=True)):
            if known is None:
                self.drops_ids = self.drops_ids or at < last  # out of order, so the items cannot be replayed
                known = self.open_item(kind, item, None)
            if not known.finished:
                known.finish(item)

    def end_waiting(self, recorded: bool) -> None:
        """End the wait of reasoning for the item that follows it, which was recorded or not."""
        if self.waiting is not None:
            waiting, self.waiting = self.waiting, None
            waiting.followed(recorded)


def _usage(counts: Mapping[str, Any]) -> Usage:
    """`input_tokens` includes tokens read from and written to the cache; `output_tokens` includes reasoning."""
    details = counts.get("input_tokens_details") or {}
    read, written = int(details.get("cached_tokens") or 0), int(details.get("cache_write_tokens") or 0)
    prompt, output = int(counts.get("input_tokens") or 0), int(counts.get("output_tokens") or 0)
    total = int(counts.get("total_tokens") or prompt + output)
    # A cache lives for 30 minutes or 12 hours (SDK openai 3.49.0, response_usage.py).
    long = int((details.get("cache_write_tokens_details") or {}).get("ttl_12h_tokens") or 0)
    return Usage(max(prompt - read - written, 0), output, read, written, total, cache_write_long=long)


_EVENTS: dict[str, Callable[[Reader, Any], None]] = {
    "response.output_text.delta": Reader.text_delta,
    "response.function_call_arguments.delta": Reader.arguments_delta,
    "response.reasoning_summary_text.delta": Reader.summary_delta,
    "response.reasoning_text.delta": Reader.reasoning_delta,
    "response.refusal.delta": Reader.refusal_delta,
    "response.custom_tool_call_input.delta": Reader.input_delta,
    "response.output_text.done": Reader.text_done,
    "response.refusal.done": Reader.refusal_done,
    "response.reasoning_summary_text.done": Reader.summary_done,
    "response.reasoning_text.done": Reader.reasoning_done,
    "response.function_call_arguments.done": Reader.arguments_done,
    "response.custom_tool_call_input.done": Reader.input_done,
    "response.output_item.added": Reader.item_added,
    "response.output_item.done": Reader.item_done,
    "response.created": Reader.started,
    "response.queued": Reader.started,
    "response.in_progress": Reader.started,
    "response.completed": Reader.completed,
    "response.done": Reader.completed,  # the name that some backends use
    "response.incomplete": Reader.incomplete,
    "response.failed": Reader.failed,
    "response.cancelled": Reader.cancelled,
    "error": Reader.error,
    # Ignored: `content_part` and `reasoning_summary_part` (their texts have their own events), annotations, audio, the
    # progress of tools that the provider runs itself, `keepalive`, and unknown events.
}
