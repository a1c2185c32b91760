"""Chooses the model for the next request, and decides what to do when it fails. No I/O, no clock, no randomness.

``Router`` has what all routers share: members, their health, and the rules for failures. A routing policy is one
method, ``rank``, which sorts the members by preference. There are four; another one is one subclass.
"""

from .decisions import (
    Compact as Compact,
    Decision as Decision,
    GiveUp as GiveUp,
    Next as Next,
    Retry as Retry,
    Situation as Situation,
)
from .patience import Patience, luck as luck
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
