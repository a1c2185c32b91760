"""Options and tools as each member of the family names them."""

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from support.targets import built_in
from wire.openai_completions.judge import faults

from segue.render import Request, encode, lint
from segue.types import Context, Options, ToolDefinition, UserMessage

NAME = "openai-completions"
BASH = ToolDefinition("bash", "Run it", {"type": "object", "properties": {"a": {"type": "string"}}})
GPT, KIMI, GROQ = "openai/gpt-4-turbo", "moonshot/kimi-k2.5", "groq/openai/gpt-oss-120b"
CLAUDE = "openrouter/anthropic/claude-opus-5.5"


def sent(ref: str, tools: Any = (), system: str | None = None, /, **options: Any) -> Request:
    context = Context(system_prompt=system, messages=[UserMessage("go")], tools=list(tools))
    request = encode(context, built_in().resolve(ref, NAME), Options(**options))
    assert lint(request.body, NAME, request.model) == []
    assert faults(request) == []
    return request


def rest(request: Request) -> dict[str, Any]:
    return {name: value for name, value in request.body.items() if name not in ("model", "messages", "tools")}


def dropped(request: Request) -> list[str]:
    return [change.detail.partition(":")[0] for change in request.changes if change.code == "option-dropped"]


@pytest.mark.parametrize(
    ("ref", "level", "expected"),
    [
        ("openai/gpt-5.5", "high", {"reasoning_effort": "high"}),
        ("openai/gpt-5.5", "max", {"reasoning_effort": "xhigh"}),
        ("openai/gpt-5.5", "off", {"reasoning_effort": "none"}),
        ("openai/o1", "minimal", {"reasoning_effort": "low"}),
        ("groq/qwen/qwen3-32b", "low", {"reasoning_format": "parsed", "reasoning_effort": "default"}),
        (KIMI, "low", {"thinking": {"type": "enabled"}}),
        (KIMI, "off", {"thinking": {"type": "disabled"}}),
        ("moonshot/kimi-k3", "medium", {"reasoning_effort": "low"}),
        ("dashscope/qwen-plus", "off", {"enable_thinking": False}),
        ("together/Qwen/Qwen3.5-397B-A17B", "off", {"reasoning": {"enabled": False}}),
        ("openrouter/x-ai/grok-4.20", "high", {"reasoning": {"effort": "high"}}),
        ("openrouter/x-ai/grok-4.20", "off", {"reasoning": {"effort": "none"}}),
    ],
)
def test_a_reasoning_level_in_the_targets_field(ref: str, level: str, expected: dict[str, Any]) -> None:
    request = sent(ref, reasoning=level)
    assert rest(request) == expected
    assert dropped(request) == []


@pytest.mark.parametrize(("ref", "level"), [("openai/o1", "off"), (GPT, "low"), ("deepseek/deepseek-r1", "off")])
def test_a_level_that_the_target_does_not_know_is_left_out(ref: str, level: str) -> None:
    request = sent(ref, reasoning=level)
    assert rest(request) == {}
    assert dropped(request) == ["reasoning"]


def test_reasoning_off_changes_nothing_for_a_model_that_does_not_reason() -> None:
    assert dropped(sent(GPT, reasoning="off")) == []


def test_tools_switch_reasoning_off_if_they_exclude_each_other() -> None:
    request = sent("openai/gpt-5.5", [BASH], reasoning="high")
    assert rest(request) == {"reasoning_effort": "none"}
    assert dropped(request) == ["reasoning"]
    without = sent("openai/gpt-6-astra", [BASH], tool_choice="auto")
    assert "tools" not in without.body
    assert dropped(without) == ["tools", "tool_choice"]


def test_limits_are_in_the_fields_that_the_target_has() -> None:
    assert rest(sent(GPT, max_tokens=100, temperature=0.5, stop=("a",))) == {
        "max_completion_tokens": 100,
        "temperature": 0.5,
        "stop": ["a"],
    }
    kimi = sent(KIMI, max_tokens=100, temperature=0.5, stop=("", "a"))
    assert rest(kimi) == {"max_tokens": 100, "stop": ["a"]}
    assert dropped(kimi) == ["temperature", "stop"]
    assert dropped(sent("openai/gpt-5.5", stop=("a",), max_tokens=10_000_000)) == ["max_tokens", "stop"]
    assert sent(GPT, stop=tuple("abcde")).body["stop"] == list("abcd")


