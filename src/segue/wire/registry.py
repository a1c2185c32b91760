"""The protocols, by name. A new one is a new folder and one line here; each is loaded when it is first asked for."""

from functools import cache
from importlib import import_module

from ..errors import ModelError
from .protocol import Protocol

FOLDERS = {
    "anthropic-messages": "anthropic_messages",
    "openai-completions": "openai_completions",
    "openai-responses": "openai_responses",
    "google-generative-ai": "google_generative_ai",
    "bedrock-converse": "bedrock_converse",
    "mistral-chat": "mistral_chat",
}


@cache
def protocol_of(name: str) -> Protocol:
    """The protocol of that name; its folder exports it as ``PROTOCOL``."""
    folder = FOLDERS.get(name)
    if folder is None:
        raise ModelError(f"no protocol is called {name!r}; there are {', '.join(FOLDERS)}")
    found: Protocol = import_module(f".{folder}", __package__).PROTOCOL
    return found
