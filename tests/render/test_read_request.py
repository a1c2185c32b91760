"""A request is read as it was meant: conversation, model and options; and who made each answer is found."""

from typing import Any

import msgspec
import pytest
from conftest import SOAK
from hypothesis import given, settings, strategies as st
from support.targets import distinct_on_the_wire

import segue
from segue.errors import FormatError
from segue.types import (
    AssistantMessage,
    Context,
    Model,
    Options,
    Origin,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolDefinition,
    UserMessage,
)
from segue.wire.registry import PROTOCOLS

TOOLS = [ToolDefinition("weather", "Current weather", {"type": "object", "properties": {"city": {"type": "string"}}})]
CONTEXT = Context(system_prompt="Be brief.", messages=[UserMessage("Hello")], tools=TOOLS)
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
pick = st.sampled_from

options = st.builds(
    Options,
    max_tokens=pick([None, 2_000, 4_000]),
    temperature=pick([None, 0.5, 1]),
    top_p=pick([None, 0.9]),
    stop=pick([(), ("END",), ("END", "STOP")]),
    tool_choice=pick([None, "auto", "none", "required", "weather"]),
    parallel_tool_calls=pick([None, False]),
    reasoning=pick([None, "off", "minimal", "low", "medium", "high", "xhigh", "max"]),
    cache=pick([None, "short", "long"]),
    cache_key=pick([None, "session-1"]),
    metadata=pick([{}, {"user_id": "u-1"}]),
    response_format=pick([None, SCHEMA]),
    stream=st.booleans(),
)


MODELS = [model for protocol in PROTOCOLS for model in distinct_on_the_wire(protocol).values()]


@settings(max_examples=400 if SOAK else 300)
@given(model=pick(MODELS), wanted=options)
def test_the_options_of_an_encoded_request_are_read_back(model: Model, wanted: Options) -> None:
    """What the encoder left out is in its report; levels may be the nearest that the model has."""
    request = segue.encode(CONTEXT, model, wanted)
    read = segue.read_request(request.body, model.protocol, model)
    dropped = {change.detail.partition(":")[0] for change in request.changes if change.code == "option-dropped"}
    assert [change.detail for change in read.changes] == []
    assert read.model in (model.id, "")
    found, has_tools = read.options, bool(read.context.tools)
    for name in ("max_tokens", "temperature", "top_p", "stop", "metadata", "response_format"):
        if name not in dropped and getattr(wanted, name) not in (None, (), {}):
            assert getattr(found, name) == getattr(wanted, name), name
    if "tool_choice" not in dropped and wanted.tool_choice is not None and has_tools:
        assert found.tool_choice == wanted.tool_choice
    if "parallel_tool_calls" not in dropped and wanted.parallel_tool_calls is False and has_tools:
        assert found.parallel_tool_calls is False or wanted.tool_choice == "none"
    if "reasoning" not in dropped and wanted.reasoning is not None and found.reasoning is not None:
        assert (wanted.reasoning == "off") <= (found.reasoning == "off" or model.dialect.prefix_bound)
    if model.protocol not in IN_THE_PATH:
        assert found.stream is wanted.stream
    if "cache_key" not in dropped and not getattr(model.dialect, "affinity_header", None):
        assert found.cache_key == wanted.cache_key


@pytest.mark.parametrize("protocol", ["openai-completions", "openai-responses", "mistral-chat"])
@pytest.mark.parametrize(
    ("key", "carried", "reported"),
    [("session-1", "session-1", []), ("", None, []), (7, None, ["prompt_cache_key: it is not a text"])],
)
def test_the_key_of_a_cache_is_carried_or_reported(
    protocol: str, key: object, carried: str | None, reported: list[str]
) -> None:
    """A header that keeps a conversation on one server is not part of the body; the gateway reads it."""
    history = "input" if protocol == "openai-responses" else "messages"
    body = {"model": "m", history: [{"role": "user", "content": "Hello"}], "prompt_cache_key": key}
    read = segue.read_request(body, protocol)
    assert (read.options.cache_key, [change.detail for change in read.changes]) == (carried, reported)


@pytest.mark.parametrize("protocol", ["anthropic-messages", "google-generative-ai", "bedrock-converse"])
def test_the_key_of_a_cache_in_a_protocol_without_it_is_reported(protocol: str) -> None:
    """And so is OpenRouter's name of a session in a body, which only its header carries here."""
    body = segue.export(CONTEXT, protocol).body | {"model": "m", "max_tokens": 9, "prompt_cache_key": "session-1"}
    changes = segue.read_request(body, protocol).changes
    assert any(change.detail.startswith("prompt_cache_key") for change in changes)
    chat = {"model": "m", "messages": [{"role": "user", "content": "Hello"}], "session_id": "session-1"}
    [change] = segue.read_request(chat, "openai-completions").changes
    assert change.detail.startswith("session_id")


IN_THE_PATH = ("google-generative-ai", "bedrock-converse")
"""Protocols whose requests say in their path whether the answer is streamed."""


# -- who made the answers --------------------------------------------------------------------------------------------

