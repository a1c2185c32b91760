"""More bodies for rules with several checks, bodies that they must accept, and any JSON."""

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, strategies as st
from support.journeys import CONVERSATIONS
from support.targets import built_in

from segue.errors import FormatError
from segue.render import encode
from segue.rules import run
from segue.types import Model, Options
from segue.wire.anthropic_messages import PROTOCOL

USER = {"role": "user", "content": "hi"}
TOOL = {"name": "bash", "input_schema": {"type": "object"}}
CALL = {"type": "tool_use", "id": "a", "name": "bash", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "a", "content": "done"}
TEXT = {"type": "text", "text": "x"}
THINKING = {"type": "thinking", "thinking": "", "signature": "c2ln"}
BMP = {"type": "image", "source": {"type": "base64", "media_type": "image/bmp", "data": "x"}}


def assistant(*content: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(content)}


def user(*content: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(content)}


def get(name: str | None) -> Model | None:
    return built_in().resolve(f"anthropic/{name}") if name else None


def found(messages: list[Any], model: str | None = None, **rest: Any) -> set[tuple[str, str]]:
    """Every rule that is broken, and where."""
    body = {"model": "x", "max_tokens": 100, "messages": messages, **rest}
    return {(finding.rule, finding.path) for finding in run(PROTOCOL.rules, body, get(model))}


