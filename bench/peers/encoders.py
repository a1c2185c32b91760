"""The interface of a peer: for each target, how it turns its own messages into a request body, and how users send one.

Peers get every advantage. Their messages are built before the measurement. An encoder is only the step from these to
what they pass to the provider's SDK (or send themselves), without what they do to a history before that, and without
the SDK. The tool is included only if the step accepts it. All share the same fast JSON encoder, whatever they use
themselves; if there is little else to do, their own one is measured as well. A sender is the whole call, with the tool.
"""

import asyncio
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from typing import Any, NamedTuple

import msgspec


class Target(NamedTuple):
    """The provider and model that a history is sent to."""

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
"""Only in the section on versions."""

MAX_TOKENS = 8192
# Clients require credentials; nothing leaves this machine.
KEY = "no-key"
REGION = "us-east-1"
ACCESS = {target: {"api_key": KEY} for target in (*TARGETS, MISTRAL)} | {
    BEDROCK: {"region_name": REGION, "aws_access_key_id": KEY, "aws_secret_access_key": KEY}
}
run = asyncio.Runner().run
"""One event loop for all peers and rounds, so that clients keep their connections."""


class Encoder(NamedTuple):
    """The name of the function that is measured, and the function. ``by_sdk`` is set if the peer's own messages already
    have the format of the target, so that there is almost nothing to convert: the same with the JSON encoder of the SDK
    that the peer uses."""

    called: str
    encode: Callable[[], bytes]
    by_sdk: Callable[[], bytes] | None = None


class Sender(NamedTuple):
    """The name of the function that users call, and the function, for the base URL of a provider. Everything that can
    be kept between calls is created before."""

    called: str
    at: Callable[[str], Callable[[], object]]


class Peer(NamedTuple):
    """A peer, with its encoders and senders by target. For a target that it does not support, there is a reason."""

    name: str
    package: str
    encoders: dict[Target, Encoder | str]
    senders: dict[Target, Sender | str]

    @property
    def title(self) -> str:
        return f"{self.name} {version(self.package)}"


Write = Callable[[Any], bytes]


def to_json(body: Any) -> bytes:
    """Write the JSON of a body made of dicts."""
    return msgspec.json.encode(body)


def openai_json(body: Any) -> bytes:
    """Write JSON as OpenAI's SDK does."""
    encoded: bytes = import_module("openai._utils._json").openapi_dumps(body)
    return encoded
