"""Sessions and agents: they combine the store, the router, the client, compaction and tools."""

from .agent import Agent, AgentStream, Outcome
from .calls import Runner
from .events import CallResult, CallStart, Compaction, Retried, Steered, Switch, TurnEnd, TurnEvent, TurnStart
from .meter import RunLimits, session_usage
from .recovery import Interruption
from .request_loop import RequestJournal, RequestLoop
from .session import Session
from .settings import Settings
from .stream import TurnStream

__all__ = [
    "Agent",
    "AgentStream",
    "CallResult",
    "CallStart",
    "Compaction",
    "Interruption",
    "Outcome",
    "RequestJournal",
    "RequestLoop",
    "Retried",
    "RunLimits",
    "Runner",
    "Session",
    "Settings",
    "Steered",
    "Switch",
    "TurnEnd",
    "TurnEvent",
    "TurnStart",
    "TurnStream",
    "session_usage",
]
