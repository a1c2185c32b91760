"""The state of a session, computed from the entries of its log and from nothing else."""

from bisect import bisect
from collections.abc import Iterable
from typing import TypeGuard, assert_never

from ..compaction import compacted
from ..session import (
    AnyEntry,
    AttemptFailed,
    CallStarted,
    Compacted,
    MessageAdded,
    ModelChosen,
    SystemPromptSet,
    TurnBegun,
    TurnEnded,
    TurnRenewed,
)
from ..types import AssistantMessage, Message, ToolCall, ToolResultMessage


class State:
    """The state of a session after the entries so far."""

    def __init__(self) -> None:
        self.system_prompt: str | None = None
        self.messages: list[Message] = []
        """The history as it is rendered: from the last compaction on, with its summary first."""
        self.turn: TurnBegun | None = None
        """The turn that is running, or was interrupted."""
        self.turns = 0
        self.model: tuple[str, str] | None = None
        """Name and protocol of the model to continue with: the one that was chosen since the last turn began, or the
        one that answered last in it."""
        self.calls = 0
        """The number of calls so far."""
        self.ids: set[str] = set()
        """The ids of all calls so far, also of those that a summary replaces."""
        self.real: set[str] = set()
        """The ids of calls that have a real result."""
        self.origins: dict[str, int] = {}
        self.last: tuple[str, str] | None = None
        """The model of the last successful answer."""
        self.changed = 0
        self.edits: list[int] = []
        """The index of the first changed message, for each change that was not at the end of the history."""
        self._batch: dict[str, int] = {}  # position of each call of the last answer, while only results follow it
        self._places: list[int] = []  # for the results at the end of `messages`, the positions of their calls
        self._chosen = False
        self._keys: list[str] = []  # the key of the entry of each message
        self._started: set[str] = set()
        self._turn_from = 0

    def apply(self, entry: AnyEntry) -> None:
        """Add one entry."""
        self.changed = entry.time
        if isinstance(entry, MessageAdded):
            self._add_message(entry)
        elif isinstance(entry, TurnBegun):
            self.turn, self._turn_from = entry, len(self.messages)
            self.turns += 1
            self.model, self._chosen = (entry.model, entry.protocol), False
            self._started.clear()
        elif isinstance(entry, TurnEnded):
            self.turn = None
            self._expect_results([])
        elif isinstance(entry, ModelChosen):
            self.model, self._chosen = (entry.model, entry.protocol), True
        elif isinstance(entry, SystemPromptSet):
            self.system_prompt = entry.system_prompt
        elif isinstance(entry, CallStarted):
            self._started.add(entry.call)
        elif isinstance(entry, Compacted):
            self._compact(entry)
        elif isinstance(entry, AttemptFailed | TurnRenewed):
            pass  # failed attempts are stored for people, and a renewal has only its time
        else:
            assert_never(entry)

    def _add_message(self, entry: MessageAdded) -> None:
        message = entry.message
        if type(message) is ToolResultMessage:
            self._add_result(message, entry.key)
            return
        self.messages.append(message)
        self._keys.append(entry.key)
        calls = [block.id for block in message.content if type(block) is ToolCall]
        self._expect_results(calls if self.turn is not None and _asks(message) else [])
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

    def _expect_results(self, calls: list[str]) -> None:
        self._batch = {call: at for at, call in reversed(list(enumerate(calls)))}
        self._places = []

    def _add_result(self, result: ToolResultMessage, key: str) -> None:
        """Add a result at the end, or among those of its batch in the order of the calls. The log is not sorted."""
        place = self._batch.get(result.tool_call_id, len(self._batch))
        before = bisect(self._places, place)
        at = self.fixed + before
        if at < len(self.messages):
            self.edits.append(at)
        self.messages.insert(at, result)
        self._places.insert(before, place)
        self._keys.insert(at, key)
        if not result.synthetic:
            self.real.add(result.tool_call_id)

    def _compact(self, entry: Compacted) -> None:
        if entry.first and entry.first not in self._keys:
            return  # it belongs to another log, so nothing here may be removed
        first = self._keys.index(entry.first) if entry.first else len(self._keys)
        gone = first - 1  # the summary is one message
        self.messages = compacted(self.messages, first, entry.summary)
        self.edits.append(0)
        self._keys[:first] = [entry.key]
        self._turn_from = max(0, self._turn_from - gone)
        self._expect_results([])

    # -- questions ---------------------------------------------------------------------------------------------------

    @property
    def running_from(self) -> int:
        """Index of the first message of the running turn; the number of messages if none is running."""
        return self._turn_from if self.turn is not None else len(self.messages)

    @property
    def fixed(self) -> int:
        """How many messages keep their positions: all but the results at the end, which another result may precede."""
        return len(self.messages) - len(self._places)

    def key_of(self, at: int) -> str:
        """The key of the entry of a message."""
        return self._keys[at]

    def unanswered(self) -> list[tuple[ToolCall, bool]]:
        """The calls of the running turn without a result, and whether each was started."""
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
    """Whether it is an answer whose calls need results. The calls of a failed answer need none."""
    return isinstance(message, AssistantMessage) and not message.failed


def rebuilt(entries: Iterable[AnyEntry]) -> State:
    """The state after these entries."""
    state = State()
    for entry in entries:
        state.apply(entry)
    return state