BROKEN: dict[str, list[tuple[str, list[Any], dict[str, Any]]]] = {
    "ANT-01": [("messages", [], {}), ("messages[0]", [1], {})],
    "ANT-05": [
        ("zzz", [USER], {"zzz": 1}),
        ("metadata.team", [USER], {"metadata": {"team": "a"}}),
        ("tools[0].parameters", [USER], {"tools": [TOOL | {"parameters": {}}]}),
        ("messages[0].id", [USER | {"id": "x"}], {}),
        ("messages[0].content[0].source.url", [user(BMP | {"source": BMP["source"] | {"url": ""}})], {}),  # type: ignore[operator]
        ("messages[0].content[0].cache_control.a", [user(TEXT | {"cache_control": {"type": "ephemeral", "a": 1}})], {}),
        ("messages[2].content[0].name", [USER, assistant(CALL), user(RESULT | {"name": "bash"})], {"tools": [TOOL]}),
    ],
    "ANT-06": [
        ("messages[0].content[0]", [user("x")], {}),
        ("messages[0].content", [{"role": "user", "content": None}], {}),
        ("messages[0].content[0].type", [user({"type": "video"})], {}),
    ],
    "ANT-60": [
        ("messages[0].content[0].type", [user({"text": "x"})], {}),
        ("messages[0].content", [{"role": "user"}], {}),
    ],
    "ANT-07": [
        ("messages[0].content[0]", [user(CALL)], {"tools": [TOOL]}),
    ],
    "ANT-07b": [
        ("messages[1].content[0]", [USER, assistant({"type": "document"}), USER], {}),
        ("messages[0].content[0].citations", [user(TEXT | {"citations": [{}]})], {}),
    ],
    "ANT-08": [
        ("messages[2].content[0].content[0]",
         [USER, assistant(CALL), user(RESULT | {"content": [TEXT | {"text": ""}]})], {}),
    ],
    "ANT-10": [("messages[0]", [{"role": "user", "content": ""}], {}), ("messages[0]", [user(), user()], {})],
    "ANT-14": [("messages[1]", [USER, assistant(TEXT)], {"model": "claude-opus-4-6"})],
    "ANT-17": [
        ("messages[0]", [{"role": "system", "content": "x"}, USER], {}),
        ("messages[2]", [USER, assistant(TEXT), {"role": "system", "content": "x"}], {}),
        ("messages[1].content[0]", [USER, {"role": "system", "content": [CALL]}], {}),
        ("messages[1]", [USER, {"role": "system", "content": "x"}], {"model": "claude-haiku-4-5"}),
    ],
    "ANT-18": [("system[0]", [USER], {"system": [{"type": "text", "text": " "}]}), ("system", [USER], {"system": {}})],
    "ANT-19": [
        ("messages[1].content[0]", [USER, assistant(CALL)], {"tools": [TOOL]}),
        ("messages[1].content[0]", [USER, assistant(CALL), user(TEXT), user(RESULT)], {"tools": [TOOL]}),
    ],
    "ANT-26": [("tools[1].name", [USER], {"tools": [TOOL, TOOL]})],
    "ANT-27": [
        ("tool_choice", [USER], {"tool_choice": {"type": "auto"}}),
        ("tool_choice", [USER], {"tools": [TOOL], "tool_choice": "auto"}),
        ("tool_choice.name", [USER], {"tools": [TOOL], "tool_choice": {"type": "tool", "name": "b"}}),
        ("tool_choice", [USER], {"tools": [TOOL], "tool_choice": {"type": "any"}, "model": "claude-opus-5-5"}),
    ],
    "ANT-28": [
        ("messages[2].content[0].content[0].cache_control",
         [USER, assistant(CALL), user(RESULT | {"content": [TEXT | {"cache_control": {"type": "ephemeral"}}]})], {}),
        ("messages[2].content[0].content[0]", [USER, assistant(CALL), user(RESULT | {"content": [THINKING]})], {}),
    ],
    "ANT-29": [
        ("tools", [USER], {"tools": [TOOL | {"defer_loading": True}]}),
        ("tools[0].cache_control", [USER], {"tools": [TOOL | {"defer_loading": True, "cache_control": {}}, TOOL]}),
    ],
    "ANT-30": [("messages[1].content[0]", [USER, assistant({"type": "server_tool_use", "id": "s"}), USER], {})],
    "ANT-38": [
        ("messages[1].content[0]", [USER, assistant(CALL), user(RESULT, TEXT)],
         {"thinking": {"type": "enabled", "budget_tokens": 1_024}}),
    ],
    "ANT-41": [
        ("thinking.budget_tokens", [USER], {"thinking": {"type": "enabled", "budget_tokens": 100}}),
        ("thinking.budget_tokens", [USER], {"thinking": {"type": "enabled", "budget_tokens": 2_000}}),
        ("thinking.type", [USER], {"thinking": {"type": "disabled"}, "model": "claude-opus-5-5"}),
        ("thinking", [USER], {"thinking": {"type": "adaptive"}, "model": "claude-3-5-haiku-20241022"}),
        ("output_config.effort", [USER], {"output_config": {"effort": "xhigh"}, "model": "claude-opus-4-6"}),
    ],
    "ANT-44": [
        ("messages[0].content[1].source.media_type", [user(TEXT, BMP)], {}),
        ("messages[0].content[0].source", [user({"type": "image", "source": {"type": "path"}})], {}),
        ("messages", [user(*[{"type": "image"}] * 101)], {"model": "claude-haiku-4-5"}),
        ("messages[0].content[0].source.data",
         [user({"type": "image", "source": {"type": "base64", "data": "a" * 15_000_000}})], {}),
        ("messages[0].content[0].source.data",
         [user({"type": "image", "source": {"type": "base64", "data": "a" * 7_000_000}})],
         {"model": "claude-haiku-4-5"}),
    ],
    "ANT-47": [
        ("cache_control", [USER], {"cache_control": {"type": "ephemeral", "ttl": "1d"}}),
        ("messages[1].content[0].cache_control",
         [USER, assistant(THINKING | {"cache_control": {"type": "ephemeral"}}, TEXT), USER], {}),
    ],
    "ANT-48": [("top_k", [USER], {"top_k": 1}), ("top_p", [USER], {"top_p": 1})],
    "ANT-49": [
        ("max_tokens", [USER], {"max_tokens": "many"}),
        ("max_tokens", [USER], {"max_tokens": 10**7, "model": "claude-haiku-4-5"}),
    ],
    "ANT-51": [
        ("stop_sequences[0]", [USER], {"stop_sequences": ["\ud83d"]}),
        ("messages[1].content[0].input", [USER, assistant(CALL | {"input": {"\ud83d": 1}}), user(RESULT)], {}),
    ],
    "ANT-52": [("messages[0].content[0]", [user({"type": "compaction", "content": "x"})], {})],
    "ANT-55": [
        ("tools[0].input_schema", [USER], {"tools": [{"name": "a", "input_schema": None}]}),
        ("tools", [USER], {"tools": [TOOL | {"name": f"t{at}", "strict": True} for at in range(21)]}),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "path", "messages", "rest"),
    [(rule, *case) for rule, cases in BROKEN.items() for case in cases],
)
def test_where_a_rule_is_broken(rule: str, path: str, messages: list[Any], rest: dict[str, Any]) -> None:
    assert (rule, path) in found(messages, **rest)


