"""pydantic-ai with its real models against strict stand-ins: refused without the capability, accepted with it."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("pydantic_ai", reason="`make frameworks` runs this with pydantic-ai")

from opentelemetry.trace import INVALID_SPAN_CONTEXT, NonRecordingSpan, use_span
from pydantic_ai import Agent
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.anthropic import AnthropicModel, AnthropicModelSettings
from pydantic_ai.models.mistral import MistralModel
from pydantic_ai.models.openai import OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.mistral import MistralProvider
from pydantic_ai.providers.openai import OpenAIProvider

import segue
from segue.testing import Reply, StandIn

GEMINI: dict[str, Any] = {"provider_name": "google-gla", "model_name": "gemini-2.5-pro"}
MODELS: dict[str, Callable[[StandIn], Any]] = {
    "anthropic": lambda server: AnthropicModel(
        "claude-sonnet-4-5", provider=AnthropicProvider(api_key=str(server.key), base_url=server.url)
    ),
    "mistral": lambda server: MistralModel(
        "mistral-large-latest", provider=MistralProvider(api_key=str(server.key), base_url=server.url)
    ),
    "openai": lambda server: OpenAIResponsesModel(
        "gpt-5.4", provider=OpenAIProvider(api_key=str(server.key), base_url=f"{server.url}/v1")
    ),
}
REFUSED = {"anthropic", "mistral"}
"""The models that refuse the history as pydantic-ai sends it."""


def history() -> list[ModelMessage]:
    """Of Gemini, with an id that others refuse."""
    return [
        ModelRequest(parts=[UserPromptPart("go")]),
        ModelResponse(
            parts=[
                ThinkingPart("hm", signature="c2ln", provider_name="google-gla"),
                ToolCallPart("look", {"where": "here"}, tool_call_id="look:1|x"),
            ],
            **GEMINI,
        ),
        ModelRequest(parts=[ToolReturnPart("look", "seen", tool_call_id="look:1|x")]),
        ModelResponse(parts=[TextPart("done")], **GEMINI),
    ]


def agent_of(name: str, server: StandIn, changes: list[str] | None) -> "Agent[None, str]":
    def report(found: Any) -> None:
        assert changes is not None
        changes.extend(change.code for change in found)

    capabilities = [] if changes is None else [segue.adapters.pydantic_ai.Repair(on_changes=report)]
    return Agent(MODELS[name](server), capabilities=capabilities)


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_without_the_capability_a_history_of_another_provider_is_refused(name: str) -> None:
    with StandIn(name) as server, pytest.raises(Exception, match="400"):
        agent_of(name, server, None).run_sync("next", message_history=history())


@pytest.mark.parametrize("how", ["sync", "async", "streamed"])
@pytest.mark.parametrize("name", MODELS)
def test_with_it_the_history_is_accepted_and_stays_as_it_was(name: str, how: str) -> None:
    changes: list[str] = []
    stored = history()
    with StandIn(name, script=["fine"]) as server:
        agent = agent_of(name, server, changes)

        async def streamed() -> list[ModelMessage]:
            async with agent.run_stream("next", message_history=stored) as result:
                assert await result.get_output() == "fine"
                return result.all_messages()

        if how == "streamed":
            kept = asyncio.run(streamed())
        else:
            result = (
                agent.run_sync("next", message_history=stored)
                if how == "sync"
                else asyncio.run(agent.run("next", message_history=stored))
            )
            assert result.output == "fine"
            kept = result.all_messages()
        assert not server.refused
    assert "id-projected" in changes and "thinking-as-text" in changes
    assert [each.parts for each in kept[:4]] == [each.parts for each in stored]


class Span(NonRecordingSpan):
    """A span that keeps its attributes."""

    def __init__(self) -> None:
        super().__init__(INVALID_SPAN_CONTEXT)
        self.attributes: dict[str, Any] = {}

    def set_attribute(self, key: str, value: Any) -> None:
        self.attributes[key] = value


def test_the_changes_are_attributes_of_the_current_span() -> None:
    span = Span()
    with StandIn("anthropic", script=["fine"]) as server, use_span(span):
        agent_of("anthropic", server, []).run_sync("next", message_history=history())
    assert span.attributes == {
        "segue.changes.codes": ["id-projected", "thinking-as-text", "tools-stubbed"],
        "segue.changes.lost": 0,
    }


def test_thinking_returns_to_its_maker_after_another_model_answered() -> None:
    thinking = segue.ThinkingContent("hm")
    call = segue.ToolCall("", "look", {"where": "here"})
    settings = AnthropicModelSettings(anthropic_thinking={"type": "enabled", "budget_tokens": 2000}, max_tokens=4000)

    def look(where: str) -> str:
        return "seen"

    with (
        StandIn("anthropic", script=[Reply([thinking, call]), "one", Reply([thinking, call]), "three"]) as claude,
        StandIn("mistral", script=["two"]) as mistral,
    ):
        repair = segue.adapters.pydantic_ai.Repair()
        first = Agent(MODELS["anthropic"](claude), tools=[look], capabilities=[repair], model_settings=settings)
        second = Agent(MODELS["mistral"](mistral), tools=[look], capabilities=[repair])
        messages = first.run_sync("go").all_messages()
        messages = second.run_sync("and?", message_history=messages).all_messages()
        assert first.run_sync("again", message_history=messages).output == "three"
        assert not claude.refused and not mistral.refused
        signed = [
            block["signature"]
            for message in claude.requests[-1]["messages"]
            for block in message["content"]
            if isinstance(block, dict) and block["type"] == "thinking"
        ]
        assert len(signed) == 2 and all(signed)
