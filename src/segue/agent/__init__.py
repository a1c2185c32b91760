"""The turn engine: a session that is stored as it happens, composed of store, router, client and compaction."""

from .calls import PlainFunctions, Runner
from .events import CallResult, CallStart, Compaction, Retried, Switch, TurnEnd, TurnEvent, TurnStart
from .recovery import Interruption
from .session import Session
from .stream import TurnStream

__all__ = [
    "CallResult",
    "CallStart",
    "Compaction",
    "Interruption",
    "PlainFunctions",
    "Retried",
    "Runner",
    "Session",
    "Switch",
    "TurnEnd",
    "TurnEvent",
    "TurnStart",
    "TurnStream",
]
