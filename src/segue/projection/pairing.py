"""Which result answers which call: by position and id, never by a global table of ids.

Ids repeat across turns and within one message, and are empty; results come late, early, twice and for nobody. Each
result is matched once, before any pass; everything after works on positions.
"""

from bisect import bisect
from collections.abc import Callable, Sequence
from typing import Literal, assert_never, cast

from msgspec import Struct

from ..types import AssistantMessage, Message, ToolCall, ToolResultMessage, UserMessage

_SHARED = -1
"""In place of a call's position: several calls of the answer have this id."""


class Batch(Struct, eq=False):
    """The calls of one answer, and for each the index of the message that answers it (-1: none)."""

    index: int
    calls: list[ToolCall]
    answers: list[int]


class _Line:
    """Calls of one batch that want the same results, first come, first served.

    Results come in the order in which they are stored, and what a call has only gets better: a call that is passed over
    for what it has is out of that question for good, so that a line of any length costs a few looks at each call.
    """

    __slots__ = ("_passed", "calls")

    def __init__(self) -> None:
        self.calls: list[int] = []
        self._passed = {"no result": 0, "no real result": 0, "a later stand-in": 0}

    def first(self, what: str, has: Callable[[int], bool]) -> int | None:
        """The first call that has it."""
        at = self._passed[what]
        while at < len(self.calls) and not has(self.calls[at]):
            at += 1
        self._passed[what] = at
        return self.calls[at] if at < len(self.calls) else None


_Lines = dict[tuple[str | None, str | None], _Line]
"""The lines of a batch, by id and tool; ``None`` stands for any."""


class Pairing:
    """Every batch by the index of its message, and the results that answer nothing.

    ``messages`` may grow: ``extend`` goes on where it stopped.
    """

    __slots__ = (
        "_displaced",
        "_disturbed",
        "_early",
        "_fixed",
        "_lacking",
        "_lacks",
        "_lines",
        "_matched",
        "_nameless",
        "_nearest",
        "_taken_ahead",
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
        self._lines: dict[int, _Lines] = {}
        self._nearest: dict[str, tuple[Batch, int]] = {}  # by id: the last answer so far with such a call, and which
        self._early: list[int] = []
        self._nameless: list[int] = []
        self._turn = -1  # the last message that is not a result
        # What results without a place of their own were matched by. A later result for one of these batches, or for one
        # before the last result without an id, disturbs that.
        self._taken_ahead: set[int] = set()
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
        """Match ``messages`` again, of which the first ``kept`` are what they were. The index of the first answer or
        stray that is not, and ``kept`` where there is none."""
        first = kept
        if kept == self._matched:
            first = self._grow(kept)
            if not self._disturbed:
                return first
        batches, strays = self.batches, self.strays
        self._match()  # results without a place of their own are matched last, whatever comes later
        for at, batch in batches.items():
            # A result at the same index may be another one, unless it is one of those that were kept.
            if at < first and (self.batches[at].answers != batch.answers or max(batch.answers) >= kept):
                first = at
        changed = [at for at in {*strays, *self.strays} if strays.get(at) != self.strays.get(at)]
        return min([first, *changed])

    def _grow(self, kept: int) -> int:
        """Match what is new, in which results that wait for the next answer are included. The first answer or stray
        before it that is not what it was."""
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
        """Match messages from ``start`` on, each in its turn; the first answer before it that got another result."""
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
                    if batch.index < self._fixed or batch.index in self._taken_ahead:
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
        """A batch of calls from here on is the nearest one with their ids."""
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
        """Whether any of these calls was answered for real."""
        return any(map(self._real, batch.answers))

    # -- who takes a result ------------------------------------------------------------------------------------------

    def _answer_again(self, batch: Batch, index: int) -> None:
        """Where an id has several calls, or results: calls of the result's tool, or all of that id if none is."""
        result, lines = self._result(index), self._lines_of(batch)
        line = lines.get((result.tool_call_id, result.tool_name)) or lines[result.tool_call_id, None]
        if not self._take(batch, line, index):
            self.strays[index] = "duplicate"

    def _answer_ahead(self, early: list[int]) -> None:
        """Results stored before their call: the next answer's, if no user message is between them and the tool agrees.
        Where every such call has a result that counts more, this one is a duplicate, as it would be behind them."""
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
        self._lines.clear()
        for index, batch in ahead.items():
            result = self._result(index)
            line = self._lines_of(batch).get((result.tool_call_id, result.tool_name)) if batch is not None else None
            if batch is not None:
                self._taken_ahead.add(batch.index)
            if batch is None or line is None:
                self.strays[index] = "orphan"
            elif not self._take(batch, line, index):
                self.strays[index] = "duplicate"

    def _answer_nameless(self, nameless: list[int]) -> int:
        """Results without an id: the nearest earlier answer with a call that lacks a real result, calls without an
        id first. The first answer that got one."""
        self._lines.clear()
        self._count_lacking()
        lacks, lacking, first = self._lacks, self._lacking, len(self.messages)
        self._fixed = nameless[-1]
        for index in nameless:
            place = bisect(lacking, index) - 1
            if place < 0:
                self.strays[index] = "orphan"
                continue
            batch, result = self.batches[lacking[place]], self._result(index)
            lines = self._lines_of(batch)
            line = lines.get((None, result.tool_name))
            if line is None or self._first_lacking(batch, line) is None:
                line = lines[None, None]
            first = min(first, batch.index)
            if not self._take(batch, line, index):
                self.strays[index] = "duplicate"
            elif not result.synthetic:
                lacks[batch.index] -= 1
                if not lacks[batch.index]:
                    del lacking[place]
        return first

    def _count_lacking(self) -> None:
        """Count again what the batches lack that later results may have changed: those behind the last nameless one."""
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

    def _take(self, batch: Batch, line: _Line, index: int) -> bool:
        """The first call with no result takes it; else a real one replaces a synthetic one. False: nobody wants it."""
        answers = batch.answers
        at = line.first("no result", lambda at: answers[at] < 0)
        if at is None and not self._result(index).synthetic:
            at = self._first_lacking(batch, line)
        elif at is None:
            # Among equals the first stored wins, also where it is looked at last.
            at = line.first("a later stand-in", lambda at: index < answers[at] and not self._real(answers[at]))
        if at is None:
            return False
        if answers[at] >= 0:
            self.strays[answers[at]] = "duplicate"
            self._displaced = min(self._displaced, answers[at])
        answers[at] = index
        return True

    def _first_lacking(self, batch: Batch, line: _Line) -> int | None:
        return line.first("no real result", lambda at: not self._real(batch.answers[at]))

    def _lines_of(self, batch: Batch) -> _Lines:
        """For each id and for none, the calls of each tool and of any. Calls without an id stand first in line for
        results without one."""
        lines = self._lines.get(batch.index)
        if lines is None:
            lines = self._lines[batch.index] = {}
            nameless_first = sorted(range(len(batch.calls)), key=lambda at: batch.calls[at].id != "")
            for at in nameless_first:
                call = batch.calls[at]
                for key in ((call.id, call.name), (call.id, None), (None, call.name), (None, None)):
                    lines.setdefault(key, _Line()).calls.append(at)
        return lines

    def _result(self, index: int) -> ToolResultMessage:
        return cast(ToolResultMessage, self.messages[index])

    def _real(self, answer: int) -> bool:
        return answer >= 0 and not self._result(answer).synthetic
