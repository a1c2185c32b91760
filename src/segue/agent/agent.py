"""``Agent``: a model, tools and a session. Every mode is a driver of it, and all run tools the same way.

A run is one turn, and those that follow-ups ask for. The agent itself writes nothing and runs no tool: the turn writes,
the scheduler runs. What it keeps besides the session is what has been queued and not been delivered.
"""

import asyncio
import inspect
from collections import deque
from collections.abc import Iterable
from contextlib import nullcontext
from typing import Any

from msgspec import Struct

from ..errors import ConflictError
from ..projection import PolicyLike
from ..router import Fixed, Router
from ..session import Store, open_store
from ..session.sqlite import MEMORY
from ..tools import Allow, Approval, ApprovalRequest, Approve, Scheduler, Tool, ToolLike, ToolLimits
from ..types import AssistantMessage, Model, Options, Usage, UserMessage
from .events import How, TurnEnd, TurnEvent
from .meter import FREE, Meter, RunLimits, cost_of
from .session import Connections, Session
from .stream import Emit, EventStream
from .subagent import LEAD, Lead, as_subagent

UserInput = str | UserMessage
Models = Model | str | Router


class Outcome(Struct, frozen=True):
    """What came of a run."""

    how: How
    """``done``, ``failed``, ``cancelled``, or ended by a ``limit``."""
    message: AssistantMessage | None = None
    """The last answer; ``None`` if there is none."""
    reason: str = ""
    """Why it failed, or which limit was reached."""
    usage: Usage = FREE
    """The tokens of all requests of the run, with those of its sub-agents and summaries."""
    steps: int = 0
    """How many answers were asked for; those of sub-agents are their own."""

    @property
    def text(self) -> str:
        """The text of the last answer."""
        return "" if self.message is None else self.message.text

    @property
    def cost(self) -> float | None:
        """Dollars; ``None`` where a price is not known."""
        return cost_of(self.usage)


class AgentStream(EventStream[Outcome]):
    """An async iterator of what happens in a run, turn by turn; ``outcome`` says what came of it."""

    @property
    def outcome(self) -> Outcome | None:
        """What came of the run, once it is over."""
        return self._result

    def _unbegun(self) -> Outcome:
        self._events.put_nowait(TurnEnd("cancelled", None))
        return Outcome("cancelled")

    def _last(self, result: Outcome) -> TurnEvent | None:
        return None


