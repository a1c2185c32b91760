"""Chooses the model for the next request, and decides what to do when it fails. No I/O, no clock, no randomness.

``Router`` has what all routers share: members, their health, and the rules for failures. A routing policy is one
method, ``rank``, which sorts the members by preference. There are four; another one is one subclass.
"""

from .decisions import Compact, Decision, GiveUp, Next, Retry, Situation
from .patience import Patience
from .policies import Failover, Fixed, RoundRobin, Weighted
from .router import Router

__all__ = [
    "Compact",
    "Decision",
    "Failover",
    "Fixed",
    "GiveUp",
    "Next",
    "Patience",
    "Retry",
    "RoundRobin",
    "Router",
    "Situation",
    "Weighted",
]
