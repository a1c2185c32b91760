"""The protocols, by name. Each is a folder of that name, with underscores, and is loaded when it is first asked for."""

from functools import cache
from importlib import import_module

from ..dialects import DIALECTS
from ..errors import ModelError
from .protocol import Protocol

PROTOCOLS = tuple(DIALECTS)
"""The names of all protocols."""


@cache
def protocol_of(name: str) -> Protocol:
    """Return the protocol of that name; its folder exports it as ``PROTOCOL``."""
    if name not in DIALECTS:
        raise ModelError(f"unknown protocol {name!r}; the protocols are {', '.join(PROTOCOLS)}")
    found: Protocol = import_module(f".{name.replace('-', '_')}", __package__).PROTOCOL
    return found
