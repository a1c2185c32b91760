"""Signed content goes back only to the model that made it, on the platform that made it."""

import json
from typing import Any

import pytest
from msgspec.structs import replace
from support.targets import built_in, distinct, every

import segue
from segue.types import (
    AssistantMessage,
    Context,
    Model,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)

TARGETS = distinct()
SIGNATURE = "c2lnbmF0dXJlIG9mIGFub3RoZXI="


def answer(model: Model, *content: Any, **fields: Any) -> AssistantMessage:
    stop = "toolUse" if any(isinstance(block, ToolCall) for block in content) else "stop"
    return AssistantMessage(
        content=list(content),
        protocol=model.protocol,
        provider=model.provider,
        model=model.id,
        stop_reason=stop,
        **fields,
    )


def talk(*messages: Any) -> Context:
    return Context(messages=[UserMessage("go"), *messages, UserMessage("next")])


PLATFORMS = [
    built_in().resolve("anthropic/claude-opus-5-5"),
    built_in().resolve("amazon-bedrock/us.anthropic.claude-opus-5-5"),
    built_in().resolve("openrouter/anthropic/claude-opus-5.5"),
]


@pytest.mark.parametrize("policy", [None, "phi-core", "or"])
@pytest.mark.parametrize("to", PLATFORMS, ids=lambda model: model.provider)
@pytest.mark.parametrize("of", PLATFORMS, ids=lambda model: model.provider)
def test_the_same_claude_on_another_platform_does_not_get_the_signature(of: Model, to: Model, policy: Any) -> None:
    """openclaw#110079, 2026-07: refused on every later turn."""
    thought = ThinkingContent("hm", SIGNATURE if of.protocol != "openai-completions" else f'[{{"s":"{SIGNATURE}"}}]')
    sent = segue.encode(talk(answer(of, thought, TextContent("yes"))), to, policy=policy).json().decode()
    assert (SIGNATURE in sent) is (of is to)


def test_the_same_claude_of_another_account_does_not_get_the_signature() -> None:
    model = PLATFORMS[0]
    made = answer(model, ThinkingContent("hm", SIGNATURE), TextContent("yes"), endpoint="one")
    for endpoint, kept in [("one", True), ("two", False)]:
        sent = segue.encode(talk(made), replace(model, endpoint=endpoint), policy="phi-core").json().decode()
        assert (SIGNATURE in sent) is kept


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning", "reasoning_text"])
@pytest.mark.parametrize("target", TARGETS)
def test_a_field_name_reaches_no_target_as_a_signature(target: str, name: str) -> None:
    """openclaw#91205, 2026-06: sessions whose `thinkingSignature` was "reasoning_content" were refused for good."""
    model = TARGETS[target]
    deepseek = built_in().resolve("deepseek/deepseek-v4-pro")
    call = ToolCall("call_1", "bash", {})
    result = ToolResultMessage("call_1", "bash", [TextContent("ok")])
    context = talk(answer(deepseek, ThinkingContent("hm", name), call), result)
    for policy in (None, "phi-core", "or", "llxprt"):
        assert not [at for at, value in _signatures(segue.encode(context, model, policy=policy).body) if value == name]


def _signatures(value: Any, path: str = "") -> list[tuple[str, Any]]:
    """Every member that is a signature by its name, with its place."""
    if isinstance(value, list):
        return [found for at, each in enumerate(value) for found in _signatures(each, f"{path}[{at}]")]
    if not isinstance(value, dict):
        return []
    own = [(f"{path}.{key}", each) for key, each in value.items() if "ignature" in key or key in ("data", "encrypted")]
    return own + [found for key, each in value.items() for found in _signatures(each, f"{path}.{key}")]


KEEPING = [
    model
    for model in every()
    if model.protocol == "anthropic-messages" and model.provider == "anthropic" and model.reasoning
]


