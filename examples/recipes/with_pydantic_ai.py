"""pydantic-ai: a conversation that began on Gemini continues on Claude."""

from pydantic_ai import Agent
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, ToolCallPart, ToolReturnPart, UserPromptPart
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from showing import show

import segue
from segue.testing import StandIn

GEMINI = {"provider_name": "google-gla", "model_name": "gemini-2.5-pro"}
HISTORY = [
    ModelRequest(parts=[UserPromptPart("How is the weather in Paris?")]),
    ModelResponse(parts=[ToolCallPart("weather", {"city": "Paris"}, tool_call_id="weather:1|x")], **GEMINI),
    ModelRequest(parts=[ToolReturnPart("weather", "18 C", tool_call_id="weather:1|x")]),
    ModelResponse(parts=[TextPart("It is 18 degrees.")], **GEMINI),
]


def ask(server: StandIn, repaired: bool) -> str:
    provider = AnthropicProvider(api_key=server.key, base_url=server.url)
    model = AnthropicModel("claude-sonnet-5", provider=provider)
    agent = Agent(model, capabilities=[segue.adapters.pydantic_ai.Repair()] if repaired else [])
    return str(agent.run_sync("Are you sure?", message_history=HISTORY).output)


show(ask, HISTORY, "anthropic")
