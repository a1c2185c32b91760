"""The OpenAI Agents SDK with models of other makers, against strict stand-ins."""

import asyncio
from typing import Any

import pytest

pytest.importorskip("agents", reason="`make frameworks` runs this with the OpenAI Agents SDK")

from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    RunConfig,
    Runner,
    function_tool,
    set_tracing_disabled,
)
from openai import AsyncOpenAI

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


def history(call_id: str) -> list[Any]:
    return [
        {"role": "user", "content": "go"},
        {"type": "function_call", "call_id": call_id, "name": "look", "arguments": '{"where": "here"}'},
        {"type": "function_call_output", "call_id": call_id, "output": "seen"},
    ]


def test_without_the_provider_a_history_of_another_maker_is_refused_and_with_it_accepted_and_unchanged() -> None:
    items = history("toolu_01A09q90qw90lq917835lq9")
    with StandIn("mistral", script=["fine"]) as mistral:
        client = AsyncOpenAI(base_url=f"{mistral.url}/v1", api_key=mistral.key)
        model = OpenAIChatCompletionsModel("mistral-large-latest", client)
        with pytest.raises(Exception, match="length of 9"):
            Runner.run_sync(Agent(name="helper", model=model, tools=[look]), items)
        connection = segue.Connection(base_url=mistral.url, api_key=mistral.key)
        config = RunConfig(model_provider=segue.adapters.openai_agents.Provider(connection=connection))
        result = Runner.run_sync(Agent(name="helper", model=MISTRAL, tools=[look]), items, run_config=config)
        assert result.final_output == "fine"
    assert result.to_input_list()[:3] == items == history("toolu_01A09q90qw90lq917835lq9")


def test_the_filter_repairs_items_for_a_model_that_the_sdk_asks_itself() -> None:
    items = history("call_" + "x" * 70)
    with StandIn("openai", script=["fine"]) as gpt:
        client = AsyncOpenAI(base_url=f"{gpt.url}/v1", api_key=gpt.key, max_retries=0)
        agent = Agent(name="helper", model=OpenAIResponsesModel("gpt-5.4", client), tools=[look])
        with pytest.raises(Exception, match="too long"):
            Runner.run_sync(agent, items)
        config = RunConfig(call_model_input_filter=segue.adapters.openai_agents.repair_for(GPT))
        result = Runner.run_sync(agent, items, run_config=config)
        assert result.final_output == "fine"
    assert result.to_input_list()[:3] == items


def test_a_handoff_reaches_the_model_of_the_other_agent() -> None:
    transfer = Reply([segue.ToolCall("", "transfer_to_second", {})])
    with StandIn("anthropic", script=[transfer]) as claude, StandIn("mistral", script=["two"]) as mistral:
        servers = {"anthropic": claude, "mistral": mistral}

        def connection(model: segue.Model) -> segue.Connection:
            return segue.Connection(base_url=servers[model.provider].url, api_key=servers[model.provider].key)

        second = Agent(name="second", model=MISTRAL, tools=[look])
        first = Agent(name="first", model=CLAUDE, handoffs=[second])
        provider = segue.adapters.openai_agents.Provider(connection=connection)
        result = asyncio.run(answered(first, "go", provider, False))
        assert result.final_output == "two" and not claude.refused and not mistral.refused


def test_a_failed_answer_raises_the_typed_error() -> None:
    with StandIn("anthropic", key="right") as claude:
        connection = segue.Connection(base_url=claude.url, api_key="wrong")
        provider = segue.adapters.openai_agents.Provider(CLAUDE, connection=connection)
        with pytest.raises(segue.ProviderError):
            asyncio.run(answered(Agent(name="helper"), "go", provider, False))


def test_a_provider_without_a_model_asks_for_one() -> None:
    with pytest.raises(segue.SettingError, match="name a model"):
        segue.adapters.openai_agents.Provider().get_model(None)
