"""Which result answers which call: by position and id, never by a global table of ids.

Ids may be empty, and may repeat across turns and within one message. Results may come late, early, twice, or without a
call. Each result is matched once, before any pass runs; everything after that works on positions.
"""

from bisect import bisect
from collections.abc import Callable, Sequence
from typing import Literal, assert_never, cast

from msgspec import Struct

from ..types import AssistantMessage, Message, ToolCall, ToolResultMessage, UserMessage

_SHARED = -1
"""In place of a call's position, if several calls of the answer have this id."""


class Batch(Struct, eq=False):
    """The calls of one answer, and for each the index of the message that answers it (-1: none)."""

    index: int
    calls: list[ToolCall]
    answers: list[int]


class _Queue:
    """Calls of one batch that compete for the same results, in their order.

    What a call has can only improve, from no result to a placeholder to a real result. A call that was skipped once is
    never considered again for the same need, so a queue of any length costs only a few checks for each call.
    """

    __slots__ = ("_skipped", "calls")

    def __init__(self) -> None:
        self.calls: list[int] = []
        self._skipped = {"no result": 0, "no real result": 0, "a later placeholder": 0}

    def first(self, need: str, has: Callable[[int], bool]) -> int | None:
        """The first call that has this need, as tested by ``has``."""
        at = self._skipped[need]
        while at < len(self.calls) and not has(self.calls[at]):
            at += 1
        self._skipped[need] = at
        return self.calls[at] if at < len(self.calls) else None


_Queues = dict[tuple[str | None, str | None], _Queue]
"""The queues of a batch, by id and tool; ``None`` means any."""


