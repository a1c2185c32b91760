"""``Agent``: a model with tools in a session. The chat, `segue run` and sub-agents all use it.

A run is one turn, and one more for each follow-up. The agent writes nothing and runs no tools itself: the turn writes,
and the scheduler runs the calls. Its own state is the queue of messages that are not delivered yet.
"""

import asyncio
import inspect
from collections import deque
from collections.abc import Iterable
from contextlib import nullcontext
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ..client import run_sync
from ..errors import ConflictError
from ..render import ConversationLike
from ..router import Fixed, Router
from ..session import MEMORY, Store, open_store
from ..telemetry import agent_span
from ..tools import Allow, Approval, ApprovalRequest, Approve, Scheduler, Tool, ToolLike, ToolLimits
from ..types import AssistantMessage, Usage, UserMessage
from .events import Emit, How, TurnEnd, TurnEvent
from .meter import FREE, Meter, cost_of
from .session import Session, as_user_message
from .settings import Settings
from .stream import EventStream
from .subagent import LEAD, Lead, as_subagent
from .targets import Connections, Models
from .turn import run_turn

UserInput = str | UserMessage


class Outcome(Struct, frozen=True):
    """The outcome of a run."""

    how: How
    """``done``, ``failed``, ``cancelled``, or ended by a ``limit``."""
    message: AssistantMessage | None = None
    """The last answer, if there is one."""
    reason: str = ""
    """Why it failed, or which limit was reached."""
    usage: Usage = FREE
    """The tokens of all requests of the run, with those of its sub-agents and summaries."""
    steps: int = 0
    """The number of answers, without those of sub-agents."""

    @property
    def text(self) -> str:
        """The text of the last answer."""
        return "" if self.message is None else self.message.text

    @property
    def cost(self) -> float | None:
        """Dollars; ``None`` if a price is not known."""
        return cost_of(self.usage)


class AgentStream(EventStream[Outcome]):
    """An async iterator over the events of a run."""

    @property
    def outcome(self) -> Outcome | None:
        """The outcome, after the run has ended."""
        return self._result

    def _not_started(self) -> Outcome:
        self._events.put_nowait(TurnEnd("cancelled", None))
        return Outcome("cancelled")

    def _last_event(self, result: Outcome) -> TurnEvent | None:
        return None


