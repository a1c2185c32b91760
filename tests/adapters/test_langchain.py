"""LangChain with its real integrations against strict stand-ins: refused without the middleware, accepted with it."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("langchain", reason="`make frameworks` runs this with LangChain")

from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

import segue
from segue.testing import Reply, StandIn

GEMINI: dict[str, Any] = {"response_metadata": {"model_provider": "google_genai", "model_name": "gemini-2.5-pro"}}
MODELS: dict[str, Callable[[StandIn], Any]] = {
    "anthropic": lambda server: ChatAnthropic(
        model="claude-sonnet-4-5", api_key=str(server.key), base_url=server.url, max_retries=0
    ),
    "openai": lambda server: ChatOpenAI(
        model="gpt-5.4", api_key=str(server.key), base_url=f"{server.url}/v1", max_retries=0, use_responses_api=True
    ),
}


@tool
def look(where: str) -> str:
    """Look somewhere."""
    return "seen"


def history() -> list[BaseMessage]:
    """Of Gemini, with an id that others refuse."""
    thinking = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
    calls = [{"name": "look", "args": {"where": "here"}, "id": "look:1|x"}]
    return [
        HumanMessage("go"),
        AIMessage(content=[thinking, {"type": "text", "text": "well"}], tool_calls=calls, **GEMINI),
        ToolMessage("seen", tool_call_id="look:1|x"),
        AIMessage("done", **GEMINI),
        HumanMessage("next"),
    ]


def test_without_the_middleware_a_history_of_another_provider_is_refused() -> None:
    with StandIn("anthropic") as server, pytest.raises(Exception, match="400"):
        create_agent(MODELS["anthropic"](server), [look]).invoke({"messages": history()})


@pytest.mark.parametrize("how", ["sync", "async", "streamed"])
@pytest.mark.parametrize("name", MODELS)
def test_with_it_the_history_is_accepted_and_stays_as_it_was(name: str, how: str) -> None:
    changes: list[str] = []

    def report(found: Any) -> None:
        changes.extend(change.code for change in found)

    with StandIn(name, script=["fine"]) as server:
        repair = segue.adapters.langchain.Repair(on_changes=report)
        agent = create_agent(MODELS[name](server), [look], middleware=[repair])
        if how == "sync":
            kept = agent.invoke({"messages": history()})["messages"]
        elif how == "async":
            kept = asyncio.run(agent.ainvoke({"messages": history()}))["messages"]
        else:
            *_, last = agent.stream({"messages": history()}, stream_mode="values")
            kept = last["messages"]
        assert kept[-1].text == "fine" and not server.refused
    assert "id-projected" in changes and "thinking-as-text" in changes
    assert [(each.type, each.content) for each in kept[:5]] == [(each.type, each.content) for each in history()]


@pytest.mark.parametrize("name", MODELS)
def test_a_bare_model_has_a_runnable(name: str) -> None:
    with StandIn(name, script=["fine"]) as server:
        model = MODELS[name](server)
        chain = segue.adapters.langchain.repair_for(model) | model.bind_tools([look])
        assert chain.invoke(history()).text == "fine" and not server.refused


def test_thinking_returns_to_its_maker_after_another_model_answered() -> None:
    thinking = segue.ThinkingContent("hm")
    call = segue.ToolCall("", "look", {"where": "here"})
    with (
        StandIn("anthropic", script=[Reply([thinking, call]), "one", "three"]) as claude,
        StandIn("openai", script=["two"]) as gpt,
    ):
        on = {"thinking": {"type": "enabled", "budget_tokens": 2000}, "max_tokens": 4000}
        first = ChatAnthropic(
            model="claude-sonnet-4-5", api_key=str(claude.key), base_url=claude.url, max_retries=0, **on
        )
        messages: list[BaseMessage] = [HumanMessage("go")]
        for model in (first, MODELS["openai"](gpt), first):
            agent = create_agent(model, [look], middleware=[segue.adapters.langchain.Repair()])
            messages = [*agent.invoke({"messages": messages})["messages"], HumanMessage("and?")]
        assert not claude.refused and not gpt.refused
        answers = [message for message in claude.requests[-1]["messages"] if message["role"] == "assistant"]
        assert answers[0]["content"][0]["type"] == "thinking" and answers[0]["content"][0]["signature"]
