"""``Session``: a conversation that is stored as it happens, and its turns.

A turn runs from the user's message to the final answer, tools included, and is bound to the model with which it began;
only a failure that another model can cure changes it. Every step is in the log before the next one begins, so that a
crash at any instant leaves a session that opens, tells what had happened, and goes on.
"""

import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Lock
from typing import Any, TypeVar

from msgspec.structs import replace

from ..catalog import Catalog, get_model
from ..client import Connection, Retries
from ..compaction import answer_room
from ..errors import ConflictError, FormatError, ModelError, ProjectionError, SegueError, SessionError, SettingError
from ..projection import PolicyLike
from ..render import Renderers, Request
from ..render.fold import Fold
from ..render.tokens import estimated, guessed_frame, guessed_messages
from ..router import Fixed, Router
from ..session import SessionInfo, Store, open_store
from ..session.entries import AnyEntry, Entry, MessageAdded, ModelChosen, Prompted, TurnEnded, TurnRenewed
from ..session.rows import LATEST
from ..tools.waiting import in_thread
from ..types import AssistantMessage, Context, Message, Model, Options, ToolDefinition, ToolResultMessage, UserMessage
from .calls import Runner, Tools, runner_of
from .compact import compact
from .events import TurnEnd
from .meter import Meter
from .owner import RENEWAL, Owner, lives, pulse
from .recovery import Interruption, closing_results, interruption
from .state import State
from .stream import Emit, TurnStream
from .turn import Steering, Turn

_EMPTY = Context(messages=[])

E = TypeVar("E", bound=Entry)

Connections = Connection | Callable[[Model], Connection] | None
"""How models are reached: the same way for all, or by a function of the model."""