class Agent:
    """A model that answers in a session and may use tools.

    Without a session it creates one in ``store``, or in memory, which may continue a ``history``: a conversation in any
    form. A session that is passed, or opened by its id from ``store`` (by default the default file), keeps its model,
    system prompt, connection and settings, unless others are passed here.
    """

    def __init__(
        self,
        model: Models | None = None,
        tools: Iterable[ToolLike] = (),
        session: Session | str | None = None,
        *,
        history: ConversationLike | None = None,
        system_prompt: str | None = None,
        approve: Approve | None = None,
        connection: Connections = None,
        store: Store | str | None = None,
        settings: Settings | None = None,
    ) -> None:
        self.name = ""
        """The name of a sub-agent, for telemetry."""
        self.approve = approve
        self.has_store = session is not None or store is not None
        """Whether the caller chose a store. Otherwise a sub-agent uses the store of its lead."""
        self._own_store: Store | None = None
        if session is not None and history is not None:
            raise TypeError("pass a session or a history, not both: a session has its own history")
        if isinstance(session, Session):
            if store is not None:
                raise TypeError("pass a session or a store, not both: a session has its own store")
            _continue(session, model, system_prompt, connection, settings)
        else:
            session = self._open(session, history, store, model, system_prompt, connection, settings)
        self.session: Session = session
        self.scheduler = Scheduler(
            tools, approve=None if approve is None else self._ask, limits=session.settings.tool_limits
        )
        session.tools = self.scheduler.definitions
        self._steering: deque[UserMessage] = deque()
        self._following: deque[UserMessage] = deque()
        self._running = False

    def _open(
        self,
        id: str | None,  # noqa: A002
        history: ConversationLike | None,
        store: Store | str | None,
        model: Models | None,
        prompt: str | None,
        connection: Connections,
        settings: Settings | None,
    ) -> Session:
        """Open the session with this id, or create one."""
        if isinstance(store, str) or store is None:
            opened = open_store(store or (MEMORY if id is None else None), create=id is None)
            self._own_store = opened
        else:
            opened = store
        try:
            if id is not None:
                session = Session.open(id, model, store=opened, connection=connection, settings=settings)
                if prompt is not None:
                    session.prompt(prompt)
                return session
            if model is None:
                raise TypeError("an agent without a session needs a model")
            return Session.create(
                model, store=opened, system_prompt=prompt, connection=connection, settings=settings, history=history
            )
        except BaseException:
            if self._own_store is not None:
                self._own_store.close()
            raise

    # -- runs --------------------------------------------------------------------------------------------------------

    async def run(self, message: UserInput) -> Outcome:
        """Run a turn for ``message``, and one for each follow-up. Return the outcome."""
        async with self.stream(message) as events:
            return await events.finished()

    def run_sync(self, message: UserInput) -> Outcome:
        """``run`` for synchronous callers; also works in a thread with a running event loop."""
        return run_sync(self.run(message))

    def stream(self, message: UserInput) -> AgentStream:
        """Like ``run``, as a stream of events. ``cancel()``, or leaving ``async with``, ends the run."""
        return self.stream_for(None, message)

    def stream_for(self, lead: Lead | None, message: UserInput) -> AgentStream:
        """Run on behalf of ``lead``, whose meter counts the usage, too."""
        first = as_user_message(message)

        async def run(emit: Emit) -> Outcome:
            if self._running:
                raise ConflictError(f"the agent of session {self.session.id} is running; steer it, or wait for it")
            meter = Meter(self.session.settings.limits, None if lead is None else lead.meter)
            LEAD.set(Lead.of(self, meter, lead))  # this runs in its own task, which has its own context
            self._running = True
            self.session.tools = self.scheduler.definitions  # tools may have been added or removed
            try:
                with agent_span(self.name, self.session.id):
                    return await self._run_turns(first, emit, meter)
            finally:
                self._running = False

        return AgentStream(run)

    def steer(self, message: UserInput) -> None:
        """Queue a message for the next request of the running turn. A turn that was about to end continues with it.

        Messages that are not delivered when a run ends stay queued for the next run.
        """
        self._steering.append(as_user_message(message))

    def follow_up(self, message: UserInput) -> None:
        """Queue a message for another turn, after the running one and in the same run."""
        self._following.append(as_user_message(message))

    @property
    def queued(self) -> list[UserMessage]:
        """The messages that are not delivered yet: steering, then follow-ups."""
        return [*self._steering, *self._following]

    def clear_queue(self) -> list[UserMessage]:
        """Empty the queue and return the messages that were in it."""
        queued = self.queued
        self._steering.clear()
        self._following.clear()
        return queued

    def switch(self, model: Models) -> None:
        """Use another model from the next turn on. A turn that is running keeps its model."""
        self.session.switch(model)

    async def _run_turns(self, message: UserMessage, emit: Emit, meter: Meter) -> Outcome:
        while True:
            end = await run_turn(self.session, message, self.scheduler, emit, meter, self._pop_steering)
            emit(end)
            queue = self._steering or self._following  # steering that came while the turn was closed is also delivered
            if end.how != "done" or not queue:
                return Outcome(end.how, end.message, end.reason, meter.usage, meter.steps)
            if _is_cancelled():  # too late for that turn
                return Outcome("cancelled", end.message, "", meter.usage, meter.steps)
            over = meter.over()
            if over is not None:
                return Outcome("limit", end.message, over, meter.usage, meter.steps)
            message = queue.popleft()

    def _pop_steering(self) -> list[UserMessage]:
        queued = list(self._steering)
        self._steering.clear()
        return queued

    # -- sub-agents and approval -------------------------------------------------------------------------------------

    def as_tool(self, name: str, description: str, *, history: bool = False, timeout: float | None = None) -> Tool:
        """This agent as a tool of another one. Each call runs in its own session; its last text is the result.

        With ``history`` it sees the conversation up to the call. ``timeout`` is in seconds, as for any tool.
        """
        return as_subagent(self, name, description, history, timeout)

    def copy_for(self, session: Session, lead: Lead | None, limits: ToolLimits) -> "Agent":
        """A copy of this agent for another session. Without an ``approve`` of its own it uses the lead's."""
        approve = self.approve if lead is None else self.approve or lead.approve
        settings = replace(self.session.settings, tool_limits=limits)
        copy = Agent(None, self.scheduler.tools.values(), session, approve=approve, settings=settings)
        copy.scheduler.always = self.scheduler.always  # "always" is meant for the agent, not for this call of it
        return copy

    async def _ask(self, request: ApprovalRequest) -> Approval:
        """Ask for approval, one question at a time, even if sub-agents run side by side."""
        lead = LEAD.get()
        async with nullcontext() if lead is None else lead.asking:
            if request.tool.name in self.scheduler.always:  # allowed while this question waited
                return Allow()
            assert self.approve is not None
            answer = self.approve(request)
            return await answer if inspect.isawaitable(answer) else answer

    async def aclose(self) -> None:
        """Stop the tools that still run, and close the store if the agent opened it."""
        await self.scheduler.aclose()
        if self._own_store is not None:
            self._own_store.close()

    async def __aenter__(self) -> "Agent":
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self.aclose()

    def close(self) -> None:
        """``aclose`` for synchronous callers."""
        run_sync(self.aclose())

    def __enter__(self) -> "Agent":
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()


def _continue(
    session: Session,
    model: Models | None,
    prompt: str | None,
    connection: Connections,
    settings: Settings | None,
) -> None:
    """Give a session that is continued what was passed to the agent."""
    session.configure(connection=connection, settings=settings)
    if prompt is not None:
        session.prompt(prompt)
    if model is not None and not _is_same(model, session.router):
        session.switch(model)


def _is_same(model: Models, router: Router) -> bool:
    """Whether the session would continue with this model anyway."""
    if isinstance(model, Router):
        return model is router
    return isinstance(router, Fixed) and router.members == Fixed(model).members


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
