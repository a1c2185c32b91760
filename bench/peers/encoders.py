"""What a peer gives: for each target, how it turns a history of its own types into the bytes of a request body.

Peers are given every advantage. Their messages are built before the clock starts. Only the step from these to what they
hand the provider's SDK (or send themselves) is timed: neither what they do to a history before it, nor the SDK. The
one tool goes along only where the step takes it, and all share the same quick JSON encoder, whatever they use
themselves.
"""

from collections.abc import Callable
from importlib.metadata import version
from typing import Any, NamedTuple

import msgspec


class Target(NamedTuple):
    """Where a history goes."""

    title: str
    protocol: str
    provider: str
    model: str

    @property
    def ref(self) -> str:
        return f"{self.provider}/{self.model}"


ANTHROPIC = Target("Anthropic", "anthropic-messages", "anthropic", "claude-sonnet-4-5")
CHAT = Target("OpenAI chat completions", "openai-completions", "openai", "gpt-5.1")
RESPONSES = Target("OpenAI responses", "openai-responses", "openai", "gpt-5.1")
GEMINI = Target("Gemini", "google-generative-ai", "google", "gemini-2.5-pro")
BEDROCK = Target("Bedrock Claude", "bedrock-converse", "amazon-bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0")
TARGETS = (ANTHROPIC, CHAT, RESPONSES, GEMINI, BEDROCK)

MAX_TOKENS = 8192
# Clients want one to be made; nothing is ever sent.
KEY = "no-key"
REGION = "us-east-1"


class Encoder(NamedTuple):
    """What is called in a peer, in words, and the call. ``same_shape`` where the peer's own messages already have the
    shape of the target's, so that there is next to nothing to convert."""

    called: str
    encode: Callable[[], bytes]
    same_shape: bool = False


class Peer(NamedTuple):
    """One peer and its encoders by target. For a target that it cannot do there is a word on why."""

    name: str
    package: str
    encoders: dict[Target, Encoder | str]

    @property
    def title(self) -> str:
        return f"{self.name} {version(self.package)}"


def to_json(body: Any) -> bytes:
    """The encoder for every body made of dicts."""
    return msgspec.json.encode(body)
