"""Quirks that other libraries know, one case each: what a request has, or why segue decides otherwise.

Compared on 2026-11-16 and 2026-11-18 with pi 1.5, pydantic-ai 2.66.0, opencode, Vercel's packages and litellm.
"""

from typing import Any

import msgspec
import pytest
from support.targets import built_in

import segue
from segue import Context, Options
from segue.types import AssistantMessage, Model, TextContent, ThinkingContent, ToolDefinition, UserMessage

TOOL = ToolDefinition("weather", "Weather", {"type": "object", "properties": {"city": {"type": "string"}}})
GO = Context(system_prompt="Be brief.", messages=[UserMessage("Go on.")], tools=[TOOL])


def model(name: str, protocol: str | None = None) -> Model:
    return built_in().resolve(name, protocol)


def body(name: str, context: Context = GO, protocol: str | None = None, **options: Any) -> dict[str, Any]:
    found: dict[str, Any] = segue.encode(context, model(name, protocol), Options(**options)).body
    return found


def history(name: str, protocol: str | None = None) -> Context:
    """An answer of the target with thinking, and one without."""
    target = model(name, protocol)
    own = {"provider": target.provider, "protocol": target.protocol, "model": target.id}
    answers = [
        AssistantMessage([ThinkingContent("Hm.", "reasoning_content"), TextContent("Yes.")], **own),
        AssistantMessage([TextContent("No.")], **own),
    ]
    return Context(messages=[UserMessage("A?"), answers[0], UserMessage("B?"), answers[1], UserMessage("C?")])


def fields(name: str, *wanted: str, **options: Any) -> dict[str, Any]:
    made = body(name, **options)
    return {field: made[field] for field in wanted if field in made}


ZAI = ("thinking", "reasoning_effort", "tool_stream")


def test_z_ai_keeps_earlier_reasoning_and_streams_arguments() -> None:
    kept = {"type": "enabled", "clear_thinking": False}
    assert fields("zai/glm-4.7", *ZAI) == {"thinking": kept}
    assert fields("zai/glm-4.7", *ZAI, stream=True) == {"thinking": kept, "tool_stream": True}
    assert fields("zai/glm-4.7", *ZAI, reasoning="off") == {"thinking": {"type": "disabled"}}
    assert fields("zai/glm-4.5", *ZAI, stream=True) == {}, "not documented for earlier models"
    assert "tool_stream" not in body("zai/glm-4.7", Context(messages=[UserMessage("Hi")]), stream=True)


def test_glm_5_2_and_5_3_have_levels() -> None:
    assert fields("zai/glm-5.2", *ZAI, reasoning="max")["reasoning_effort"] == "max"
    assert fields("zai/glm-5.3", *ZAI, reasoning="low")["reasoning_effort"] == "low"
    assert fields("zai/glm-5.3", "thinking", reasoning="off") == {}, "it cannot be turned off"


def test_glm_5_3_on_together_has_levels_and_no_switch() -> None:
    assert fields("together/zai-org/GLM-5.3", "reasoning", "reasoning_effort", reasoning="max") == {
        "reasoning_effort": "max"
    }


def test_deepseek_v4_has_levels_beside_the_switch() -> None:
    wanted = ("thinking", "reasoning_effort")
    assert fields("deepseek/deepseek-v4-pro", *wanted, reasoning="max") == {
        "thinking": {"type": "enabled"},
        "reasoning_effort": "max",
    }
    assert fields("deepseek/deepseek-v4-pro", *wanted, reasoning="off") == {"thinking": {"type": "disabled"}}
    assert fields("deepseek/deepseek-flash", "reasoning_effort", reasoning="low") == {"reasoning_effort": "low"}


def test_deepseek_v4_on_together_has_a_level() -> None:
    name = "together/deepseek-ai/DeepSeek-V4-Pro-0813"
    assert fields(name, "reasoning", "reasoning_effort", reasoning="max") == {"reasoning_effort": "high"}


