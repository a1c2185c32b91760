"""An agent as a tool of another one. Each call runs in its own session, and its last text is the result.

The caller (the lead) is found in a context variable, not in arguments. The name of the call's session begins with the
name of the caller's, its usage is counted by the caller's meter, and it ends when the caller's run ends.
"""

import asyncio
from contextvars import ContextVar
from hashlib import blake2b
from itertools import count, islice
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from ..errors import SessionError
from ..session import MAX_NAME, SEPARATOR, AnyEntry, SessionInfo, Store, SystemPromptSet, TurnEnded
from ..tools import Approve, Tool, ToolLimits, running_call
from ..types import TextContent, ToolCall, ToolDefinition, ToolResultMessage
from ..waiting import in_thread
from .calls import failed_result
from .log import Log
from .meter import Meter
from .session import Session

if TYPE_CHECKING:
    from .agent import Agent, Outcome

HANDED_ON = "handed on"
"""How the caller's turn ends in the log of a sub-agent; it continues in the caller's own log."""

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
    """The run that a sub-agent works for."""

    session: Session
    meter: Meter
    approve: Approve | None
    depth: int
    """How many more levels of sub-agents are allowed."""
    asking: asyncio.Lock
    """Held while a person is asked for approval."""

    @classmethod
    def of(cls, agent: "Agent", meter: Meter, above: "Lead | None") -> "Lead":
        """The run of ``agent``, which may itself work for another run, ``above``."""
        depth = agent.session.settings.limits.depth
        if above is None:
            return cls(agent.session, meter, agent.approve, depth, asyncio.Lock())
        return cls(agent.session, meter, agent.approve, min(above.depth - 1, depth), above.asking)


LEAD: ContextVar[Lead | None] = ContextVar("segue_lead", default=None)
"""The run that the current task works for."""


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
        async with agent.copy_for(session, lead, limits) as worker:
            worker.name = name
            return _result(call, await worker.stream_for(lead, task).finished())

    text = TASK_WITH_HISTORY if history else TASK
    schema = {
        "type": "object",
        "properties": {"task": {"type": "string", "description": text}},
        "required": ["task"],
        "additionalProperties": False,
    }
    return Tool(ToolDefinition(name, description, schema), handler, timeout=timeout)


def _limits(own: ToolLimits, callers: ToolLimits | None) -> ToolLimits:
    """The limits of a sub-agent's tools, with a shorter grace than the caller's.

    They must have ended before the caller abandons the sub-agent. They are waited for twice: when they are stopped, and
    when everything is closed.
    """
    return own if callers is None else replace(own, grace=min(own.grace, callers.grace / 3))


def _result(call: ToolCall, outcome: "Outcome") -> ToolResultMessage:
    """The result for the caller's model: the text alone, or why the sub-agent did not finish and its last text."""
    text = outcome.text.strip()
    if outcome.how == "done":
        whole = outcome.message is None or outcome.message.stop_reason != "length"
        return ToolResultMessage(call.id, call.name, [TextContent((text or SILENT) + ("" if whole else CUT))])
    why = f"The sub-agent did not finish: {outcome.reason or outcome.how}."
    return failed_result(call, f"{why} What it said last:\n{text}" if text else why)


# -- its session ------------------------------------------------------------------------------------------------------


def _session(agent: "Agent", name: str, lead: Lead | None, store: Store, call: ToolCall, history: bool) -> Session:
    """Create the session of a call. With a lead it is a fork of the lead's session, with its history or empty."""
    own = agent.session
    prompt, connection, settings = own.log.state.system_prompt, own.targets.connection, own.settings
    if lead is None:
        return Session.create(
            own.router, store=store, system_prompt=prompt, title=name, connection=connection, settings=settings
        )
    at = lead.session.log.head if history else 0
    forked = _fork(lead.session.log, at, store, call, name)
    session = Session.open(forked, own.router, store=store, connection=connection, settings=settings)
    log = session.log
    prompted: list[AnyEntry] = [log.entry(SystemPromptSet, system_prompt=prompt)] if prompt else []
    log.write([*_closing(log, call), *log.model_chosen(own.router), *prompted])
    return session


def _fork(caller: Log, at: int, store: Store, call: ToolCall, title: str) -> str:
    """Create a session that begins with the first ``at`` entries of the caller's, and return its name.

    If a call runs a second time, it gets a second session.
    """
    names = (_name(caller.id, f"{call.id}{'' if turn == 1 else f'-{turn}'}") for turn in count(1))
    name, time = next(name for name in names if not _exists(store, name)), caller.time()
    if store is caller.store:
        store.fork(caller.id, at, name, time=time)
        store.rename(name, title)
        return name
    entries = [stored.entry for stored in islice(caller.store.read(caller.id), at)]
    info = SessionInfo(id=name, created=time, changed=time, entries=at, title=title, parent=caller.id, parent_entry=at)
    store.restore(info, entries)
    return name


def _name(caller: str, call: str) -> str:
    """The name of a call's session: the caller's, and the id of the call if it is valid in a name."""
    if len(call) > 64 or not call.isprintable() or not call:
        call = _digest(call)
    name = f"{caller}{SEPARATOR}{call}"
    return name if len(name) <= MAX_NAME else f"{caller[:100]}{SEPARATOR}{_digest(name)}"


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _exists(store: Store, name: str) -> bool:
    try:
        store.info(name)
    except SessionError:
        return False
    return True


def _closing(log: Log, call: ToolCall) -> list[AnyEntry]:
    """Close the turn in which the history ends: each open call gets a result that explains it to the sub-agent."""
    if log.state.turn is None:
        return []
    results = [
        ToolResultMessage(each.id, each.name, [TextContent(YOURS if each.id == call.id else BESIDE)], synthetic=True)
        for each, _ in log.state.unanswered()
    ]
    return [*map(log.message, results), log.entry(TurnEnded, how=HANDED_ON)]
