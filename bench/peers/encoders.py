"""What a peer gives: for each target, how it turns a history of its own types into the bytes of a request body, and
what its users call to send them.

Peers are given every advantage. Their messages are built before the clock starts. An encoder is only the step from
these to what they hand the provider's SDK (or send themselves): neither what they do to a history before it, nor the
SDK. The one tool goes along only where the step takes it, and all share the same quick JSON encoder, whatever they use
themselves; where there is little else to do, the one that they use is measured, too. A sender is the whole call, tool
and all.
"""

import asyncio
from collections.abc import Callable
from importlib import import_module
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
MISTRAL = Target("Mistral", "mistral-chat", "mistral", "mistral-large-latest")
"""Only for segue: no peer has an encoder for it here."""

MAX_TOKENS = 8192
# Clients want them to be made; nothing ever leaves this machine.
KEY = "no-key"
REGION = "us-east-1"
ACCESS = {target: {"api_key": KEY} for target in TARGETS} | {
    BEDROCK: {"region_name": REGION, "aws_access_key_id": KEY, "aws_secret_access_key": KEY}
}
run = asyncio.Runner().run
"""One loop for all peers and all rounds: clients keep their connections in it."""


class Encoder(NamedTuple):
    """What is called in a peer, in words, and the call. ``by_sdk`` where the peer's own messages already have the shape
    of the target's, so that there is next to nothing to convert: the same, with the JSON encoder of the SDK that the
    peer hands them to."""

    called: str
    encode: Callable[[], bytes]
    by_sdk: Callable[[], bytes] | None = None


class Sender(NamedTuple):
    """What users of a peer call, in words, and the call, for the base URL of a provider. What can be made before the
    call, and is kept between calls, is made before it."""

    called: str
    at: Callable[[str], Callable[[], object]]


class Peer(NamedTuple):
    """One peer, its encoders and its senders by target. For a target that it cannot do there is a word on why."""

    name: str
    package: str
    encoders: dict[Target, Encoder | str]
    senders: dict[Target, Sender | str]

    @property
    def title(self) -> str:
        return f"{self.name} {version(self.package)}"


Write = Callable[[Any], bytes]


def to_json(body: Any) -> bytes:
    """The encoder for every body made of dicts."""
    return msgspec.json.encode(body)


def openai_json(body: Any) -> bytes:
    """The encoder of OpenAI's SDK."""
    encoded: bytes = import_module("openai._utils._json").openapi_dumps(body)
    return encoded
