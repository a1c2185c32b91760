"""The turn engine and the agent: composed of store, router, client, compaction and tools."""

from .agent import Agent, AgentStream, Outcome
from .calls import Runner
from .meter import RunLimits, session_usage
from .recovery import Interruption
from .session import Session
from .stream import TurnStream

__all__ = [
    "Agent",
    "AgentStream",
    "Interruption",
    "Outcome",
    "RunLimits",
    "Runner",
    "Session",
    "TurnStream",
    "session_usage",
]