class Agent:
    """A model that answers, with tools, in a session.

    Without a session there is a new one, in ``store``, or in memory: nothing is written to disk unasked. A session that
    is given goes on with its own model, unless another one is named here, and with its own system prompt, options,
    policy and connection, unless these are given.
    """

    def __init__(
        self,
        model: Models | None = None,
        tools: Iterable[ToolLike] = (),
        session: Session | None = None,
        *,
        system_prompt: str | None = None,
        approve: Approve | None = None,
        limits: RunLimits | None = None,
        tool_limits: ToolLimits | None = None,
        options: Options | None = None,
        policy: PolicyLike = None,
        connection: Connections = None,
        store: Store | str | None = None,
    ) -> None:
        self.approve = approve
        self.limits = limits or RunLimits()
        self.scheduler = Scheduler(tools, approve=None if approve is None else self._ask, limits=tool_limits)
        self.has_store = session is not None or store is not None
        """Whether somebody has said where its sessions are kept; a sub-agent's are, else, where its caller's is."""
        self._own_store: Store | None = None
        settings = {"options": options, "policy": policy, "connection": connection}
        if session is None:
            session = self._new_session(model, system_prompt, store, settings)
        elif store is not None:
            raise TypeError("a session that is given has its store already")
        else:
            _go_on(session, model, system_prompt, settings)
        self.session: Session = session
        session.tools = self.scheduler.definitions
        self._steering: deque[UserMessage] = deque()
        self._following: deque[UserMessage] = deque()
        self._running = False

    def _new_session(
        self, model: Models | None, prompt: str | None, store: Store | str | None, settings: dict[str, Any]
    ) -> Session:
        if model is None:
            raise TypeError("an agent without a session needs a model")
        where = open_store(store or MEMORY) if store is None or isinstance(store, str) else store
        self._own_store = where if where is not store else None
        try:
            return Session.create(model, store=where, system_prompt=prompt, **settings)
        except BaseException:
            if self._own_store is not None:
                self._own_store.close()
            raise

    # -- runs --------------------------------------------------------------------------------------------------------

    async def run(self, message: UserInput) -> Outcome:
        """From what the user says to the end of the turn, and of all that follow-ups ask for."""
        async with self.stream(message) as events:
            return await events.finished()

    def stream(self, message: UserInput) -> AgentStream:
        """A run, as events. ``cancel()``, or leaving ``async with``, ends it."""
        return self.started_by(None, message)

    def started_by(self, lead: Lead | None, message: UserInput) -> AgentStream:
        """A run on behalf of another one, to which it counts."""
        first = _message(message)

        async def go(emit: Emit) -> Outcome:
            if self._running:
                raise ConflictError(f"the agent of session {self.session.id} is running; steer it, or wait for it")
            meter = Meter(self.limits, None if lead is None else lead.meter)
            LEAD.set(Lead.of(self, meter, lead))  # this is a task of its own, and so is its context
            self._running = True
            self.session.tools = self.scheduler.definitions  # some may have come or gone
            try:
                return await self._turns(first, emit, meter)
            finally:
                self._running = False

        return AgentStream(go)

    def steer(self, message: UserInput) -> None:
        """Queue a message for the next request of the running turn; a turn that was about to end goes on with it.

        What has not been delivered when a run ends stays queued for the next one.
        """
        self._steering.append(_message(message))

    def follow_up(self, message: UserInput) -> None:
        """Queue a message for a turn of its own, after the running one and in the same run."""
        self._following.append(_message(message))

    @property
    def queued(self) -> list[UserMessage]:
        """What has not been delivered yet: steering, then follow-ups."""
        return [*self._steering, *self._following]

    def take_back(self) -> list[UserMessage]:
        """Empty the queue, and give what was in it."""
        queued = self.queued
        self._steering.clear()
        self._following.clear()
        return queued

    def switch(self, model: Models) -> None:
        """From the next turn on, this model answers; a turn that is running keeps the one that it has."""
        self.session.switch(model)

    async def _turns(self, message: UserMessage, emit: Emit, meter: Meter) -> Outcome:
        while True:
            end = await self.session.turn(message, self.scheduler, emit, meter, self._steered)
            emit(end)
            queue = self._steering or self._following  # what came while the turn was being closed is steering, too
            if end.how != "done" or not queue:
                return Outcome(end.how, end.message, end.reason, meter.usage, meter.steps)
            if _is_cancelled():  # too late for that turn
                return Outcome("cancelled", end.message, "", meter.usage, meter.steps)
            over = meter.over()
            if over is not None:
                return Outcome("limit", end.message, over, meter.usage, meter.steps)
            message = queue.popleft()

    def _steered(self) -> list[UserMessage]:
        queued = list(self._steering)
        self._steering.clear()
        return queued

    # -- parts of others ---------------------------------------------------------------------------------------------

    def as_tool(self, name: str, description: str, *, history: bool = False, timeout: float | None = None) -> Tool:
        """This agent as a tool of another one: each call runs in a session of its own, and its last text is the result.

        With ``history`` it has read the conversation up to the call. ``timeout``: seconds, as for any tool.
        """
        return as_subagent(self, name, description, history, timeout)

    def beside(self, session: Session, lead: Lead | None, limits: ToolLimits) -> "Agent":
        """Another agent of the same kind, for ``session``; where nobody can be asked, whoever asks for ``lead`` is."""
        approve = self.approve if lead is None else self.approve or lead.approve
        tools = self.scheduler.tools.values()
        twin = Agent(None, tools, session, approve=approve, limits=self.limits, tool_limits=limits)
        twin.scheduler.always = self.scheduler.always  # who says "always" means the agent, not this one call of it
        return twin

    async def _ask(self, asked: ApprovalRequest) -> Approval:
        """Ask a person: one question at a time, also when sub-agents run side by side."""
        lead = LEAD.get()
        async with nullcontext() if lead is None else lead.asking:
            if asked.tool.name in self.scheduler.always:  # said while this one waited
                return Allow()
            assert self.approve is not None
            answer = self.approve(asked)
            return await answer if inspect.isawaitable(answer) else answer

    async def aclose(self) -> None:
        """Let go of everything: nothing that the tools began is left running."""
        await self.scheduler.aclose()
        if self._own_store is not None:
            self._own_store.close()

    async def __aenter__(self) -> "Agent":
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self.aclose()


def _message(message: UserInput) -> UserMessage:
    if not isinstance(message, str | UserMessage):
        raise TypeError(f"a message is a text or a UserMessage, not {type(message).__name__}")
    return UserMessage(message) if isinstance(message, str) else message


def _go_on(session: Session, model: Models | None, prompt: str | None, settings: dict[str, Any]) -> None:
    """What is given takes the place of what the session had."""
    session.configure(**settings)
    if prompt is not None:
        session.prompt(prompt)
    if model is not None and not _is_same(model, session.router):
        session.switch(model)


def _is_same(model: Models, router: Router) -> bool:
    """Whether a session goes on with this model anyway."""
    if isinstance(model, Router):
        return model is router
    return isinstance(router, Fixed) and router.members == Fixed(model).members


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
