"""Sessions and agents: they combine the store, the router, the client, compaction and tools."""

from .agent import Agent, AgentStream, Outcome
from .calls import Runner
from .check import SessionCheck as SessionCheck, check_session as check_session
from .events import TurnEvent as TurnEvent
from .meter import RunLimits, add_usage as add_usage, session_usage
from .recovery import Interruption
from .request_loop import NO_RETRIES as NO_RETRIES, RequestJournal as RequestJournal, RequestLoop as RequestLoop
from .session import Session
from .settings import Settings
from .state import rebuilt as rebuilt
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
