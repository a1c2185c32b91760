"""``Session``: a stored conversation that can be continued.

A turn runs from the user's message to the final answer, tools included. It keeps the model with which it began, unless
that model fails. Every step is in the log before the next one begins, so a session can be opened after a crash at any
point, and continues from there.
"""

import time
import uuid
from collections.abc import Iterable

from ..catalog import as_model, get_model
from ..client import error_of, run_sync
from ..errors import SessionError
from ..render import ConversationLike, as_context
from ..router import Router
from ..session import AnyEntry, SessionInfo, Store, SystemPromptSet, find_session, open_store
from ..types import AssistantMessage, Context, Message, Model, ToolDefinition, ToolResultMessage, UserMessage
from .calls import Tools, runner_of
from .compact import compact
from .events import Emit, TurnEnd
from .history import history_entries
from .log import Log
from .recovery import Interruption
from .requests import Requests
from .settings import Settings, checked
from .stream import TurnStream
from .targets import Connections, Models, Targets
from .turn import run_turn


class Session:
    """A stored conversation. ``Session.create`` begins one, ``Session.open`` continues one.

    ``model`` is a model, its name, or a router that chooses one for each turn.
    """

    def __init__(self, log: Log, targets: Targets, requests: Requests) -> None:
        self.log = log
        """Its entries, and the state that follows from them."""
        self.targets = targets
        """The models that it may ask, and how they are reached."""
        self.requests = requests
        """Its requests and their sizes."""

    @classmethod
    def create(
        cls,
        model: Models,
        *,
        store: Store | str | None = None,
        id: str | None = None,  # noqa: A002
        system_prompt: str | None = None,
        title: str = "",
        tools: Iterable[ToolDefinition] = (),
        connection: Connections = None,
        settings: Settings | None = None,
        history: ConversationLike | None = None,
    ) -> "Session":
        """Create a session. ``store`` is a store, a path, a URL, or ``None`` for the default file.

        ``history`` is a conversation that it continues, in any form; its system prompt and tools are used unless others
        are passed.
        """
        settings, targets = checked(settings), Targets(model, connection)
        begun = Context([]) if history is None else as_context(history)
        log = Log(_store(store), id or _new_id(), settings.clock)
        log.store.create(log.id, time=log.time(), title=title)
        first: list[AnyEntry] = log.model_chosen(targets.router)
        first += history_entries(log, begun, targets.router.members[0])
        if system_prompt:
            first.append(log.entry(SystemPromptSet, system_prompt=system_prompt))
        if first:
            log.write(first)
        return cls(log, targets, Requests(log.id, log.state, list(tools) or begun.tools, settings))

    @classmethod
    def open(
        cls,
        id: str,  # noqa: A002
        model: Models | None = None,
        *,
        store: Store | str | None = None,
        tools: Iterable[ToolDefinition] = (),
        connection: Connections = None,
        settings: Settings | None = None,
    ) -> "Session":
        """Open a stored session, with its last model if no other is passed. The beginning of its id is enough, if no
        other begins like that; ``segue.sessions()`` lists all."""
        settings, stored = checked(settings), _store(store)
        log = Log(stored, find_session(stored, id), settings.clock)
        log.reload()
        if model is None:
            last = log.state.model
            if last is None:
                raise SessionError(f"session {id} does not name a model to continue with", in_python="pass one")
            model = get_model(last[0], protocol=last[1])
        return cls(log, Targets(model, connection), Requests(log.id, log.state, tools, settings))

    # -- its parts ---------------------------------------------------------------------------------------------------

    @property
    def id(self) -> str:
        """Its name in the store."""
        return self.log.id

    @property
    def store(self) -> Store:
        """Where it is stored."""
        return self.log.store

    @property
    def info(self) -> SessionInfo:
        """Its title, times and number of entries, as in a list of sessions."""
        return self.store.info(self.id)

    @property
    def messages(self) -> list[Message]:
        """The history as it is rendered: from the last compaction on, with its summary first."""
        return list(self.log.state.messages)

    @property
    def context(self) -> Context:
        """The conversation that the next request renders."""
        return Context(system_prompt=self.log.state.system_prompt, messages=self.messages, tools=list(self.tools))

    @property
    def router(self) -> Router:
        """Chooses the model of each turn."""
        return self.targets.router

    @property
    def tools(self) -> list[ToolDefinition]:
        """The tools that are offered to the model."""
        return self.requests.tools

    @tools.setter
    def tools(self, tools: Iterable[ToolDefinition]) -> None:
        self.requests.tools = list(tools)

    @property
    def settings(self) -> Settings:
        """Its settings; ``configure`` replaces them."""
        return self.requests.settings

    @property
    def interrupted(self) -> Interruption | None:
        """The turn that a crash has left open, if any."""
        return self.log.interrupted

    # -- turns -------------------------------------------------------------------------------------------------------

    def stream(self, message: UserMessage | str, run: Tools = None) -> TurnStream:
        """Run one turn and stream its events. ``run`` runs the calls: a runner, or functions by tool name."""
        first = as_user_message(message)

        async def turn(emit: Emit) -> TurnEnd:
            async with runner_of(run, self.tools) as runner:
                return await run_turn(self, first, runner, emit)

        return TurnStream(turn)

    async def ask(self, message: UserMessage | str, run: Tools = None, *, check: bool = True) -> AssistantMessage:
        """Run one turn and return its final answer. If it failed, raise its ``ProviderError``; the turn is stored.

        With ``check=False`` a failed answer is returned like any other: see its ``stop_reason``.
        """
        async with self.stream(message, run) as turn:
            end = await turn.finished()
        assert end.message is not None
        error = error_of(end.message) if check and end.how == "failed" else None
        if error is not None:
            raise error
        return end.message

    def ask_sync(self, message: UserMessage | str, run: Tools = None, *, check: bool = True) -> AssistantMessage:
        """``ask`` for synchronous callers; also works in a thread with a running event loop."""
        return run_sync(self.ask(message, run, check=check))

    async def compact(self, model: Model | str | None = None) -> UserMessage | None:
        """Replace older turns by a summary now; the log keeps them. ``None`` if there is nothing to summarise."""
        with self.log.exclusive("a compaction"):
            await self.log.recover()
            target = None if model is None else as_model(model)
            return await compact(self, target or self.targets.likely(self.log.state.last))

    async def recover(self, force: bool = False) -> Interruption | None:
        """Close a turn that was interrupted. Calls without a result get one that says so.

        If another process still runs the turn, a ``ConflictError`` is raised; ``force`` closes it all the same.
        """
        with self.log.exclusive("a turn"):
            return await self.log.recover(force)

    async def add_result(self, result: ToolResultMessage) -> None:
        """Add a real result that arrives late. It replaces the placeholder."""
        if not self.log.is_running:
            await self.log.recover()
        state, call = self.log.state, result.tool_call_id
        if call not in state.ids:
            raise SessionError(f"session {self.id} has no call with the id {call!r}")
        if call in state.real:
            raise SessionError(f"the call {call!r} of session {self.id} already has its result")
        await self.log.append(self.log.message(result))

    # -- changes -----------------------------------------------------------------------------------------------------

    def switch(self, model: Models) -> None:
        """Use another model from the next turn on. A turn that is running keeps its model."""
        router = self.targets.router_for(model)
        self.log.insert(self.log.model_chosen(router))
        self.targets.router = router

    def prompt(self, system_prompt: str | None) -> None:
        """Use another system prompt from the next request on."""
        if (system_prompt or None) != self.log.state.system_prompt:
            self.log.insert([self.log.entry(SystemPromptSet, system_prompt=system_prompt or None)])

    def configure(self, *, connection: Connections = None, settings: Settings | None = None) -> None:
        """Use another connection or other settings from the next request on. ``None`` keeps what it has."""
        if connection is not None:
            self.targets.connection = connection
        if settings is not None:
            self.requests.settings = checked(settings)
            self.log.clock = settings.clock


def as_user_message(message: UserMessage | str) -> UserMessage:
    """The message of the user, also from a text."""
    if not isinstance(message, str | UserMessage):
        raise TypeError(f"a message is a text or a UserMessage, not a {type(message).__name__}")
    return UserMessage(message) if isinstance(message, str) else message


def _store(store: Store | str | None) -> Store:
    return open_store(store) if store is None or isinstance(store, str) else store


def _new_id() -> str:
    return f"{time.strftime('%Y%m%d-%H%M%S')}-{uuid.uuid4().hex[:6]}"
