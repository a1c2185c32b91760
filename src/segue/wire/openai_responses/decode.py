"""Answers of OpenAI Responses, streamed (each event says its ``type``; no reliable ``[DONE]``) and whole.

Events and fields as in the SDK's ``types/responses/response_*_event.py`` (openai 3.49.0, 2026-11). What an item is,
``response.output_item.done`` says ("the `encrypted_content` in `response.output_item.added` may be incomplete", same
place), and where that is missing, the response in the last event or the ends of its parts; deltas are for watching. The
items are in ``items.py``; which of them an event means, and how the answer ends, is here.
"""

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from ...types import Usage
from ..common.answer import Answer, Draft, StopWords
from ..common.reader import error_text
from .items import KINDS, Call, CustomCall, Item, Message, Reasoning, Skipped
from .shapes import kind_of

STOPS: StopWords = {
    "completed": "stop",
    "steered": "stop",  # "stopped at a safe output boundary": the answer goes on in another response (SDK)
    "incomplete": "length",  # without a reason, or with one that nobody knows: it is not whole, its calls must not run
    "max_output_tokens": "length",
    "max_messages": "length",
    "content_filter": "error",
    "refusal": "error",  # ours, for an answer with a part of this kind: it is `completed` like any other
    "cancelled": "error",
}
_ENDS = frozenset({"completed", "incomplete", "failed", "cancelled"})
_UNFINISHED = frozenset({"queued", "in_progress"})  # of a response in the background


