"""The turn engine and the agent: composed of store, router, client, compaction and tools."""

from .agent import Agent, AgentStream, Outcome
from .calls import Runner
from .events import CallResult, CallStart, Compaction, Retried, Steered, Switch, TurnEnd, TurnEvent, TurnStart
from .meter import RunLimits, session_usage
from .recovery import Interruption
from .session import Session
from .stream import TurnStream

__all__ = [
    "Agent",
    "AgentStream",
    "CallResult",
    "CallStart",
    "Compaction",
    "Interruption",
    "Outcome",
    "Retried",
    "RunLimits",
    "Runner",
    "Session",
    "Steered",
    "Switch",
    "TurnEnd",
    "TurnEvent",
    "TurnStart",
    "TurnStream",
    "session_usage",
]