class Pairing:
    """Every batch by the index of its message, and the results that answer nothing.

    ``messages`` may grow: ``extend`` continues where it stopped.
    """

    __slots__ = (
        "_displaced",
        "_disturbed",
        "_early",
        "_fixed",
        "_lacking",
        "_lacks",
        "_matched",
        "_matched_ahead",
        "_nameless",
        "_nearest",
        "_queues",
        "_turn",
        "batches",
        "messages",
        "strays",
    )

    def __init__(self, messages: Sequence[Message]) -> None:
        self.messages = messages
        self._match()

    def _match(self) -> None:
        self.batches: dict[int, Batch] = {}
        self.strays: dict[int, Literal["duplicate", "orphan"]] = {}
        self._queues: dict[int, _Queues] = {}
        self._nearest: dict[str, tuple[Batch, int]] = {}  # by id: the last answer so far with such a call, and which
        self._early: list[int] = []
        self._nameless: list[int] = []
        self._turn = -1  # the last message that is not a result
        # Batches that got results without a place of their own. A later result for one of these batches, or for one
        # before the last result without an id, makes those matches invalid.
        self._matched_ahead: set[int] = set()
        self._fixed = -1
        self._disturbed = False
        self._displaced = 0  # while the pairing grows: the first result that lost its call to another
        self._lacks: dict[int, int] = {}  # by batch: how many of its calls have no real result
        self._lacking: list[int] = []  # the batches that have such calls
        self._walk(0)
        if self._early:
            self._answer_ahead(self._early)
        if self._nameless:
            self._answer_nameless(self._nameless)

    def extend(self, kept: int) -> int:
        """Match ``messages`` again, of which the first ``kept`` are unchanged. Returns the index of the first answer or
        stray whose match has changed, or ``kept`` if there is none."""
        first = kept
        if kept == self._matched:
            first = self._grow(kept)
            if not self._disturbed:
                return first
        batches, strays = self.batches, self.strays
        self._match()  # results without a place of their own are always matched last
        for at, batch in batches.items():
            # A result at the same index may be a different one, unless it is among those that were kept.
            if at < first and (self.batches[at].answers != batch.answers or max(batch.answers) >= kept):
                first = at
        changed = [at for at in {*strays, *self.strays} if strays.get(at) != self.strays.get(at)]
        return min([first, *changed])

    def _grow(self, kept: int) -> int:
        """Match the new messages, and earlier results that wait for the next answer. Returns the index of the first
        answer or stray before them whose match has changed."""
        early, nameless, turn = len(self._early), len(self._nameless), self._turn
        self._displaced = kept
        first = self._walk(kept)
        if self._disturbed:
            return min(first, self._displaced)
        seen = early
        while self._turn > turn and early and self._early[early - 1] > turn:
            early -= 1
        waiting = self._early[early:seen]
        if self._early[early:]:
            before = {at: self.strays.pop(at, None) for at in waiting}
            self._answer_ahead(self._early[early:])
            first = min([first, *(at for at in waiting if self.strays.get(at) != before[at])])
        if self._nameless[nameless:]:
            first = min(first, self._answer_nameless(self._nameless[nameless:]))
        return min(first, self._displaced)

    def _walk(self, start: int) -> int:
        """Match messages from ``start`` on, in order. Returns the index of the first earlier answer that got another
        result."""
        messages, nearest, first = self.messages, self._nearest, start
        for index, message in enumerate(messages[start:] if start else messages, start):
            if type(message) is UserMessage:
                self._turn = index
            elif type(message) is AssistantMessage:
                self._turn = index
                calls = [block for block in message.content if type(block) is ToolCall]
                if calls:
                    self._open(index, calls)
            elif type(message) is ToolResultMessage:
                found = nearest.get(message.tool_call_id)
                if found is not None and message.tool_call_id:
                    batch, at = found
                    if at >= 0 and batch.answers[at] < 0:
                        batch.answers[at] = index  # nearly all results of nearly all histories
                    else:
                        self._answer_again(batch, index)
                    if batch.index < first:
                        first = batch.index
                    if batch.index < self._fixed or batch.index in self._matched_ahead:
                        self._disturbed = True
                elif message.tool_call_id:
                    self._early.append(index)
                else:
                    self._nameless.append(index)
            else:
                assert_never(message)
        self._matched = len(messages)
        return first

    def _open(self, index: int, calls: list[ToolCall]) -> None:
        """Add a batch of calls. From here on it is the nearest one with their ids."""
        nearest = self._nearest
        batch = self.batches[index] = Batch(index, calls, [-1] * len(calls))
        at = 0
        for call in calls:
            nearest[call.id] = (batch, at)
            at += 1
        if at > 1:
            for number, call in enumerate(calls):
                if nearest[call.id][1] != number:
                    nearest[call.id] = (batch, _SHARED)

    def message(self, batch: Batch) -> AssistantMessage:
        """The answer that made these calls."""
        return cast(AssistantMessage, self.messages[batch.index])

    def has_real_result(self, batch: Batch) -> bool:
        """Whether any of these calls has a real result."""
        return any(map(self._real, batch.answers))

    # -- which call gets a result --------------------------------------------------------------------------------------

    def _answer_again(self, batch: Batch, index: int) -> None:
        """Match a result whose id has several calls or results: to a call of the same tool, or to any call with this id
        if the tool has none."""
        result, queues = self._result(index), self._queues_of(batch)
        queue = queues.get((result.tool_call_id, result.tool_name)) or queues[result.tool_call_id, None]
        if not self._assign(batch, queue, index):
            self.strays[index] = "duplicate"

    def _answer_ahead(self, early: list[int]) -> None:
        """Match results that are stored before their call: to the next answer, if there is no user message between them
        and the tool is the same. If every such call has a better result, this one is a duplicate."""
        ahead: dict[int, Batch | None] = dict.fromkeys(early)
        batch: Batch | None = None
        for index in range(len(self.messages) - 1, early[0] - 1, -1):
            kind = type(self.messages[index])
            if kind is UserMessage:
                batch = None
            elif kind is AssistantMessage:
                batch = self.batches.get(index)
            elif index in ahead:
                ahead[index] = batch
        self._queues.clear()
        for index, batch in ahead.items():
            result = self._result(index)
            queue = self._queues_of(batch).get((result.tool_call_id, result.tool_name)) if batch is not None else None
            if batch is not None:
                self._matched_ahead.add(batch.index)
            if batch is None or queue is None:
                self.strays[index] = "orphan"
            elif not self._assign(batch, queue, index):
                self.strays[index] = "duplicate"

    def _answer_nameless(self, nameless: list[int]) -> int:
        """Match results without an id: to the nearest earlier answer with a call that lacks a real result, and there to
        calls without an id first. Returns the index of the first answer that got one."""
        self._queues.clear()
        self._count_lacking()
        lacks, lacking, first = self._lacks, self._lacking, len(self.messages)
        self._fixed = nameless[-1]
        for index in nameless:
            place = bisect(lacking, index) - 1
            if place < 0:
                self.strays[index] = "orphan"
                continue
            batch, result = self.batches[lacking[place]], self._result(index)
            queues = self._queues_of(batch)
            queue = queues.get((None, result.tool_name))
            if queue is None or self._first_lacking(batch, queue) is None:
                queue = queues[None, None]
            first = min(first, batch.index)
            if not self._assign(batch, queue, index):
                self.strays[index] = "duplicate"
            elif not result.synthetic:
                lacks[batch.index] -= 1
                if not lacks[batch.index]:
                    del lacking[place]
        return first

    def _count_lacking(self) -> None:
        """Count the missing results again for batches after the last nameless result: later results may have changed
        them."""
        fresh: list[int] = []
        for index in reversed(self.batches):
            if index < self._fixed:
                break
            count = [*map(self._real, self.batches[index].answers)].count(False)
            self._lacks[index] = count
            if count:
                fresh.append(index)
        while self._lacking and self._lacking[-1] > self._fixed:
            self._lacking.pop()
        self._lacking += reversed(fresh)

    def _assign(self, batch: Batch, queue: _Queue, index: int) -> bool:
        """Match the result to the first call without one; otherwise a real result replaces a synthetic one. Returns
        ``False`` if no call needs it."""
        answers = batch.answers
        at = queue.first("no result", lambda at: answers[at] < 0)
        if at is None and not self._result(index).synthetic:
            at = self._first_lacking(batch, queue)
        elif at is None:
            # Of two placeholders the first stored one is used, even if it is matched last.
            at = queue.first("a later placeholder", lambda at: index < answers[at] and not self._real(answers[at]))
        if at is None:
            return False
        if answers[at] >= 0:
            self.strays[answers[at]] = "duplicate"
            self._displaced = min(self._displaced, answers[at])
        answers[at] = index
        return True

    def _first_lacking(self, batch: Batch, queue: _Queue) -> int | None:
        return queue.first("no real result", lambda at: not self._real(batch.answers[at]))

    def _queues_of(self, batch: Batch) -> _Queues:
        """The queues of a batch: for each id and for any, the calls of each tool and of any. Calls without an id come
        first for results without one."""
        queues = self._queues.get(batch.index)
        if queues is None:
            queues = self._queues[batch.index] = {}
            nameless_first = sorted(range(len(batch.calls)), key=lambda at: batch.calls[at].id != "")
            for at in nameless_first:
                call = batch.calls[at]
                for key in ((call.id, call.name), (call.id, None), (None, call.name), (None, None)):
                    queues.setdefault(key, _Queue()).calls.append(at)
        return queues

    def _result(self, index: int) -> ToolResultMessage:
        return cast(ToolResultMessage, self.messages[index])

    def _real(self, answer: int) -> bool:
        return answer >= 0 and not self._result(answer).synthetic
