"""One model for each protocol, and a small conversation with a tool that all of them accept."""

from typing import Any

import segue
from segue import Connection, Options
from segue.testing import StandIn
from segue.types import Context, Model, ToolDefinition, UserMessage
from segue.wire.registry import PROTOCOLS

REFS = {
    "anthropic-messages": "anthropic/claude-sonnet-4-5",
    "openai-completions": "openai/gpt-4.1",
    "openai-responses": "openai/gpt-5.1",
    "google-generative-ai": "google/gemini-2.5-pro",
    "bedrock-converse": "amazon-bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    "mistral-chat": "mistral/mistral-large-latest",
}
MODELS: dict[str, Model] = {protocol: segue.get_model(REFS[protocol], protocol=protocol) for protocol in PROTOCOLS}

WEATHER = ToolDefinition(
    "weather",
    "Current weather",
    b'{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}},"required":["city"]}',
)
CONTEXT = Context(system_prompt="Be brief.", messages=[UserMessage("Weather in Paris?")], tools=[WEATHER])
OPTIONS = Options(max_tokens=1000)


def reach(server: StandIn, **settings: Any) -> Connection:
    """A connection of segue's client to a stand-in."""
    return Connection(base_url=server.url, api_key=server.key, **settings)