class Reader:
    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.items: list[Item] = []
        # By kind: the items by id, by `call_id` and by `output_index`. Gateways give one index to items of several
        # kinds, or ids that change from event to event, or announce nothing (BerriAI/litellm#36375, 2026-08).
        self.tables: dict[type[Item], dict[Any, Item]] = {kind: {} for kind in (*KINDS.values(), Skipped)}
        self.messages, self.calls = self.tables[Message], self.tables[Call]
        self.waiting: Reasoning | None = None  # reasoning that does not know yet what follows it
        self.lost = False  # an item has no place in the record: what follows is stored without ids (OAR-08)
        self.refused: Draft | None = None

    def event(self, name: str, data: Any) -> None:
        act = _EVENTS.get(data.get("type") or name)
        if act is not None:
            act(self, data)
        elif data.get("error"):
            self.error(data)

    def whole(self, body: Mapping[str, Any]) -> None:
        if not isinstance(body.get("output"), list):
            self.answer.fail(error_text(body))
        elif body.get("status") in _UNFINISHED:
            self.about(body)
            self.answer.fail(f"the response is not finished: {body['status']}")
        else:
            self.last("completed", body)

    def end(self, marked: bool) -> None:
        if not marked:
            self.answer.break_off()

    # -- events ------------------------------------------------------------------------------------------------------

    def begun(self, data: Mapping[str, Any]) -> None:
        self.about(data.get("response") or {})
        self.answer.begin()

    def text_delta(self, data: Mapping[str, Any]) -> None:
        item = self.messages.get(data.get("item_id")) or self.meant(Message, data)
        if not item.whole:
            item.add(data.get("content_index") or 0, data.get("delta"))

    def refusal_delta(self, data: Mapping[str, Any]) -> None:
        item, part = self.meant(Message, data), data.get("content_index") or 0
        if not item.whole:
            item.add(part, data.get("delta"))
            item.refuse(part)

    def summary_delta(self, data: Mapping[str, Any]) -> None:
        item = self.meant(Reasoning, data)
        if not item.whole:
            item.add(("summary", data.get("summary_index")), data.get("delta"))

    def reasoning_delta(self, data: Mapping[str, Any]) -> None:
        item = self.meant(Reasoning, data)
        if not item.whole:
            item.add(("content", data.get("content_index")), data.get("delta"))

    def arguments_delta(self, data: Mapping[str, Any]) -> None:
        item = self.calls.get(data.get("item_id")) or self.meant(Call, data)
        if not item.whole:
            item.add(None, data.get("delta"))

    def text_done(self, data: Mapping[str, Any]) -> None:
        self.part_done(Message, data.get("content_index") or 0, data, "text")

    def refusal_done(self, data: Mapping[str, Any]) -> None:
        part = data.get("content_index") or 0
        item = self.part_done(Message, part, data, "refusal")
        if not item.whole:
            item.refuse(part)

    def summary_done(self, data: Mapping[str, Any]) -> None:
        self.part_done(Reasoning, ("summary", data.get("summary_index")), data, "text")

    def reasoning_done(self, data: Mapping[str, Any]) -> None:
        self.part_done(Reasoning, ("content", data.get("content_index")), data, "text")

    def arguments_done(self, data: Mapping[str, Any]) -> None:
        self.part_done(Call, None, data, "arguments")

    def part_done(self, kind: type[Item], part: Any, data: Mapping[str, Any], field: str) -> Item:
        """All of a part of an item, in ``field``."""
        item = self.meant(kind, data)
        if not item.whole:
            item.complete(part, data.get(field))
        return item

    def input_delta(self, data: Mapping[str, Any]) -> None:
        item = self.meant(CustomCall, data)
        if not item.whole:
            item.add(None, data.get("delta"))

    def input_done(self, data: Mapping[str, Any]) -> None:
        self.part_done(CustomCall, "input", data, "input")

    def item_added(self, data: Mapping[str, Any]) -> None:
        item = data.get("item")
        if item is None:  # some providers announce nothing at all (SDK, lib/streaming/responses)
            return
        kind = KINDS.get(kind_of(item), Skipped)
        known = self.tables[kind].get(item.get("id"))
        if known is None or known.whole:
            self.open(kind, item, data.get("output_index"))

    def item_done(self, data: Mapping[str, Any]) -> None:
        item, index = data.get("item"), data.get("output_index")
        if item is None:
            return
        kind = KINDS.get(kind_of(item), Skipped)
        known = self.known(kind, item)
        if known is None:
            known = self.tables[kind].get(index)
            if known is None or known.whole:
                known = self.open(kind, item, index)
        if not known.whole:
            known.finish(item)

    def completed(self, data: Mapping[str, Any]) -> None:
        self.last("completed", data.get("response") or {})

    def incomplete(self, data: Mapping[str, Any]) -> None:
        self.last("incomplete", data.get("response") or {})

    def failed(self, data: Mapping[str, Any]) -> None:
        self.last("failed", data.get("response") or data)

    def cancelled(self, data: Mapping[str, Any]) -> None:
        self.last("cancelled", data.get("response") or {})

    def error(self, data: Mapping[str, Any]) -> None:
        """Flat, or nested as over a websocket and behind gateways."""
        self.answer.fail(error_text(data))

    # -- which item is meant -----------------------------------------------------------------------------------------

    def meant(self, kind: type[Item], data: Mapping[str, Any]) -> Item:
        """The item of a delta; one that was never announced begins with it. After its end, an item has no deltas."""
        item_id, index = data.get("item_id") or None, data.get("output_index")
        for table in (self.tables[kind], self.tables[Skipped]):
            if item_id in table:
                return table[item_id]
            item = table.get(index)
            if item is not None and not (item.whole and item_id):
                return item
        return self.open(kind, {"id": item_id}, index)

    def known(self, kind: type[Item], item: Mapping[str, Any]) -> Item | None:
        table = self.tables[kind]
        by_id = table.get(item["id"]) if item.get("id") else None
        return by_id or (table.get(item["call_id"]) if item.get("call_id") else None)

    def open(self, kind: type[Item], item: dict[str, Any], index: Any) -> Item:
        made = kind(self, item)
        self.items.append(made)
        table, item_id = self.tables[kind], item.get("id") or None
        for key in (index, item_id, item.get("call_id")):
            if key is not None:
                table[key] = made
        if index is None and item_id is None:  # deltas without either are meant for it
            table[None] = made
        return made

    # -- the end -----------------------------------------------------------------------------------------------------

    def about(self, response: Mapping[str, Any]) -> None:
        answer = self.answer
        answer.response_id = response.get("id") or answer.response_id
        answer.response_model = response.get("model") or answer.response_model
        if response.get("usage"):
            answer.usage = _usage(response["usage"])

    def last(self, word: str, response: Mapping[str, Any]) -> None:
        """The response is over. Some servers say `completed` as the event and another status inside it."""
        self.about(response)
        status = response.get("status")
        word = status if status in _ENDS else word
        self.take(response.get("output") or [])
        if word == "failed":
            self.answer.fail(error_text(response.get("error") or word))
            return
        for item in self.items:
            if not item.whole:
                item.give_up()
        self.follow(True)
        if self.refused is not None:
            self.answer.finish("refusal", STOPS, self.refused.so_far)
        else:
            self.answer.finish(self.reason(response) if word == "incomplete" else word, STOPS)

    def reason(self, response: Mapping[str, Any]) -> str:
        reason = (response.get("incomplete_details") or {}).get("reason")
        if reason is None or reason in STOPS:
            return reason or "incomplete"
        self.answer.note("unknown-stop-reason", f"the provider's word for the end is unknown: {reason}")
        return "incomplete"

    def take(self, output: list[Any]) -> None:
        """The items of the last event: those that the stream did not finish, and those that it did not tell of.

        The list may be empty though items were streamed (BerriAI/litellm#32724, 2026-07), and may hold items whose ids
        are new: what is left of a kind on both sides is the same, in order.
        """
        kinds = [KINDS.get(kind_of(item), Skipped) for item in output]
        found = [self.known(kind, item) for kind, item in zip(kinds, output, strict=True)]
        taken = {id(item) for item in found}
        left: dict[type[Item], deque[Item]] = {kind: deque() for kind in self.tables}
        for item in self.items:
            if id(item) not in taken and not item.identified:
                left[type(item)].append(item)
        for at, kind in enumerate(kinds):
            if found[at] is None and left[kind]:
                found[at] = left[kind].popleft()
        told = max((at for at, item in enumerate(found) if item is not None), default=-1)
        for at, (kind, item, known) in enumerate(zip(kinds, output, found, strict=True)):
            if known is None:
                self.lost = self.lost or at < told  # out of order, so not to be replayed as it was
                known = self.open(kind, item, None)
            if not known.whole:
                known.finish(item)

    def follow(self, kept: bool) -> None:
        """Something comes after the reasoning that waits for it; it is kept in the record, or not."""
        if self.waiting is not None:
            waiting, self.waiting = self.waiting, None
            waiting.followed(kept)


def _usage(given: Mapping[str, Any]) -> Usage:
    """`input_tokens` counts what was read from and written to the cache, too; `output_tokens` counts reasoning."""
    details = given.get("input_tokens_details") or {}
    read, written = int(details.get("cached_tokens") or 0), int(details.get("cache_write_tokens") or 0)
    asked, made = int(given.get("input_tokens") or 0), int(given.get("output_tokens") or 0)
    total = int(given.get("total_tokens") or asked + made)
    return Usage(max(asked - read - written, 0), made, read, written, total)


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
    "response.created": Reader.begun,
    "response.queued": Reader.begun,
    "response.in_progress": Reader.begun,
    "response.completed": Reader.completed,
    "response.done": Reader.completed,  # as some backends call it
    "response.incomplete": Reader.incomplete,
    "response.failed": Reader.failed,
    "response.cancelled": Reader.cancelled,
    "error": Reader.error,
    # Ignored: `content_part` and `reasoning_summary_part` (their texts have events of their own), annotations, audio,
    # the progress of tools that the provider runs itself, `keepalive`, and what is new.
}
