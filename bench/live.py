"""A growing session, from its log to the bytes of every request: the work of an agent without waiting for models.

Another session writes the log, into a file. A request renders what is new; reading it from the log is measured
separately, because peers have their messages in memory.
"""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import thread_time
from typing import NamedTuple

import segue
from segue.session import MessageAdded, SQLiteStore
from segue.session.entries import AnyEntry, CallStarted, SystemPromptSet, TurnBegun, TurnEnded
from segue.types import AssistantMessage, Context, Message, Model, Options, ToolCall

from .measure import without_garbage

SESSION = "s"
REQUESTS_A_TURN = 2
MESSAGES_A_TURN = 4


class Cost(NamedTuple):
    """The seconds of one request: rendering it to pieces of bytes, as the client sends them; copying them into one
    piece, which some users need; and, separately, reading new entries from the log."""

    render: float
    copy: float
    read: float

    @property
    def whole(self) -> float:
        return self.render + self.copy


def messages_of_request(number: int) -> int:
    """The length of the history in request ``number``: the first request of a turn ends with the user's message, the
    second with the result."""
    turn, second = divmod(number - 1, REQUESTS_A_TURN)
    return turn * MESSAGES_A_TURN + 1 + second * 2


def session(context: Context, model: Model) -> list[Cost]:
    """The cost of each request of a session that ends with ``context``."""
    with TemporaryDirectory() as folder, SQLiteStore(Path(folder) / "log.db") as log, without_garbage():
        log.create(SESSION, time=0)
        log.append(SESSION, [SystemPromptSet(key="p", time=0, system_prompt=context.system_prompt)], after=0)
        live = Live(log, context, model)
        costs, head = [], 1
        for entries in written(context.messages):
            head = log.append(SESSION, entries, after=head)
            costs.append(live.request())
        whole = segue.encode(context, model, Options(stream=True)).json()
        assert live.last == whole, "the last request is not that of the whole history"
    return costs


class Live:
    """An open session."""

    def __init__(self, log: SQLiteStore, context: Context, model: Model) -> None:
        self.session = segue.Session.open(SESSION, model, store=log, tools=context.tools)
        self.model = model
        self.last = b""

    def request(self) -> Cost:
        session = self.session
        start = thread_time()
        session.log.reload()
        read = thread_time()
        pieces = session.requests.request(self.model).pieces()
        rendered = thread_time()
        self.last = b"".join(pieces)
        return Cost(rendered - read, thread_time() - rendered, read - start)


def written(messages: list[Message]) -> Iterator[list[AnyEntry]]:
    """Write what the turns of a session write between two requests."""
    entries: list[AnyEntry] = []
    for at, message in enumerate(messages):
        begins = at % MESSAGES_A_TURN == 0
        if begins:
            entries.append(TurnBegun(key=f"b{at}", time=at, model="m", protocol="p"))
        entries.append(MessageAdded(key=f"k{at}", time=at, message=message))
        if isinstance(message, AssistantMessage):
            calls = [block.id for block in message.content if isinstance(block, ToolCall)]
            entries += [CallStarted(key=f"c{at}", time=at, call=call) for call in calls]
            if not calls:
                entries.append(TurnEnded(key=f"e{at}", time=at, how="done"))
        else:
            yield entries
            entries = []
