"""Values: empty optional fields are absent, helpers return copies, and costs are computed per category."""

import copy
import gc
import pickle
from typing import Any, get_args

import pytest

from segue.dialects import AnthropicMessages
from segue.types import (
    AssistantMessage,
    Block,
    Context,
    Diagnostic,
    Message,
    Model,
    ModelCost,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
    Usage,
    UsageCost,
    UserMessage,
)


def answer(**fields: Any) -> AssistantMessage:
    return AssistantMessage(
        **({"content": [], "protocol": "p", "provider": "v", "model": "m", "stop_reason": "stop"} | fields)
    )


@pytest.mark.parametrize(
    ("empty", "absent"),
    [
        (TextContent("x", text_signature=""), TextContent("x")),
        (ThinkingContent("x", thinking_signature="", redacted=False), ThinkingContent("x")),
        (ToolCall("1", "a", {}, thought_signature=""), ToolCall("1", "a", {})),
        (ToolResultMessage("1", "a", [], synthetic=False), ToolResultMessage("1", "a", [])),
        (Diagnostic("x", 0, message="", details={}), Diagnostic("x", 0)),
        (Context(system_prompt="", messages=[], tools=[]), Context(messages=[])),
        (
            answer(response_model="", response_id="", error_message="", diagnostics=[], endpoint="", prefix_digest=""),
            answer(),
        ),
        (answer(diagnostics=None), answer()),
    ],
)
def test_an_empty_optional_and_an_absent_one_are_the_same_value(empty: Any, absent: Any) -> None:
    assert empty == absent


def test_an_empty_optional_in_json_is_absent_too() -> None:
    data = b'{"systemPrompt":"","messages":[{"role":"user","content":[{"type":"text","text":"x","textSignature":""}]}]}'
    assert Context.from_json(data) == Context(messages=[UserMessage("x")])


def test_text_joins_the_text_blocks_and_skips_the_rest() -> None:
    message = answer(content=[TextContent("a"), ThinkingContent("no"), ToolCall("1", "t", {}), TextContent("b")])
    assert message.text == "ab"
    assert answer().text == ""


def test_tool_calls_are_copies_that_the_caller_may_change() -> None:
    message = answer(content=[ToolCall("1", "t", {"deep": {"x": [1]}}), TextContent("a"), ToolCall("2", "t", {})])
    first, second = message.tool_calls
    first.arguments["deep"]["x"].append(2)
    first.name = "other"
    second.arguments["new"] = True
    assert message.tool_calls == [ToolCall("1", "t", {"deep": {"x": [1]}}), ToolCall("2", "t", {})]


def test_calls_are_copied_however_deeply_they_are_nested() -> None:
    arguments: dict[str, Any] = {}
    for _ in range(5_000):
        arguments = {"x": [arguments]}
    (copy,) = answer(content=[ToolCall("1", "t", arguments)]).tool_calls
    assert copy.arguments is not arguments
    assert list(copy.arguments) == ["x"]


def test_an_answer_starts_with_its_origin() -> None:
    model = Model(
        id="m",
        name="M",
        provider="v",
        protocol="anthropic-messages",
        base_url="",
        context_window=1,
        max_tokens=1,
        endpoint="e",
        dialect=AnthropicMessages(),
    )
    started = AssistantMessage.start(model, 17)
    assert (started.protocol, started.provider, started.model) == ("anthropic-messages", "v", "m")
    assert (started.timestamp, started.endpoint, started.content, started.usage) == (17, "e", [], Usage())


def test_an_unknown_stop_reason_is_refused() -> None:
    with pytest.raises(ValueError, match="one of stop, length, toolUse, error, aborted, not 'end_turn'"):
        answer(stop_reason="end_turn")


def test_messages_are_frozen() -> None:
    with pytest.raises(AttributeError):
        answer().model = "other"  # type: ignore[misc]