@pytest.mark.parametrize("model", KEEPING, ids=lambda model: model.id)
def test_own_thinking_of_earlier_turns_is_never_dropped(model: Model) -> None:
    """Opus from 4.5, Sonnet from 4.6, Fable and Mythos keep the thinking of all earlier turns in context and cache
    (hermes-agent#103476, 2026-09; platform.claude.com, "Context windows", 2026-10). Older models leave it out
    themselves, so that it is sent to all."""
    history: list[Any] = []
    for turn in range(4):
        context = Context(system_prompt="Be brief.", messages=[*history, UserMessage(f"question {turn}")])
        digest = segue.project(context, model).prefix_digest()
        thought = ThinkingContent(f"thought {turn}", f"sig{turn}")
        history = [*context.messages, answer(model, thought, TextContent("so"), prefix_digest=digest)]
    context = Context(system_prompt="Be brief.", messages=[*history, UserMessage("last")])
    request = segue.encode(context, model)
    blocks = [block for turn in request.body["messages"] for block in turn["content"]]
    assert [block["signature"] for block in blocks if "signature" in block] == ["sig0", "sig1", "sig2", "sig3"]
    assert request.changes == []


def test_gpt_on_bedrock_gets_its_encrypted_reasoning_back_and_nothing_else() -> None:
    """inspect_ai#5217 and #5299, 2026-09: accepted verbatim, refused as text, and no other model may have it."""
    gpt = built_in().resolve("amazon-bedrock/us.openai.gpt-5.6-sol")
    secret = ThinkingContent("", "cnNuLi4u", redacted=True)
    context = talk(answer(gpt, secret, ThinkingContent("readable", "sig"), TextContent("yes")))
    request = segue.encode(context, gpt)
    assert request.body["messages"][1]["content"] == [
        {"reasoningContent": {"redactedContent": "cnNuLi4u"}},
        {"text": "yes"},
    ]
    assert [change.code for change in request.changes] == ["thinking-dropped"]
    for other in ("amazon-bedrock/us.openai.gpt-6-sol", "amazon-bedrock/us.xai.grok-4.6"):
        assert "cnNuLi4u" not in json.dumps(segue.encode(context, built_in().resolve(other)).body)


@pytest.mark.parametrize("name", ["us.amazon.nova-pro-v1:0", "us.anthropic.claude-opus-5-5", "us.openai.gpt-5.6-sol"])
@pytest.mark.parametrize("own", [True, False])
def test_arguments_without_a_key_are_left_out_on_bedrock_at_any_depth_and_reported(name: str, own: bool) -> None:
    model = built_in().resolve(f"amazon-bedrock/{name}")
    arguments = {
        "path": "a",
        "": 1,
        " ": 2,
        "edits": [{"old": "x", "": ""}, {"": {"": 1}}, {"a": {"": [1], "b": None}}],
    }
    made = answer(model if own else built_in().resolve("openai/gpt-5.2"), ToolCall("tooluse_1", "edit", arguments))
    result = ToolResultMessage("tooluse_1", "edit", [TextContent("ok")])
    request = segue.encode(talk(made, result), model)
    sent = request.body["messages"][1]["content"][0]["toolUse"]["input"]
    assert sent == {"path": "a", " ": 2, "edits": [{"old": "x"}, {}, {"a": {"b": None}}]}
    reported = [change for change in request.changes if change.code == "arguments-adapted"]
    assert [(change.message, change.block, change.lossy) for change in reported] == [(1, 0, True)]
    assert arguments[""] == 1, "what is stored stays"
    elsewhere = segue.encode(talk(made, result), built_in().resolve("openai/gpt-5.2"))
    assert "arguments-adapted" not in [change.code for change in elsewhere.changes]


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning", "reasoning_text"])
@pytest.mark.parametrize("target", TARGETS)
def test_the_name_of_a_field_is_never_sent_as_a_signature_not_even_to_its_own_origin(target: str, name: str) -> None:
    """A field name that another tool stored where signatures are has made sessions unusable (openclaw#91205)."""
    model = TARGETS[target]
    rendered = segue.project(talk(answer(model, ThinkingContent("let me see", name), TextContent("done"))), model)
    signatures = [
        block.thinking_signature
        for message in rendered.context.messages
        for block in message.content
        if isinstance(block, ThinkingContent)
    ]
    assert name not in signatures or model.protocol == "openai-completions"
    assert rendered.changes or signatures == [name]