class Session:
    """A stored conversation. ``Session.create`` begins one, ``Session.open`` goes on with one.

    ``model`` is a model, its name, or a router that chooses one for each turn.
    """

    def __init__(
        self,
        store: Store,
        id: str,  # noqa: A002, the session's own word for it
        model: Model | str | Router,
        *,
        tools: Sequence[ToolDefinition] = (),
        options: Options | None = None,
        policy: PolicyLike = None,
        connection: Connections = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.store = store
        self.id = id
        self.owner = Owner()
        self.tools = list(tools)
        self.options = options or Options()
        self.policy = policy
        self.state = State()
        self._connection = connection
        self._clock = clock
        self._models: dict[tuple[str, str], Model] = {}
        self._reached: dict[tuple[str, str], Model] = {}  # as a connection has them: with its endpoint
        self._renderers = Renderers()
        self._guess = Fold(float, lambda total, message: total + guessed_messages([message]))
        self.router: Router = self._met(model)
        self._head = 0
        self._log = Lock()  # a thread writes while the event loop goes on
        self._busy = ""

    # -- opening -----------------------------------------------------------------------------------------------------

    @classmethod
    def create(
        cls,
        model: Model | str | Router,
        *,
        store: Store | str | None = None,
        id: str | None = None,  # noqa: A002
        system_prompt: str | None = None,
        title: str = "",
        **settings: Any,
    ) -> "Session":
        """A new session. ``store`` is a store, a path, a URL, or the default file."""
        session = cls(_store(store), id or _fresh_session_id(), model, **settings)
        session.store.create(session.id, time=session.time(), title=title)
        first: list[AnyEntry] = session.chosen()
        if system_prompt:
            first.append(session.entry(Prompted, system_prompt=system_prompt))
        if first:
            session.write(first)
        return session

    @classmethod
    def open(
        cls,
        id: str,  # noqa: A002
        model: Model | str | Router | None = None,
        *,
        store: Store | str | None = None,
        **settings: Any,
    ) -> "Session":
        """The session of that id, with everything that its log says. Without a model, the one that it had last."""
        where = _store(store)
        state = State()
        head = 0
        for number, entry in ((stored.number, stored.entry) for stored in where.read(id)):
            state.apply(entry)
            head = number
        if model is None:
            named = state.model
            if named is None:
                raise SessionError(f"session {id} does not say with which model it goes on; name one")
            model = get_model(named[0], protocol=named[1])
        session = cls(where, id, model, **settings)
        session.state, session._head = state, head
        return session

    def reload(self) -> None:
        """Read what others have added to the log."""
        with self._log:
            for stored in self.store.read(self.id, self._head):
                self.state.apply(stored.entry)
                self._head = stored.number

    # -- what it is --------------------------------------------------------------------------------------------------

    @property
    def messages(self) -> list[Message]:
        """The history as it is rendered: from the last compaction on, with its summary first."""
        return list(self.state.messages)

    @property
    def context(self) -> Context:
        """The conversation as the next request renders it."""
        return Context(
            system_prompt=self.state.system_prompt, messages=list(self.state.messages), tools=list(self.tools)
        )

    @property
    def info(self) -> SessionInfo:
        """What a list of sessions shows of it."""
        return self.store.info(self.id)

    @property
    def head(self) -> int:
        """The number of the last entry of the log that this object has read or written."""
        return self._head

    def last_model(self) -> Model | None:
        """The model of the last answer that did not fail, if this object has met it or the catalog knows it."""
        name = self.state.last
        if name is None or name in self._models:
            return None if name is None else self._models[name]
        try:
            return Catalog.default().resolve(*name)
        except ModelError:
            return None

    def next_model(self) -> Model:
        """A model that may well answer the next turn."""
        last = self.last_model()
        return last if last in self.router.members else self.router.members[0]

    @property
    def interrupted(self) -> Interruption | None:
        """What a crash in mid-turn has left open, if anything."""
        found = None if self._busy else interruption(self.state)
        return None if found is None or self._lives(found) else found

    # -- turns -------------------------------------------------------------------------------------------------------

    def stream(self, said: UserMessage | str, run: Tools = None) -> TurnStream:
        """One turn, as events. ``run`` runs the calls: a runner, or plain functions by the names of their tools."""
        message = UserMessage(said) if isinstance(said, str) else said

        async def turn(emit: Emit) -> TurnEnd:
            async with runner_of(run, self.tools) as runner:
                return await self.turn(message, runner, emit)

        return TurnStream(turn)

    async def turn(
        self, said: UserMessage, runner: Runner, emit: Emit, meter: Meter | None = None, steering: Steering = list
    ) -> TurnEnd:
        """One turn in the caller's own task, whose cancellation ends the turn and is not raised. ``meter`` counts what
        it uses and ends it at a limit; ``steering`` takes the messages that were queued for its next request."""
        with self._alone("a turn"):
            await self._recover()
            turn = Turn(self, said, runner, emit, meter or Meter(), steering)
            with pulse(self.renew, self.store.blocks):
                return await turn.run()

    async def ask(self, said: UserMessage | str, run: Tools = None) -> AssistantMessage:
        """One turn, to its final answer. One that failed is a message, too: ``stop_reason`` says so."""
        async with self.stream(said, run) as turn:
            end = await turn.finished()
        assert end.message is not None
        return end.message

    def switch(self, model: Model | str | Router) -> None:
        """From the next turn on, this model answers; a turn that is running keeps the one that it has."""
        router = self._met(model)
        self._insert(self.chosen(router))
        self.router = router

    def prompt(self, system_prompt: str | None) -> None:
        """From the next request on, this is the system prompt."""
        if (system_prompt or None) != self.state.system_prompt:
            self._insert([self.entry(Prompted, system_prompt=system_prompt or None)])

    async def recover(self, force: bool = False) -> Interruption | None:
        """Close a turn that was broken off: calls without a result get one that tells the model the truth.

        A turn that another process still runs is a ``ConflictError``; ``force`` takes it from that process.
        """
        with self._alone("a turn"):
            return await self._recover(force)

    async def compact(self, model: Model | str | None = None) -> UserMessage | None:
        """Replace older turns by a summary now; the log keeps them. ``None`` if there is nothing to summarise."""
        with self._alone("a compaction"):
            await self._recover()
            target = get_model(model) if isinstance(model, str) else model or self.next_model()
            return await compact(self, target)

    async def add_result(self, result: ToolResultMessage) -> None:
        """A real result that arrives late: it wins over the one that stands in for it."""
        if not self._busy:
            await self._recover()
        if result.tool_call_id not in self.state.ids:
            raise SessionError(f"session {self.id} has no call with the id {result.tool_call_id!r}")
        if result.tool_call_id in self.state.real:
            raise SessionError(f"the call {result.tool_call_id!r} of session {self.id} has its result already")
        await self.append(self.said(result))

    def configure(
        self, *, options: Options | None = None, policy: PolicyLike = None, connection: Connections = None
    ) -> None:
        """From the next request on, what is given here counts; the rest stays."""
        self.options = self.options if options is None else options
        self.policy = self.policy if policy is None else policy
        self._connection = self._connection if connection is None else connection

    def settings(self) -> dict[str, Any]:
        """How it asks, for another session that asks the same way."""
        return {"options": self.options, "policy": self.policy, "connection": self._connection}

    # -- what turns use ----------------------------------------------------------------------------------------------

    def said(self, message: Message, attempts: tuple[str, ...] = ()) -> MessageAdded:
        """The entry of a message."""
        return MessageAdded(key=self._key(), time=self.time(), message=message, attempts=attempts)

    def entry(self, entry: type[E], **fields: Any) -> E:
        """An entry of this kind, with a key and the time."""
        return entry(key=self._key(), time=self.time(), **fields)

    async def append(self, *entries: AnyEntry) -> None:
        """Write entries, all or none; when this returns, they are there after a crash.

        Whoever is cancelled meanwhile learns of it afterwards: what was given is written in any case.
        """
        await in_thread(self.store.blocks, self.write, entries)

    def connection(self, model: Model, retries: bool = True) -> Connection:
        """How ``model`` is reached; without ``retries``, where trying again is the router's business."""
        given = (self._connection(model) if callable(self._connection) else self._connection) or Connection()
        return given if retries else replace(given, retries=Retries(count=0))

    def estimate(self) -> int:
        """About how many tokens the next request holds."""
        return int(self._guessed())

    def overflows(self, model: Model) -> bool:
        """Whether the next request may not fit the window of ``model``."""
        seen = self._reached.get((model.ref, model.protocol))
        if seen is not None:
            model = replace(model, base_url=seen.base_url, endpoint=seen.endpoint)  # one rendering is for both
        context, stored = self.current, self._guessed()
        try:
            rendered = self.render(context, model, self.options, self.policy).guessed()
        except (ProjectionError, FormatError):
            rendered = stored  # it cannot be sent; why not, is told to whoever tries
        most = estimated(context.messages, stored, rendered, model).high
        return most + answer_room(model, self.options) > model.context_window

    def render(self, context: Context, model: Model, options: Options | None, policy: PolicyLike) -> Request:
        """The next request to ``model``. What was rendered for it before is not rendered again."""
        self._reached[model.ref, model.protocol] = model
        return self._renderers.request(context, model, options, policy, self.state.edits)

    @property
    def current(self) -> Context:
        """``context`` without a copy: what is in it grows with the session."""
        state = self.state
        return replace(_EMPTY, system_prompt=state.system_prompt, messages=state.messages, tools=self.tools)

    def _guessed(self) -> float:
        messages, settled = self.state.messages, self.state.settled
        frame = guessed_frame(self.state.system_prompt, self.tools)
        return frame + self._guess.over(messages, settled) + guessed_messages(messages[settled:])

    def now(self) -> float:
        """Seconds, for the router: a clock that only goes forward."""
        return time.monotonic()

    # -- parts of these ----------------------------------------------------------------------------------------------

    @contextmanager
    def _alone(self, doing: str) -> Iterator[None]:
        if self._busy:
            raise ConflictError(f"{self._busy} of session {self.id} is running; wait for it, or cancel it")
        self._busy = doing
        self.owner.begins()
        try:
            yield
        finally:
            self._busy = ""
            self.owner.ends()

    async def _recover(self, force: bool = False) -> Interruption | None:
        return await in_thread(self.store.blocks, self._settle, force)

    def _settle(self, force: bool = False) -> Interruption | None:
        """Read what others have added, and close a turn that was broken off; nothing else may stand inside it."""
        self.reload()
        found = interruption(self.state)
        if found is None:
            return None
        if not force and self._lives(found):
            raise ConflictError(f"a turn of session {self.id} is running elsewhere ({found.owner}); wait for it")
        results = [self.said(result) for result in closing_results(self.state.unanswered())]
        self.write([*results, self.entry(TurnEnded, how="recovered")])
        return found

    def _lives(self, found: Interruption) -> bool:
        return found.owner != self.owner.name and lives(found.owner, self.time() - self.state.changed)

    def renew(self) -> None:
        """Renew the lease of the turn that runs here, if nothing was written for a while."""
        with suppress(SegueError):  # the next entry of the turn meets the same obstacle, and reports it
            if self.state.turn is not None and self.time() - self.state.changed >= RENEWAL:
                self.write([self.entry(TurnRenewed)])

    def _insert(self, entries: Sequence[AnyEntry]) -> None:
        """Write what is no part of a turn, at once; it may stand inside one that runs here."""
        if not entries:
            return
        if not self._busy:
            self._settle()
        self.write(entries)

    def write(self, entries: Sequence[AnyEntry]) -> None:
        """As ``append``, in the caller's own thread."""
        with self._log:
            self._head = self.store.append(self.id, list(entries), after=self._head)
            for entry in entries:
                self.state.apply(entry)

    def _met(self, model: Model | str | Router) -> Router:
        router = Fixed(model) if isinstance(model, Model | str) else model
        if not isinstance(router, Router):
            raise TypeError(f"a model is a segue.Model, its name, or a router; not a {type(model).__name__}")
        self._models |= {(member.ref, member.protocol): member for member in router.members}
        return router

    def chosen(self, router: Router | None = None) -> list[AnyEntry]:
        """What the log says of a choice; a router cannot be written down."""
        router = router or self.router
        if not isinstance(router, Fixed):
            return []
        [model] = router.members
        return [self.entry(ModelChosen, model=model.ref, protocol=model.protocol)]

    def time(self) -> int:
        """Unix ms, for entries."""
        now = self._clock() * 1000
        if not abs(now) < LATEST:  # nor is any comparison with NaN true
            raise SettingError(f"the clock of session {self.id} gave {now / 1000}; a clock gives seconds since 1970")
        return int(now)

    @staticmethod
    def _key() -> str:
        return uuid.uuid4().hex


def _store(store: Store | str | None) -> Store:
    return open_store(store) if store is None or isinstance(store, str) else store


def _fresh_session_id() -> str:
    return f"{time.strftime('%Y%m%d-%H%M%S')}-{uuid.uuid4().hex[:6]}"