def test_a_whole_answer_of_dashscope_does_not_think() -> None:
    """A2: "parameter.enable_thinking must be set to false for non-streaming calls"."""
    for level in (None, "high", "off"):
        made = segue.encode(GO, model("dashscope/qwen3-32b"), Options(reasoning=level))
        assert made.body["enable_thinking"] is False
        assert [change.code for change in made.changes] == (["option-dropped"] if level == "high" else [])
    streamed = fields("dashscope/qwen3-32b", "enable_thinking", "thinking_budget", reasoning="high", stream=True)
    assert streamed == {"enable_thinking": True, "thinking_budget": 16_384}
    assert fields("dashscope/qwen3-32b", "enable_thinking", stream=True) == {}
    assert fields("dashscope/qwq-plus", "enable_thinking") == {}, "it always thinks, so nothing is sent"


def test_qwen_gets_a_budget_for_its_level() -> None:
    """Against pi, which also sends `reasoning_effort` to Qwen 3.8: DashScope documents the budget for every model that
    thinks, and no level, so a level becomes a budget. No budget is sent without a level, or with thinking off."""
    wanted = ("enable_thinking", "thinking_budget", "reasoning_effort")
    for level, budget in (("low", 2_048), ("high", 16_384)):
        found = fields("dashscope/qwen3.8-max", *wanted, reasoning=level, stream=True)
        assert found == {"enable_thinking": True, "thinking_budget": budget}
    assert fields("dashscope/qwen3.8-max", *wanted, reasoning="off", stream=True) == {"enable_thinking": False}
    assert fields("dashscope/qwen3.8-max", *wanted, stream=True) == {}


def test_dashscope_preserves_thinking_where_models_support_it() -> None:
    made = body("dashscope/qwen3.7-max", history("dashscope/qwen3.7-max"), stream=True)
    assert made["preserve_thinking"] is True
    assert [message.get("reasoning_content") for message in made["messages"][1::2]] == ["Hm.", None]
    old = body("dashscope/qwen3-32b", history("dashscope/qwen3-32b"), stream=True)
    assert "preserve_thinking" not in old
    assert not any("reasoning_content" in message for message in old["messages"])


@pytest.mark.parametrize("name", ["moonshot/kimi-k3", "fireworks/accounts/fireworks/models/kimi-k3"])
def test_kimi_k3_gets_reasoning_on_all_answers(name: str) -> None:
    answers = body(name, history(name))["messages"][1::2]
    assert [message["reasoning_content"] for message in answers] == ["Hm.", " "]


def test_kimi_k2_7_code_is_never_told_not_to_think() -> None:
    assert fields("moonshot/kimi-k2.7-code", "thinking", "reasoning_effort", reasoning="off") == {}


@pytest.mark.parametrize("name", ["moonshot/kimi-k2-0905-preview", "moonshot/kimi-k2.5"])
def test_kimi_is_never_forced_to_call_a_tool(name: str) -> None:
    assert fields(name, "tool_choice", tool_choice="required") == {}


def test_no_switch_is_sent_to_a_model_that_does_not_reason() -> None:
    quiet = [ref for ref in built_in().names if not built_in().resolve(ref).reasoning]
    assert len(quiet) > 500
    switches = {"reasoning", "reasoning_effort", "thinking", "enable_thinking", "output_config", "preserve_thinking"}
    for ref in quiet[::7]:
        target = built_in().resolve(ref)
        made = segue.encode(GO, target, Options(reasoning="high", stream=True))
        assert not switches & set(made.body), ref
        assert not {"thinkingConfig"} & set(made.body.get("generationConfig", {})), ref


