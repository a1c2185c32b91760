"""Test doubles for your own agents, on loopback: strict stand-ins for providers, and a small real model."""

from .local import LocalModel
from .reproduce import Refused, Reproduction, reproduce
from .script import Fault, FaultKind, Reply, text_reply
from .standin import StandIn
from .voice import Refusal

__all__ = [
    "Fault",
    "FaultKind",
    "LocalModel",
    "Refusal",
    "Refused",
    "Reply",
    "Reproduction",
    "StandIn",
    "reproduce",
    "text_reply",
]
