"""Which result answers which call: by position and id, never by a global table of ids.

Ids repeat across turns and within one message, and are empty; results come late, early, twice and for nobody. Each
result is matched once, before any pass; everything after works on positions.
"""

from bisect import bisect
from collections.abc import Sequence
from typing import Literal, cast

from ..types import AssistantMessage, Message, ToolCall, ToolResultMessage, UserMessage


class Batch:
    """The calls of one answer, and for each the index of the message that answers it (-1: none)."""

    __slots__ = ("answers", "calls", "index")

    def __init__(self, index: int, calls: list[ToolCall]) -> None:
        self.index = index
        self.calls = calls
        self.answers = [-1] * len(calls)


class Pairing:
    """Every batch by the index of its message, and the results that answer nothing."""

    __slots__ = ("batches", "messages", "strays")

    def __init__(self, messages: Sequence[Message]) -> None:
        self.messages = messages
        self.batches: dict[int, Batch] = {}
        self.strays: dict[int, Literal["duplicate", "orphan"]] = {}
        nearest: dict[str, tuple[Batch, list[int]]] = {}  # by id: the last answer so far with such calls, and which
        early: list[int] = []
        nameless: list[int] = []
        for index, message in enumerate(messages):
            if type(message) is AssistantMessage:
                calls = [block for block in message.content if type(block) is ToolCall]
                if calls:
                    batch = self.batches[index] = Batch(index, calls)
                    for at, call in enumerate(calls):
                        known = nearest.get(call.id)
                        if known is not None and known[0] is batch:
                            known[1].append(at)
                        else:
                            nearest[call.id] = (batch, [at])
            elif type(message) is ToolResultMessage:
                if not message.tool_call_id:
                    nameless.append(index)
                elif (found := nearest.get(message.tool_call_id)) is not None:
                    batch, candidates = found
                    if len(candidates) == 1 and batch.answers[candidates[0]] < 0:
                        batch.answers[candidates[0]] = index  # nearly all results of nearly all histories
                    else:
                        self._take(batch, self._of_tool(batch, candidates, message), index, message)
                else:
                    early.append(index)
        if early:
            self._answer_ahead(early)
        if nameless:
            self._answer_nameless(nameless)

    def message(self, batch: Batch) -> AssistantMessage:
        """The answer that made these calls."""
        return cast(AssistantMessage, self.messages[batch.index])

    def has_real_result(self, batch: Batch) -> bool:
        """Whether any of these calls was answered for real."""
        return any(map(self._real, batch.answers))

    @staticmethod
    def _of_tool(batch: Batch, candidates: list[int], result: ToolResultMessage) -> list[int]:
        """The candidates that call the result's tool, or all of them if none does."""
        if len(candidates) == 1:
            return candidates
        return [at for at in candidates if batch.calls[at].name == result.tool_name] or candidates

    def _answer_ahead(self, early: list[int]) -> None:
        """Results stored before their call: the next answer's, if no user message stands between, the tool agrees
        and no result stored after the call answers it for real."""
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
        for index, next_batch in ahead.items():
            result = self._result(index)
            candidates = self._open_calls(next_batch, result) if next_batch is not None else []
            if next_batch is not None and candidates:
                self._take(next_batch, candidates, index, result)
            else:
                self.strays[index] = "orphan"

    def _open_calls(self, batch: Batch, result: ToolResultMessage) -> list[int]:
        """Calls of this id and tool that no result stored after them answers for real."""
        return [
            at
            for at, (call, answer) in enumerate(zip(batch.calls, batch.answers, strict=True))
            if call.id == result.tool_call_id
            and call.name == result.tool_name
            and not (answer > batch.index and self._real(answer))
        ]

    def _answer_nameless(self, nameless: list[int]) -> None:
        """Results without an id: the nearest earlier answer with a call that lacks a real result, calls without an
        id first."""
        lacking = [index for index, batch in self.batches.items() if not all(map(self._real, batch.answers))]
        for index in nameless:
            place = bisect(lacking, index) - 1
            if place < 0:
                self.strays[index] = "orphan"
                continue
            batch, result = self.batches[lacking[place]], self._result(index)
            candidates = [at for at, answer in enumerate(batch.answers) if not self._real(answer)]
            candidates = self._of_tool(batch, candidates, result)
            self._take(batch, sorted(candidates, key=lambda at: batch.calls[at].id != ""), index, result)
            if all(map(self._real, batch.answers)):
                del lacking[place]

    def _take(self, batch: Batch, candidates: list[int], index: int, result: ToolResultMessage) -> None:
        """The first candidate with no result takes it; else a real one replaces a synthetic one; else a duplicate."""
        for at in candidates:
            if batch.answers[at] < 0:
                batch.answers[at] = index
                return
        for at in candidates:
            held = batch.answers[at]
            # Among equals the first stored wins, also where it is looked at last.
            if not self._real(held) and (not result.synthetic or index < held):
                self.strays[held] = "duplicate"
                batch.answers[at] = index
                return
        self.strays[index] = "duplicate"

    def _result(self, index: int) -> ToolResultMessage:
        return cast(ToolResultMessage, self.messages[index])

    def _real(self, answer: int) -> bool:
        return answer >= 0 and not self._result(answer).synthetic
