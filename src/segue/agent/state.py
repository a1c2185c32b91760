"""The state of a session, as a fold over its log: nothing is known that the log does not say."""

from bisect import bisect
from collections.abc import Iterable
from typing import TypeGuard, assert_never

from ..compaction import compacted
from ..session.entries import (
    AnyEntry,
    CallStarted,
    Compacted,
    Failed,
    MessageAdded,
    ModelChosen,
    Prompted,
    TurnBegun,
    TurnEnded,
    TurnRenewed,
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
        self._batch: dict[str, int] = {}  # the calls of the last answer and their places, while only results follow it
        self._places: list[int] = []  # of the results at the end of `messages`, the places of their calls
        self._chosen = False
        self._keys: list[str] = []  # of the entries behind `messages`
        self._started: set[str] = set()
        self._turn_from = 0

    def apply(self, entry: AnyEntry) -> None:
        """One entry further."""
        self.changed = entry.time
        if isinstance(entry, MessageAdded):
            self._said(entry)
        elif isinstance(entry, TurnBegun):
            self.turn, self._turn_from = entry, len(self.messages)
            self.turns += 1
            self.model, self._chosen = (entry.model, entry.protocol), False
            self._started.clear()
        elif isinstance(entry, TurnEnded):
            self.turn = None
            self._expect([])
        elif isinstance(entry, ModelChosen):
            self.model, self._chosen = (entry.model, entry.protocol), True
        elif isinstance(entry, Prompted):
            self.system_prompt = entry.system_prompt
        elif isinstance(entry, CallStarted):
            self._started.add(entry.call)
        elif isinstance(entry, Compacted):
            self._compacted(entry)
        elif isinstance(entry, Failed | TurnRenewed):
            pass  # what was tried is in the log for people, and of a renewal the time is all there is
        else:
            assert_never(entry)

    def _said(self, entry: MessageAdded) -> None:
        message = entry.message
        if type(message) is ToolResultMessage:
            self._answered(message, entry.key)
            return
        self.messages.append(message)
        self._keys.append(entry.key)
        calls = [block.id for block in message.content if type(block) is ToolCall]
        self._expect(calls if self.turn is not None and _asks(message) else [])
        if type(message) is not AssistantMessage:
            return
        self.ids.update(calls)
        self.calls += len(calls)
        if _asks(message):
            name = f"{message.provider}/{message.model}"
            self.origins[name] = self.origins.get(name, 0) + 1
            self.last = name, message.protocol
            if not self._chosen:
                self.model = self.last

    def _expect(self, calls: list[str]) -> None:
        self._batch = {call: at for at, call in reversed(list(enumerate(calls)))}
        self._places = []

    def _answered(self, result: ToolResultMessage, key: str) -> None:
        """Put a result in its place: at the end, but those of one batch are in the order of their calls, while the log
        is in the order in which they were ready."""
        place = self._batch.get(result.tool_call_id, len(self._batch))
        before = bisect(self._places, place)
        at = self.settled + before
        if at < len(self.messages):
            self.edits.append(at)
        self.messages.insert(at, result)
        self._places.insert(before, place)
        self._keys.insert(at, key)
        if not result.synthetic:
            self.real.add(result.tool_call_id)

    def _compacted(self, entry: Compacted) -> None:
        if entry.first and entry.first not in self._keys:
            return  # it speaks of another log; what is here must not vanish for it
        first = self._keys.index(entry.first) if entry.first else len(self._keys)
        gone = first - 1  # one message, the summary, takes the place of all before
        self.messages = compacted(self.messages, first, entry.summary)
        self.edits.append(0)
        self._keys[:first] = [entry.key]
        self._turn_from = max(0, self._turn_from - gone)
        self._expect([])

    # -- what is asked -----------------------------------------------------------------------------------------------

    @property
    def running_from(self) -> int:
        """Where the running turn begins in ``messages``; their number if none is running."""
        return self._turn_from if self.turn is not None else len(self.messages)

    @property
    def settled(self) -> int:
        """How many messages keep their places: all but the results at the end, before which another one may come."""
        return len(self.messages) - len(self._places)

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
