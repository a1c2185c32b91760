"""The protocols, by name. A new one is a new folder and one line here; each is loaded on first use."""

from functools import cache
from importlib import import_module

from ..errors import ModelError
from .protocol import Protocol

NAMES = (
    "anthropic-messages",
    "openai-completions",
    "openai-responses",
    "google-generative-ai",
    "bedrock-converse",
    "mistral-chat",
)
FOLDERS = {name: name.replace("-", "_") for name in NAMES}


@cache
def protocol_of(name: str) -> Protocol:
    """The protocol with this name; its folder exports it as ``PROTOCOL``."""
    folder = FOLDERS.get(name)
    if folder is None:
        raise ModelError(f"no protocol is called {name!r}; there are {', '.join(FOLDERS)}")
    found: Protocol = import_module(f".{folder}", __package__).PROTOCOL
    return found
