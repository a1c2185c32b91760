"""Which model answers the next request, and what to do when it does not. No I/O, no clock, no chance.

``Router`` is what all have in common: members, their health, and the rules for failures. A policy is one method,
``rank``: which members it would rather have, in this situation. Four are here; another is one subclass.
"""

from .decisions import (
    Compact as Compact,
    Decision as Decision,
    GiveUp as GiveUp,
    Next as Next,
    Retry as Retry,
    Situation as Situation,
)
from .patience import Patience
from .policies import Failover, Fixed, RoundRobin, Weighted
from .router import Router

__all__ = [
    "Failover",
    "Fixed",
    "Patience",
    "RoundRobin",
    "Router",
    "Weighted",
]