CLAUDE = Origin("anthropic", "anthropic-messages", "claude-opus-4-5", "a1")
GPT = Origin("openai", "openai-responses", "gpt-5.1")
SIGNED = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
BODY: dict[str, Any] = {
    "model": "claude-opus-4-5",
    "max_tokens": 100,
    "messages": [
        {"role": "user", "content": "One?"},
        {"role": "assistant", "content": [SIGNED, {"type": "text", "text": "One."}]},
        {"role": "user", "content": "Two?"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "call_2", "name": "weather", "input": {}}]},
    ],
}


def origins_in(request: segue.ReadRequest) -> list[Origin]:
    return [Origin.of(each) for each in request.context.messages if isinstance(each, AssistantMessage)]


def test_one_body_may_have_answers_of_several_models() -> None:
    def answer(origin: Origin, *content: Any) -> AssistantMessage:
        return origin.mark(AssistantMessage(content=[*content], protocol="", provider="", model="", stop_reason="stop"))

    ledger = segue.Ledger()
    ledger.remember(answer(CLAUDE, ThinkingContent("Hm.", "c2ln"), TextContent("One.")))
    ledger.remember(answer(GPT, ToolCall("call_2", "weather", {})))
    request = segue.read_request(BODY, origins=ledger)
    assert origins_in(request) == [CLAUDE, GPT]
    model = segue.get_model("anthropic/claude-opus-4-5").replace(endpoint="a1")
    sent = segue.encode(request.context, model)
    assert SIGNED in sent.body["messages"][1]["content"]
    assert not any("thinking" in change.code for change in sent.changes)


def test_a_function_may_know_who_made_the_answers() -> None:
    model = segue.get_model("anthropic/claude-opus-4-5")
    request = segue.read_request(BODY, origins=lambda message: model if message.text else None)
    assert [origin.model for origin in origins_in(request)] == ["claude-opus-4-5", ""]


@pytest.mark.parametrize("maker", [CLAUDE, segue.get_model("anthropic/claude-opus-4-5"), "anthropic/claude-opus-4-5"])
def test_one_model_may_have_made_all_answers(maker: Any) -> None:
    assert {origin.model for origin in origins_in(segue.read_request(BODY, origins=maker))} == {"claude-opus-4-5"}


def test_without_origins_nothing_is_known_of_the_makers() -> None:
    assert {origin.provider for origin in origins_in(segue.read_request(BODY))} == {""}


def test_origins_of_another_kind_are_refused() -> None:
    with pytest.raises(TypeError, match="origins must be a ledger, a function, an Origin or a Model, not a int"):
        segue.read_request(BODY, origins=7)  # type: ignore[arg-type]


# -- the rest --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "form", [dict, lambda body: msgspec.json.encode(body), lambda body: msgspec.json.encode(body).decode()]
)
def test_a_body_may_be_a_dict_or_json(form: Any) -> None:
    request = segue.read_request(form(BODY))
    assert (request.protocol, request.model, request.options.max_tokens) == (
        "anthropic-messages",
        "claude-opus-4-5",
        100,
    )
    assert request.context == segue.ingest(BODY, now=request.context.messages[1].timestamp)  # type: ignore[union-attr]


def test_a_list_of_messages_and_a_conversation_have_no_options() -> None:
    request = segue.read_request(BODY["messages"])
    assert (request.model, request.options, request.changes) == ("", Options(), [])
    own = segue.read_request(segue.Context(messages=[UserMessage("Hi")]).to_json())
    assert (own.protocol, own.context.messages) == (None, [UserMessage("Hi")])


@pytest.mark.parametrize("protocol", PROTOCOLS)
@given(
    junk=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=3),
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
        max_leaves=4,
    )
)
def test_options_of_any_form_are_read_or_reported(protocol: str, junk: Any) -> None:
    body = segue.encode(CONTEXT, model_of(protocol)).body
    form = segue.wire.protocol_of(protocol).request
    for name in form.fields.of:
        if name not in CONVERSATION:
            segue.read_request(body | {name: junk}, protocol)


CONVERSATION = {"messages", "contents", "input", "system", "systemInstruction", "instructions", "tools", "toolConfig"}
CONVERSATION |= {"functions", "system_instruction", "tool_config"}
"""Fields that are the conversation: a wrong type in them is an error."""


def model_of(protocol: str) -> Model:
    return next(iter(distinct_on_the_wire(protocol).values()))


def test_reading_never_fills_extra() -> None:
    request = segue.read_request(BODY | {"service_tier": "auto", "brand_new": {"a": 1}})
    assert request.options.extra == {}
    assert [change.detail for change in request.changes] == [
        "service_tier: segue does not carry it",
        "brand_new: segue does not carry it",
    ]
    assert all(change.lossy for change in request.changes)


def test_a_body_that_is_nested_too_deeply_is_refused() -> None:
    deep: Any = {}
    for _ in range(100_000):
        deep = {"content": [deep], "type": "tool_result", "tool_use_id": "1"}
    with pytest.raises(FormatError, match="nested too deeply"):
        segue.read_request({"messages": [{"role": "user", "content": [deep]}], "system": "x"}, "anthropic-messages")
