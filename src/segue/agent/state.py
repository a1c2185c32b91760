"""The state of a session, as a fold over its log: nothing is known that the log does not say."""

from collections.abc import Iterable
from typing import TypeGuard, assert_never

from ..compaction import compacted
from ..session.entries import (
    AnyEntry,
    CallStarted,
    Compacted,
    Failed,
    ModelChosen,
    Prompted,
    Said,
    TurnBegun,
    TurnEnded,
)
from ..types import AssistantMessage, Message, ToolCall, ToolResultMessage


class State:
    """What a session is after the entries so far."""

    def __init__(self) -> None:
        self.system_prompt: str | None = None
        self.messages: list[Message] = []
        """The history as it is rendered: from the last compaction on, with its summary first."""
        self.turn: TurnBegun | None = None
        """The turn that is running, or was broken off."""
        self.turns = 0
        self.model: tuple[str, str] | None = None
        """The model that goes on, as name and protocol: the one that was chosen since the last turn began, or else the
        one that this turn ended with."""
        self.calls = 0
        """How many calls were made in all."""
        self.ids: set[str] = set()
        """Of all calls so far, also of those that a summary stands for."""
        self.real: set[str] = set()
        """Of the calls that have a real result."""
        self.origins: dict[str, int] = {}
        self.last: tuple[str, str] | None = None
        """The model of the last successful answer."""
        self.changed = 0
        self.edits: list[int] = []
        """Where the history was changed otherwise than at its end, one index for each time."""
        self._chosen = False
        self._keys: list[str] = []  # of the entries behind `messages`
        self._started: set[str] = set()
        self._turn_from = 0

    def apply(self, entry: AnyEntry) -> None:
        """One entry further."""
        self.changed = entry.time
        if isinstance(entry, Said):
            self._said(entry)
        elif isinstance(entry, TurnBegun):
            self.turn, self._turn_from = entry, len(self.messages)
            self.turns += 1
            self.model, self._chosen = (entry.model, entry.protocol), False
            self._started.clear()
        elif isinstance(entry, TurnEnded):
            self.turn = None
        elif isinstance(entry, ModelChosen):
            self.model, self._chosen = (entry.model, entry.protocol), True
        elif isinstance(entry, Prompted):
            self.system_prompt = entry.system_prompt
        elif isinstance(entry, CallStarted):
            self._started.add(entry.call)
        elif isinstance(entry, Compacted):
            self._compacted(entry)
        elif isinstance(entry, Failed):
            pass  # what was tried is in the log for people; it changes nothing
        else:
            assert_never(entry)

    def _said(self, entry: Said) -> None:
        message = entry.message
        if type(message) is ToolResultMessage:
            self._answered(message, entry.key)
            return
        self.messages.append(message)
        self._keys.append(entry.key)
        if type(message) is not AssistantMessage:
            return
        for block in message.content:
            if type(block) is ToolCall:
                self.ids.add(block.id)
                self.calls += 1
        if not message.failed:
            name = f"{message.provider}/{message.model}"
            self.origins[name] = self.origins.get(name, 0) + 1
            self.last = name, message.protocol
            if not self._chosen:
                self.model = self.last

    def _answered(self, result: ToolResultMessage, key: str) -> None:
        at = self._place(result)
        if at == len(self.messages):
            self.messages.append(result)
        else:  # a list anew, so that whoever goes through it as it grows notices
            self.messages = [*self.messages[:at], result, *self.messages[at:]]
            self.edits.append(at)
        self._keys.insert(at, key)
        if not result.synthetic:
            self.real.add(result.tool_call_id)

    def _place(self, result: ToolResultMessage) -> int:
        """Where a result stands: at the end, but for those of one batch, which stand in the order of their calls,
        whichever tool was the first to finish."""
        end = at = len(self.messages)
        if self.turn is None:
            return end
        while at and isinstance(self.messages[at - 1], ToolResultMessage):
            at -= 1
        answer = self.messages[at - 1] if at else None
        calls = [block.id for block in answer.content if isinstance(block, ToolCall)] if _asks(answer) else []
        if result.tool_call_id not in calls:
            return end
        place = calls.index(result.tool_call_id)
        for before in range(end, at, -1):
            other = self.messages[before - 1]
            assert isinstance(other, ToolResultMessage)
            if other.tool_call_id not in calls or calls.index(other.tool_call_id) <= place:
                return before
        return at

    def _compacted(self, entry: Compacted) -> None:
        if entry.first and entry.first not in self._keys:
            return  # it speaks of another log; what is here must not vanish for it
        first = self._keys.index(entry.first) if entry.first else len(self._keys)
        gone = first - 1  # one message, the summary, takes the place of all before
        self.messages = compacted(self.messages, first, entry.summary)
        self.edits.append(0)
        self._keys[:first] = [entry.key]
        self._turn_from = max(0, self._turn_from - gone)

    # -- what is asked -----------------------------------------------------------------------------------------------

    @property
    def running_from(self) -> int:
        """Where the running turn begins in ``messages``; their number if none is running."""
        return self._turn_from if self.turn is not None else len(self.messages)

    def key_of(self, at: int) -> str:
        """The key of the entry behind a message."""
        return self._keys[at]

    def unanswered(self) -> list[tuple[ToolCall, bool]]:
        """The calls of the running turn that have no result yet, and whether each was started."""
        turn = self.messages[self.running_from :]
        answered = {message.tool_call_id for message in turn if isinstance(message, ToolResultMessage)}
        waiting: list[tuple[ToolCall, bool]] = []
        for message in turn:
            if _asks(message):
                waiting += [
                    (block, block.id in self._started)
                    for block in message.content
                    if isinstance(block, ToolCall) and block.id not in answered
                ]
        return waiting


def _asks(message: Message | None) -> TypeGuard[AssistantMessage]:
    """Whether it is an answer whose calls need results; those of a failed one go with it."""
    return isinstance(message, AssistantMessage) and not message.failed


def rebuilt(entries: Iterable[AnyEntry]) -> State:
    """The state after these entries."""
    state = State()
    for entry in entries:
        state.apply(entry)
    return state