@pytest.mark.parametrize(
    ("name", "level", "found"),
    [
        ("xai/grok-4.3", "low", {"reasoning": {"effort": "low"}}),
        ("xai/grok-4.3", "off", {"reasoning": {"effort": "none"}}),
        ("xai/grok-4.7", "max", {"reasoning": {"effort": "high"}}),
        ("xai/grok-4.7", "off", {}),
        ("fireworks/accounts/fireworks/models/glm-5p3", "max", {"reasoning_effort": "max"}),
        ("fireworks/accounts/fireworks/models/deepseek-v4-pro", "high", {"reasoning_effort": "high"}),
    ],
)
def test_levels_are_kept_where_the_provider_has_them(name: str, level: Any, found: dict[str, Any]) -> None:
    """A5, A8."""
    assert fields(name, "reasoning", "reasoning_effort", reasoning=level) == found


def test_a_level_that_cannot_be_sent_is_reported() -> None:
    """Where the switch of a host is not known, or a model has none (MiniMax, R1, Grok 4), nothing is guessed."""
    silent = []
    for ref in built_in().names[::5]:
        target = built_in().resolve(ref)
        if target.reasoning:
            made = segue.encode(GO, target, Options(reasoning="high", stream=True))
            same = made.json() == segue.encode(GO, target, Options(stream=True)).json()
            # Z.ai's `thinking` is sent without a level, too.
            if same and "thinking" not in made.body and "option-dropped" not in [each.code for each in made.changes]:
                silent.append(ref)
    assert silent == []
    minimax = segue.encode(GO, model("minimax/MiniMax-M3"), Options(reasoning="high"))
    assert [change.code for change in minimax.changes] == ["option-dropped"]


def test_nova_2_has_levels() -> None:
    made = body("amazon-bedrock/amazon.nova-2-lite-v1:0", reasoning="low")
    assert made["additionalModelRequestFields"] == {"reasoningConfig": {"type": "enabled", "maxReasoningEffort": "low"}}


def test_xai_speaks_responses_and_gets_its_reasoning_back() -> None:
    """A5: chat completions have no field for it."""
    assert model("xai/grok-4.7").protocol == "openai-responses"
    made = body("xai/grok-4.7")
    assert (made["store"], made["include"]) == (False, ["reasoning.encrypted_content"])
    assert model("xai/grok-4.7").dialect.own_reasoning == "signed"


def test_fireworks_is_asked_for_the_usage_of_a_stream() -> None:
    """A8."""
    name = "fireworks/accounts/fireworks/models/kimi-k3"
    assert body(name, stream=True)["stream_options"] == {"include_usage": True}


@pytest.mark.parametrize("name", ["openai/gpt-5.4", "azure/gpt-5.4", "xai/grok-4.7", "mistral/mistral-large-latest"])
def test_a_cache_key_is_sent_where_a_provider_has_a_field_for_it(name: str) -> None:
    assert fields(name, "prompt_cache_key", cache_key="session-1") == {"prompt_cache_key": "session-1"}
    assert len(body(name, cache_key="x" * 100)["prompt_cache_key"]) == 32, "a longer one is replaced by its digest"
    assert "prompt_cache_key" not in body(name)


@pytest.mark.parametrize(
    ("name", "header"),
    [("openrouter/openai/gpt-5", "x-session-id"), ("fireworks/kimi-k3", "x-session-affinity")],
)
def test_routers_keep_a_conversation_on_one_server_by_a_header(name: str, header: str) -> None:
    made = segue.encode(GO, model(name), Options(cache_key="session-1"))
    assert made.headers[header] == "session-1"
    assert "prompt_cache_key" not in made.body
    assert header not in segue.encode(GO, model(name)).headers


@pytest.mark.parametrize("name", ["anthropic/claude-opus-5-5", "deepseek/deepseek-v4-pro"])
def test_a_cache_key_without_a_use_is_reported(name: str) -> None:
    """Against pi for DeepSeek: its documentation has no such field, and its cache on disk needs none."""
    made = segue.encode(GO, model(name), Options(cache_key="session-1"))
    assert [change.code for change in made.changes] == ["option-dropped"]


