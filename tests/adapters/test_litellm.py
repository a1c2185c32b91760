"""litellm's real calls against strict stand-ins: refused without the callback, accepted with it."""

import asyncio
import os
from collections.abc import Iterator
from typing import Any

import pytest

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
pytest.importorskip("litellm", reason="`make frameworks` runs this with litellm")

import litellm

import segue
from segue.testing import Reply, StandIn

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "look",
            "description": "Look somewhere",
            "parameters": {"type": "object", "properties": {"where": {"type": "string"}}},
        },
    }
]
ON: dict[str, Any] = {"thinking": {"type": "enabled", "budget_tokens": 2000}, "max_tokens": 4000, "tools": TOOLS}


@pytest.fixture(autouse=True)
def _callbacks() -> Iterator[None]:
    yield
    litellm.callbacks = []


async def talk(claude: StandIn, mistral: StandIn, streamed: bool = False) -> list[dict[str, Any]]:
    """Claude calls a tool, Mistral answers, Claude goes on. The history as the user has it."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    first = {"model": "anthropic/claude-sonnet-4-5", "api_base": claude.url, "api_key": claude.key, **ON}
    second = {"model": "mistral/mistral-large-latest", "api_base": f"{mistral.url}/v1", "api_key": mistral.key}
    answer = await litellm.acompletion(messages=[*messages], **first)
    message = answer.choices[0].message.model_dump(exclude_none=True)
    messages += [message, {"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": "seen"}]
    await asyncio.sleep(0)
    answer = await litellm.acompletion(messages=[*messages], tools=TOOLS, stream=streamed, **second)
    if streamed:
        answer = litellm.stream_chunk_builder([chunk async for chunk in answer])
    assert answer.choices[0].message.content == "two"
    messages += [{"role": "assistant", "content": "two"}, {"role": "user", "content": "and?"}]
    answer = await litellm.acompletion(messages=[*messages], **first)
    assert answer.choices[0].message.content == "three"
    return messages


def servers() -> tuple[StandIn, StandIn]:
    call = segue.ToolCall("", "look", {"where": "here"})
    return StandIn("anthropic", script=[Reply([segue.ThinkingContent("hm"), call]), "three"]), StandIn(
        "mistral", script=["two"]
    )


def test_without_the_callback_a_history_of_another_provider_is_refused() -> None:
    claude, mistral = servers()
    with claude, mistral, pytest.raises(litellm.BadRequestError, match="length of 9"):
        asyncio.run(talk(claude, mistral))


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_with_it_every_request_is_accepted_and_thinking_returns_to_its_maker(streamed: bool) -> None:
    changes: list[str] = []

    def report(found: Any) -> None:
        changes.extend(change.code for change in found)

    litellm.callbacks = [segue.adapters.litellm.Repair(on_changes=report)]
    claude, mistral = servers()
    with claude, mistral:
        messages = asyncio.run(talk(claude, mistral, streamed))
        assert not claude.refused and not mistral.refused
        answers = [message for message in claude.requests[-1]["messages"] if message["role"] == "assistant"]
        assert answers[0]["content"][0]["type"] == "thinking" and answers[0]["content"][0]["signature"]
    assert "id-projected" in changes
    assert messages[1]["tool_calls"][0]["id"].startswith("toolu_"), "the user's history is unchanged"


def test_messages_that_are_passed_by_position_are_logged_because_no_callback_sees_them(caplog: Any) -> None:
    litellm.callbacks = [segue.adapters.litellm.Repair()]
    messages = [{"role": "user", "content": "go"}]
    with StandIn("mistral", script=["fine"]) as server:
        call = litellm.acompletion(
            "mistral/mistral-large-latest", messages, api_base=f"{server.url}/v1", api_key=server.key
        )
        assert asyncio.run(call).choices[0].message.content == "fine"
    assert "name the arguments" in caplog.text


def test_messages_for_the_synchronous_call_can_be_repaired_first() -> None:
    repair = segue.adapters.litellm.Repair()
    call = {"id": "toolu_01", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "toolu_01", "content": "seen"},
    ]
    with StandIn("mistral", script=["fine"]) as server:
        answer = litellm.completion(
            model="mistral/mistral-large-latest",
            messages=repair.repair(messages, "mistral/mistral-large-latest"),
            api_base=f"{server.url}/v1",
            api_key=server.key,
            tools=TOOLS,
        )
        assert answer.choices[0].message.content == "fine" and not server.refused
