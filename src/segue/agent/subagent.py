"""An agent as a tool of another one: each call runs in a session of its own, and its last text is the result.

Who calls is known by a context variable, not by arguments: the call's session is found by the caller's name and the
call, what it uses counts to the caller's run, and it ends when that ends.
"""

import asyncio
from contextvars import ContextVar
from hashlib import blake2b
from itertools import count, islice
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from ..errors import SessionError
from ..session import AnyEntry, Prompted, SessionInfo, Store, TurnEnded
from ..session.rows import MAX_NAME
from ..tools import Approve, Tool, ToolLimits, running_call
from ..tools.waiting import in_thread
from ..types import TextContent, ToolCall, ToolDefinition, ToolResultMessage
from .calls import failed_result
from .meter import MARK, Meter
from .session import Session

if TYPE_CHECKING:
    from .agent import Agent, Outcome

HANDED_ON = "handed on"
"""How the log of a sub-agent calls the end of the turn that it was called in, which goes on elsewhere."""

YOURS = (
    "This call is yours: you are the sub-agent that it started, and your task follows. What you say last is its result."
)
BESIDE = "This call is not yours: it is answered elsewhere, and its result is not known here."

TOO_DEEP = "This call was not run: sub-agents may not call sub-agents any deeper. Do the work without it."
SILENT = "The sub-agent said nothing."
CUT = "\n(Here the sub-agent reached its limit of length.)"

TASK = "What to do, in full: nothing else of this conversation is seen."
TASK_WITH_HISTORY = "What to do. This conversation up to here has been read."


class Lead(Struct, frozen=True):
    """A run, as those see it that work for it."""

    session: Session
    meter: Meter
    approve: Approve | None
    depth: int
    """How much deeper sub-agents may be called."""
    asking: asyncio.Lock
    """Held while a person is asked something."""

    @classmethod
    def of(cls, agent: "Agent", meter: Meter, above: "Lead | None") -> "Lead":
        """The run of an agent, which may itself work for another."""
        if above is None:
            return cls(agent.session, meter, agent.approve, agent.limits.depth, asyncio.Lock())
        return cls(agent.session, meter, agent.approve, min(above.depth - 1, agent.limits.depth), above.asking)


LEAD: ContextVar[Lead | None] = ContextVar("segue_lead", default=None)
"""The run that the present code works for."""


def as_subagent(agent: "Agent", name: str, description: str, history: bool, timeout: float | None) -> Tool:
    """``agent`` as a tool with one parameter, the task."""

    async def handler(task: str) -> ToolResultMessage:
        lead, now = LEAD.get(), running_call()
        call = now.call if now is not None else ToolCall("", name, {"task": task})
        if lead is not None and lead.depth < 1:
            return failed_result(call, TOO_DEEP)
        limits = _limits(agent.scheduler.limits, now.limits if now is not None else None)
        store = agent.session.store if lead is None or agent.has_store else lead.session.store
        session = await in_thread(store.blocks, _session, agent, name, lead, store, call, history)
        async with agent.beside(session, lead, limits) as worker:
            return _told(call, await worker.started_by(lead, task).finished())

    text = TASK_WITH_HISTORY if history else TASK
    schema = {
        "type": "object",
        "properties": {"task": {"type": "string", "description": text}},
        "required": ["task"],
        "additionalProperties": False,
    }
    return Tool(ToolDefinition(name, description, schema), handler, timeout=timeout)


def _limits(own: ToolLimits, callers: ToolLimits | None) -> ToolLimits:
    """The sub-agent's tools must have ended before the caller's patience with the sub-agent does: they are waited for
    once when they are stopped, and once more when everything is closed."""
    return own if callers is None else replace(own, grace=min(own.grace, callers.grace / 3))


def _told(call: ToolCall, outcome: "Outcome") -> ToolResultMessage:
    """What the caller's model is told: the text alone, or what became of it and how far it came."""
    text = outcome.text.strip()
    if outcome.how == "done":
        whole = outcome.message is None or outcome.message.stop_reason != "length"
        return ToolResultMessage(call.id, call.name, [TextContent((text or SILENT) + ("" if whole else CUT))])
    why = f"The sub-agent did not finish: {outcome.reason or outcome.how}."
    return failed_result(call, f"{why} What it said last:\n{text}" if text else why)


# -- its session ------------------------------------------------------------------------------------------------------


def _session(agent: "Agent", name: str, lead: Lead | None, store: Store, call: ToolCall, history: bool) -> Session:
    """The session of a call: that of an agent of its own, or one that goes on where its caller is."""
    asked = agent.session
    if lead is None:
        prompt = asked.state.system_prompt
        return Session.create(asked.router, store=store, system_prompt=prompt, title=name, **asked.settings())
    at = lead.session.head if history else 0
    own = _forked(lead.session, at, store, call, name)
    session = Session.open(own, asked.router, store=store, **asked.settings())
    session.write([*_handed_on(session, call), *_its_own(session, asked)])
    return session


def _forked(caller: Session, at: int, store: Store, call: ToolCall, title: str) -> str:
    """A session with the first ``at`` entries of the caller's, whose name says whose it is. A call that runs a second
    time gets a second one."""
    names = (_name(caller.id, f"{call.id}{'' if turn == 1 else f'-{turn}'}") for turn in count(1))
    name, time = next(name for name in names if not _is_there(store, name)), caller.time()
    if store is caller.store:
        store.fork(caller.id, at, name, time=time)
        store.rename(name, title)
        return name
    entries = [stored.entry for stored in islice(caller.store.read(caller.id), at)]
    info = SessionInfo(id=name, created=time, changed=time, entries=at, title=title, parent=caller.id, parent_entry=at)
    store.restore(info, entries)
    return name


def _name(caller: str, call: str) -> str:
    """The name of a call's session: the caller's, and the call's id if a name may hold it."""
    if len(call) > 64 or not call.isprintable() or not call:
        call = _digest(call)
    name = f"{caller}{MARK}{call}"
    return name if len(name) <= MAX_NAME else f"{caller[:100]}{MARK}{_digest(name)}"


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _is_there(store: Store, name: str) -> bool:
    try:
        store.info(name)
    except SessionError:
        return False
    return True


def _handed_on(session: Session, call: ToolCall) -> list[AnyEntry]:
    """The end of the turn that the history stops in: what its open calls are to who reads it here."""
    state = session.state
    if state.turn is None:
        return []
    results = [
        ToolResultMessage(each.id, each.name, [TextContent(YOURS if each.id == call.id else BESIDE)], synthetic=True)
        for each, _ in state.unanswered()
    ]
    return [*map(session.said, results), session.entry(TurnEnded, how=HANDED_ON)]


def _its_own(session: Session, asked: Session) -> list[AnyEntry]:
    """Its model, and its system prompt where it has one."""
    prompt = asked.state.system_prompt
    prompted: list[AnyEntry] = [session.entry(Prompted, system_prompt=prompt)] if prompt else []
    return [*session.chosen(), *prompted]