@pytest.mark.parametrize(
    ("ref", "choice", "expected"),
    [
        (GPT, "auto", "auto"),
        (GPT, "required", "required"),
        (GPT, "bash", {"type": "function", "function": {"name": "bash"}}),
        (GPT, "zsh", None),
        (KIMI, "required", None),
        (KIMI, "none", "none"),
    ],
)
def test_the_choice_of_a_tool(ref: str, choice: str, expected: Any) -> None:
    request = sent(ref, [BASH], tool_choice=choice)
    assert request.body.get("tool_choice") == expected
    assert dropped(request) == ([] if expected else ["tool_choice"])
    assert dropped(sent(ref, tool_choice=choice)) == ["tool_choice"]


@pytest.mark.parametrize("provider", [name for name, row in built_in().providers.items() if NAME in row.protocols])
def test_a_stream_asks_for_usage(provider: str) -> None:
    """Without asking for it, gateways report a usage of 0 in streams."""
    request = sent(f"{provider}/some-model", stream=True)
    assert request.body["stream_options"] == {"include_usage": True}
    assert "stream_options" not in sent(f"{provider}/some-model").body


def test_a_stream_does_not_ask_for_usage_if_the_target_refuses_that() -> None:
    model = built_in().resolve(GPT, NAME)
    strict = replace(model, dialect=replace(model.dialect, stream_usage=False))
    request = encode(Context(messages=[UserMessage("go")]), strict, Options(stream=True))
    assert rest(request) == {"stream": True}


def test_the_user_of_a_request() -> None:
    assert rest(sent(GPT, metadata={"user_id": "u"})) == {"safety_identifier": "u"}
    assert rest(sent(GROQ, metadata={"user_id": "u"})) == {"user": "u"}
    assert dropped(sent(GPT, metadata={"team": "a"})) == ["metadata"]
    assert dropped(sent(KIMI, metadata={"user_id": "u"})) == ["metadata"]


def test_caching() -> None:
    marked = sent(CLAUDE, [], "Be brief.", cache="long").body["messages"]
    marker = {"type": "ephemeral", "ttl": "1h"}
    assert [turn["content"] for turn in marked] == [
        [{"type": "text", "text": "Be brief.", "cache_control": marker}],
        [{"type": "text", "text": "go", "cache_control": marker}],
    ]
    assert rest(sent("openai/gpt-5.5", cache="long")) == {"prompt_cache_retention": "24h"}
    assert dropped(sent(KIMI, cache="long")) == ["cache"]
    assert dropped(sent(KIMI, cache="short")) == []


def test_fields_that_an_sdk_does_not_know_go_into_extra_body() -> None:
    assert sent(KIMI, reasoning="low").sdk_kwargs()["extra_body"] == {"thinking": {"type": "enabled"}}
    assert "extra_body" not in sent("groq/qwen/qwen3-32b", reasoning="low").sdk_kwargs()


def test_the_path_and_the_headers() -> None:
    request = sent(GPT)
    assert (request.path, request.headers) == ("/chat/completions", {"content-type": "application/json"})


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (
            {"anyOf": [{"type": "object", "properties": {"a": {}}}, {"type": "object", "properties": {"b": {}}}]},
            {"type": "object", "properties": {"b": {}, "a": {}}},
        ),
        ({"type": "string", "enum": ["a"]}, {"type": "object", "properties": {}}),
        ({"type": "object", "properties": []}, {"type": "object", "properties": {}}),
    ],
)
def test_the_root_of_a_schema_is_an_object_without_alternatives(schema: Any, expected: Any) -> None:
    request = sent(GPT, [ToolDefinition("t", "", schema)])
    assert request.body["tools"][0]["function"]["parameters"] == expected
    assert [change.code for change in request.changes] == ["schema-adapted"]


def test_an_object_without_properties_gets_them_which_changes_nothing() -> None:
    request = sent(GPT, [ToolDefinition("t", "", {"type": "object"})])
    assert request.body["tools"][0]["function"]["parameters"] == {"type": "object", "properties": {}}
    assert request.changes == []


def test_a_schema_that_is_not_an_object() -> None:
    request = sent(GPT, [ToolDefinition("t", "", msgspec.Raw(b"true"))])
    assert request.body["tools"][0]["function"]["parameters"] == {"type": "object", "properties": {}}


def test_parameters_get_a_description_if_a_template_requires_it() -> None:
    request = sent("llamacpp/command-r-plus", [BASH])
    assert request.body["tools"][0]["function"]["parameters"]["properties"] == {
        "a": {"description": "", "type": "string"}
    }
