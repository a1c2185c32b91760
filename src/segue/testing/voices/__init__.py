"""The provider's side of each protocol: one file per protocol, with the same name in underscores."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module

from ..voice import Voice


@cache
def voice_of(protocol: str, provider: str = "") -> Voice:
    """Return the voice of a protocol: ``VOICE`` of its file, or the provider's own from ``VOICES``."""
    file = import_module(f".{protocol.replace('-', '_')}", __package__)
    voices: Mapping[str, Voice] = {"": file.VOICE, **getattr(file, "VOICES", {})}
    return voices.get(provider, voices[""])
