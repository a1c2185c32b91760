"""Bodies that are valid in the client's protocol and that some of its targets refuse: they are rendered for these, and
forwarded to the others. Nothing is refused."""

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from support.gateways import SCHEMA, Served
from support.targets import built_in, every

from segue.types import Model

CHAT = "openai-completions"
HI = {"role": "user", "content": "Hi."}
CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {"id": "callabcde", "type": "function", "function": {"name": "look", "arguments": '{"city":"Rome"}'}}
    ],
}
RESULT = {"role": "tool", "tool_call_id": "callabcde", "content": "Warm."}
TEXT = {"type": "text", "text": "Hi."}


def tool(**fields: Any) -> list[dict[str, Any]]:
    schema = SCHEMA | {"additionalProperties": False}
    return [{"type": "function", "function": {"name": "look", "description": "Look.", "parameters": schema, **fields}}]


BODIES: dict[str, dict[str, Any]] = {
    "plain": {"messages": [HI]},
    "streamed": {"messages": [HI], "stream": True},
    "with usage": {"messages": [HI], "stream": True, "stream_options": {"include_usage": True}},
    "max_tokens": {"messages": [HI], "max_tokens": 100},
    "max_completion_tokens": {"messages": [HI], "max_completion_tokens": 100},
    "developer": {"messages": [{"role": "developer", "content": "Be brief."}, HI]},
    "system": {"messages": [{"role": "system", "content": "Be brief."}, HI]},
    "system later": {
        "messages": [HI, {"role": "assistant", "content": "Hi."}, {"role": "system", "content": "New."}, HI]
    },
    "parts": {"messages": [{"role": "system", "content": [TEXT]}, {"role": "user", "content": [TEXT]}]},
    "an empty part": {"messages": [HI, {"role": "assistant", "content": [TEXT, {"type": "text", "text": ""}]}, HI]},
    "tools": {"messages": [HI], "tools": tool()},
    "strict tools": {"messages": [HI], "tools": tool(strict=True)},
    "a call": {"messages": [HI, CALL, RESULT], "tools": tool()},
    "a result in parts": {"messages": [HI, CALL, RESULT | {"content": [TEXT]}], "tools": tool()},
    "a call without content": {"messages": [HI, {"content": "", **CALL}, RESULT], "tools": tool()},
    "a user after a result": {"messages": [HI, CALL, RESULT, HI], "tools": tool()},
    "two users": {"messages": [HI, HI]},
    "a name": {"messages": [HI | {"name": "ann"}]},
    "an answer with null": {"messages": [HI, {"role": "assistant", "content": "Hi.", "refusal": None}, HI]},
    "sampling": {"messages": [HI], "temperature": 0.3, "top_p": 0.9},
    "store": {"messages": [HI], "store": False},
    "effort": {"messages": [HI], "reasoning_effort": "low"},
    "stop": {"messages": [HI], "stop": ["x"]},
    "calls at a time": {"messages": [HI], "tools": tool(), "parallel_tool_calls": True},
    "a choice": {"messages": [HI], "tools": tool(), "tool_choice": "auto"},
    "a forced call": {"messages": [HI], "tools": tool(), "tool_choice": "required"},
    "a form": {
        "messages": [HI],
        "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMA, "strict": False}},
    },
}


def chosen(provider: str) -> Model:
    """A model of a provider: one that thinks, if there is one."""
    rows = [model for model in every() if model.provider == provider and model.protocol == CHAT]
    rows.sort(key=lambda model: not model.reasoning)
    return rows[0] if rows else built_in().resolve(f"{provider}/not-listed", CHAT)


ROWS = {row.id: chosen(row.id) for row in built_in().providers.values() if CHAT in row.protocols}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("gateway"), models=ROWS) as found:
        yield found


@pytest.mark.parametrize("name", ROWS)
def test_no_provider_refuses_what_is_valid_in_the_protocol_of_the_client(served: Served, name: str) -> None:
    lanes = {}
    for title, body in BODIES.items():
        answer = httpx2.post(f"{served.url}/v1/chat/completions", json={"model": name, **body})
        assert answer.status_code == 200, (title, answer.text)
        assert served[name].refused == [], title
        lanes[title] = served.report(answer)["lane"]
    assert lanes["with usage"] == "forwarded"  # most bodies are, wherever the provider has no rule of its own


def test_what_was_said_in_another_spelling_is_rendered_as_long_as_the_conversation_lasts(served: Served) -> None:
    """Its first message was judged in the first request, and every later one still has it."""
    history = [{"role": "developer", "content": "Be brief."}, HI]
    for _ in range(3):
        asked = {"model": "deepseek", "messages": history, "prompt_cache_key": "long"}
        answer = httpx2.post(f"{served.url}/v1/chat/completions", json=asked)
        assert answer.status_code == 200 and served.report(answer)["lane"] == "rendered"
        history = [*history, answer.json()["choices"][0]["message"], HI]
    assert served["deepseek"].refused == []
