"""Sessions and agents: they combine the store, the router, the client, compaction and tools."""

from .agent import Agent, AgentStream, Outcome
from .calls import Runner
from .meter import RunLimits, session_usage
from .recovery import Interruption
from .session import Session
from .settings import Settings
from .stream import TurnStream

__all__ = [
    "Agent",
    "AgentStream",
    "Interruption",
    "Outcome",
    "RunLimits",
    "Runner",
    "Session",
    "Settings",
    "TurnStream",
    "session_usage",
]
