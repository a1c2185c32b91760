"""The provider's side of each protocol. A new protocol is a new file and one line here."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module

from ..voice import Voice

FILES = {
    "anthropic-messages": "anthropic_messages",
    "openai-completions": "openai_completions",
    "openai-responses": "openai_responses",
    "google-generative-ai": "google_generative_ai",
    "bedrock-converse": "bedrock_converse",
    "mistral-chat": "mistral_chat",
}


@cache
def voice_of(protocol: str, provider: str = "") -> Voice:
    """The voice of a protocol: ``VOICE`` of its file, or the provider's own from ``VOICES``."""
    file = import_module(f".{FILES[protocol]}", __package__)
    voices: Mapping[str, Voice] = {"": file.VOICE, **getattr(file, "VOICES", {})}
    return voices.get(provider, voices[""])