@pytest.mark.parametrize(
    ("messages", "rest"),
    [
        ([USER], {"max_tokens": 0, "cache_control": {"type": "ephemeral"}, "container": "c"}),
        ([assistant({"type": "compaction", "content": "before"}), USER], {}),
        ([USER, {"role": "assistant", "content": []}, USER], {}),
        ([USER, assistant(THINKING, CALL), user(RESULT, TEXT)], {"tools": [TOOL], "thinking": {"type": "adaptive"}}),
        ([USER, assistant(CALL | {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search"})],
         {"model": "claude-opus-4-6", "tools": [{"type": "web_search_20250305", "name": "web_search"}]}),
        ([USER, {"role": "system", "content": [], "output_config": {"effort": "low"}}, assistant(TEXT), USER], {}),
        ([USER], {"tools": [{"type": "bash_20250124", "name": "bash"}]}),
    ],
)  # fmt: skip
def test_valid_bodies_are_accepted(messages: list[Any], rest: dict[str, Any]) -> None:
    assert found(messages, **rest) == set()


def test_rules_for_some_models_are_warnings_without_a_model() -> None:
    body = {"model": "x", "max_tokens": 1, "messages": [USER, assistant(TEXT)]}
    assert [(finding.rule, finding.severity) for finding in run(PROTOCOL.rules, body)] == [("ANT-14", "warning")]
    assert [finding.severity for finding in run(PROTOCOL.rules, body, get("claude-opus-5-5"))] == ["error"]
    assert run(PROTOCOL.rules, body, get("claude-haiku-4-5")) == []


# -- any JSON --------------------------------------------------------------------------------------------------------

ANYTHING = st.sampled_from(
    [None, True, 0, -1, 1.5, "", "x", "\ud83d", [], {}, [[]], [None], {"type": 1}, {"type": "text"}]
)
WHOLE = encode(
    CONVERSATIONS["all in a row"],
    built_in().resolve("anthropic/claude-sonnet-4-5"),
    Options(cache="short", reasoning="low", tool_choice="auto"),
).body


def places(value: Any) -> list[Callable[[Any], None]]:
    """For every position inside a value, a function that replaces it."""
    found: list[Callable[[Any], None]] = []
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in list(inside):
        found.append(lambda other, key=key: value.__setitem__(key, other))
        found += places(item)
    return found


@given(st.data(), st.sampled_from([None, "claude-haiku-4-5", "claude-opus-5-5"]))
def test_rules_and_readers_accept_any_json(data: st.DataObject, model: str | None) -> None:
    body = json.loads(json.dumps(WHOLE))
    for _ in range(data.draw(st.integers(1, 3))):
        data.draw(st.sampled_from(places(body)))(data.draw(ANYTHING))
    run(PROTOCOL.rules, body, get(model))
    PROTOCOL.recognise(body)
    with suppress(FormatError):
        PROTOCOL.ingest(body, get(model), 0)