@pytest.mark.parametrize("name", ["claude-haiku-5-5", "claude-sonnet-5-5"])
def test_the_5_5_models_read_a_system_role_inside_messages(name: str) -> None:
    """litellm 1.108.4 (supports_mid_conversation_system) and pi agree."""
    assert model(f"anthropic/{name}").dialect.system_in_messages  # type: ignore[attr-defined]


def test_mistral_on_azure_gets_max_tokens() -> None:
    assert fields("azure/mistral-large-3", "max_tokens", "max_completion_tokens", max_tokens=100) == {"max_tokens": 100}
    assert fields("azure/gpt-5.4", "max_output_tokens", max_tokens=100) == {"max_output_tokens": 100}


@pytest.mark.parametrize(
    "name", ["deepseek/deepseek-v4-pro", "zai/glm-5.3", "fireworks/accounts/fireworks/models/kimi-k3"]
)
def test_strict_is_not_sent_where_only_one_library_lists_it(name: str) -> None:
    """Against pi, which lists strict tools for DeepSeek, Z.ai and Fireworks: DeepSeek documents them only for another
    address (/beta), the others not at all, and a strict tool refuses schemas that are accepted without it."""
    [tool] = body(name)["tools"]
    assert "strict" not in tool["function"]


@pytest.mark.parametrize("name", ["anthropic/claude-sonnet-5-5", "amazon-bedrock/us.anthropic.claude-opus-5-5"])
def test_strict_is_not_sent_to_claude(name: str) -> None:
    """It is accepted (pi: 17 models, and 150 on Bedrock), but a strict tool refuses schemas that are accepted without,
    and the stored schema does not say that its owner wants that."""
    assert '"strict"' not in msgspec.json.encode(body(name)).decode()


@pytest.mark.parametrize("name", ["cerebras/gpt-oss-120b", "openrouter/qwen/qwen3-32b", "openrouter/openai/gpt-5"])
def test_the_developer_role_is_not_sent_where_it_may_be_refused(name: str) -> None:
    """pi says that Cerebras and most models on OpenRouter refuse it. The types of cerebras-cloud-sdk 1.91.0 have it, so
    lint accepts it; segue sends `system`."""
    assert body(name)["messages"][0]["role"] == "system"


def test_temperature_is_not_sent_to_models_that_refuse_it() -> None:
    """Against pi, which sends it to Fable 5 and Sonnet 5; litellm says, as segue does, that they refuse it."""
    assert fields("anthropic/claude-fable-5", "temperature", temperature=0.5) == {}


def test_no_sampling_is_added() -> None:
    """opencode adds temperatures by model: an opinion, not a rule, so what is not set is not sent."""
    for name in ("zai/glm-4.6", "moonshot/kimi-k2.5", "minimax/MiniMax-M2"):
        assert not {"temperature", "top_p", "top_k"} & set(body(name))


@pytest.mark.parametrize("provider", ["ollama", "vllm", "llamacpp"])
def test_think_tags_of_self_hosted_models_are_read_as_thinking(provider: str) -> None:
    assert model(f"{provider}/some-model").dialect.tagged_reasoning  # type: ignore[attr-defined]


def test_white_space_before_a_call_is_not_sent_again() -> None:
    """Qwen, Kimi and others write it. It is kept in the record, and no target gets a blank text."""
    target = model("moonshot/kimi-k2.5")
    call = segue.ToolCall("call_1", "weather", {"city": "Rome"})
    answer = AssistantMessage(
        [TextContent("\n\n"), call], provider=target.provider, protocol=target.protocol, model=target.id
    )
    result = segue.ToolResultMessage("call_1", "weather", [TextContent("24")])
    made = segue.encode(Context(messages=[UserMessage("Go"), answer, result], tools=[TOOL]), target)
    assert made.body["messages"][1]["content"] is None
