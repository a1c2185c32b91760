"""The OpenAI Agents SDK with models of other makers, against strict stand-ins."""

import asyncio
from typing import Any

import pytest

pytest.importorskip("agents", reason="`make frameworks` runs this with the OpenAI Agents SDK")

from agents import Agent, RunConfig, Runner, function_tool, set_tracing_disabled

import segue
from segue.testing import Reply, StandIn

set_tracing_disabled(True)
CLAUDE, MISTRAL, GPT = "anthropic/claude-sonnet-4-5", "mistral/mistral-large-latest", "openai/gpt-5.4"


@function_tool
def look(where: str) -> str:
    """Look somewhere."""
    return "seen"


def call() -> segue.ToolCall:
    return segue.ToolCall("", "look", {"where": "here"})


def thought() -> Reply:
    return Reply([segue.ThinkingContent("hm"), call()])


async def answered(agent: Any, items: Any, provider: Any, streamed: bool) -> Any:
    config = RunConfig(model_provider=provider)
    if not streamed:
        return await Runner.run(agent, items, run_config=config)
    result = Runner.run_streamed(agent, items, run_config=config)
    async for _ in result.stream_events():
        pass
    return result


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_one_conversation_goes_through_three_makers_and_thinking_comes_back(streamed: bool) -> None:
    changes: list[str] = []

    def report(found: Any) -> None:
        changes.extend(change.code for change in found)

    with (
        StandIn("anthropic", script=[thought(), "one", thought(), "four"]) as claude,
        StandIn("mistral", script=[Reply([call()]), "two"]) as mistral,
        StandIn("openai", script=[Reply([call()]), "three"]) as gpt,
    ):
        servers = {"anthropic": claude, "mistral": mistral, "openai": gpt}

        def connection(model: segue.Model) -> segue.Connection:
            server = servers[model.provider]
            return segue.Connection(base_url=server.url, api_key=server.key)

        provider = segue.adapters.openai_agents.Provider(connection=connection, on_changes=report)
        items: Any = "go"
        outputs = []
        for name in (CLAUDE, MISTRAL, GPT, CLAUDE):
            agent = Agent(name="helper", instructions="Be brief.", model=name, tools=[look])
            result = asyncio.run(answered(agent, items, provider, streamed))
            outputs.append(result.final_output)
            items = [*result.to_input_list(), {"role": "user", "content": "and?"}]
        assert outputs == ["one", "two", "three", "four"]
        assert not any(server.refused for server in servers.values())
        blocks = [block for message in claude.requests[-1]["messages"] for block in message["content"]]
        assert [bool(block["signature"]) for block in blocks if block["type"] == "thinking"] == [True, True]
    assert "id-projected" in changes


def test_a_failed_answer_raises_the_typed_error() -> None:
    with StandIn("anthropic", key="right") as claude:
        connection = segue.Connection(base_url=claude.url, api_key="wrong")
        provider = segue.adapters.openai_agents.Provider(CLAUDE, connection=connection)
        with pytest.raises(segue.ProviderError):
            asyncio.run(answered(Agent(name="helper"), "go", provider, False))


def test_a_provider_without_a_model_asks_for_one() -> None:
    with pytest.raises(segue.SettingError, match="name a model"):
        segue.adapters.openai_agents.Provider().get_model(None)