PRICES = ModelCost(input=3.0, output=15.0, cache_read=0.3, cache_write=3.75)


def test_cost_is_tokens_times_price_per_category() -> None:
    cost = PRICES.of(Usage(input=1_000_000, output=200_000, cache_read=10_000, cache_write=4_000))
    assert cost == UsageCost(input=3.0, output=3.0, cache_read=0.003, cache_write=0.015, total=6.018)


def test_cost_is_unknown_where_a_used_category_has_no_price() -> None:
    prices = ModelCost(input=3.0, output=15.0)
    assert prices.of(Usage(input=1, output=1, cache_read=1)) is None
    assert prices.of(Usage(input=1_000_000)) == UsageCost(input=3.0, total=3.0)
    assert ModelCost().of(Usage(input=1)) is None


def test_equal_tools_have_equal_hashes() -> None:
    tools = {
        ToolDefinition("bash", "runs it", {"type": "object"}),
        ToolDefinition("bash", "runs it", '{"type": "object"}'),
    }
    assert len(tools) == 1
    assert ToolDefinition("bash", "runs it", {"type": "string"}) not in tools


def test_the_garbage_collector_does_not_track_values() -> None:
    """A long history in memory does not slow the garbage collector down."""
    call = ToolCall("1", "a", {"path": "x", "list": [1]})
    messages = [UserMessage("go"), answer(content=[call]), ToolResultMessage("1", "a", [TextContent("done")])]
    context = Context.from_json(Context(messages=messages).to_json())
    found = [context, *context.messages, *(block for message in context.messages for block in message.content)]
    assert not any(map(gc.is_tracked, found))


# -- short forms -----------------------------------------------------------------------------------------------------


def test_a_text_is_short_for_one_text_block_in_every_message() -> None:
    assert ToolResultMessage("1", "weather", "18 C") == ToolResultMessage("1", "weather", [TextContent("18 C")])
    assert AssistantMessage("Hi.") == AssistantMessage([TextContent("Hi.")])
    assert UserMessage("Hi.") == UserMessage([TextContent("Hi.")])


def test_an_answer_needs_no_origin_in_python_and_has_one_in_json() -> None:
    message = AssistantMessage([TextContent("Hi.")])
    assert (message.protocol, message.provider, message.model, message.stop_reason) == ("", "", "", "stop")
    assert AssistantMessage([ToolCall("1", "t", {})]).stop_reason == "toolUse"
    context = Context([message])
    assert b'"protocol":"","provider":"","model":""' in context.to_json()
    assert Context.from_json(context.to_json()) == context


def test_the_messages_of_a_context_are_its_first_argument() -> None:
    messages = [UserMessage("Hi.")]
    assert Context(messages, system_prompt="Be brief.") == Context(system_prompt="Be brief.", messages=messages)
    with pytest.raises(TypeError, match="multiple values for argument 'messages'"):
        Context(messages, messages=messages)  # type: ignore[misc]
    with pytest.raises(TypeError, match="'messages'"):
        Context()  # type: ignore[call-arg]


def test_a_context_of_dicts_names_the_function_that_reads_them() -> None:
    with pytest.raises(
        TypeError, match=r"messages\[0\] of a Context must be .*, not dict; segue.ingest reads messages"
    ):
        Context([{"role": "user", "content": "Hi."}])  # type: ignore[list-item]


@pytest.mark.parametrize("kind", [*get_args(Message), *get_args(Block)])
def test_messages_have_a_role_and_blocks_a_type_as_in_json(kind: Any) -> None:
    config = kind.__struct_config__
    assert getattr(kind, config.tag_field) == config.tag


@pytest.mark.parametrize("value", [AssistantMessage("Hi."), Context([UserMessage("Hi.")])])
def test_short_forms_can_be_copied_and_pickled(value: Any) -> None:
    assert pickle.loads(pickle.dumps(value)) == copy.deepcopy(value) == value
