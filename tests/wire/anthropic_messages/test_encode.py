"""The content of requests: calls and results, thinking, images, fillers, merges, and every option."""

import json
from typing import Any

import anthropic
import httpx2
import pytest
from msgspec.structs import replace
from support.journeys import IMAGE
from support.targets import built_in

from segue.dialects import AnthropicMessages
from segue.render import Request, encode
from segue.types import (
    AssistantMessage,
    Context,
    ImageContent,
    Message,
    Model,
    Options,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
    UserMessage,
)
from segue.wire.common.binding import BETA

BASH = ToolDefinition("bash", "Run", {"type": "object", "properties": {"cmd": {"type": "string"}}})


def get(ref: str) -> Model:
    return built_in().resolve(f"anthropic/{ref}")


OPUS, HAIKU, SONNET_46, OPUS_48 = map(
    get, ("claude-opus-5-5", "claude-haiku-4-5", "claude-sonnet-4-6", "claude-opus-4-8")
)
OPUS_48 = get("claude-opus-4-8")
HAIKU_55 = get("claude-haiku-5-5")
OLD = get("claude-3-5-haiku-20241022")


def dialect(model: Model, **cells: Any) -> Model:
    assert isinstance(model.dialect, AnthropicMessages)
    return replace(model, dialect=replace(model.dialect, **cells))


def own(model: Model, *content: Any, stop: Any = "stop") -> AssistantMessage:
    return AssistantMessage(
        content=list(content), protocol=model.protocol, provider=model.provider, model=model.id, stop_reason=stop
    )


def foreign(*content: Any) -> AssistantMessage:
    return AssistantMessage(
        content=list(content), protocol="openai-completions", provider="groq", model="x", stop_reason="stop"
    )


def call(at: int | str, name: str = "bash") -> ToolCall:
    return ToolCall(f"toolu_{at}", name, {"cmd": at})


def result(at: int | str, *content: Any, is_error: bool = False) -> ToolResultMessage:
    return ToolResultMessage(f"toolu_{at}", "bash", list(content) or [TextContent(f"did {at}")], is_error=is_error)


def request(*messages: Message, model: Model = OPUS, tools: Any = (BASH,), **options: Any) -> Request:
    return encode(Context(messages=list(messages), tools=list(tools)), model, Options(**options))


def turns(*messages: Message, model: Model = OPUS) -> list[tuple[str, list[Any]]]:
    body = request(*messages, model=model).body
    return [(turn["role"], [short(block) for block in turn["content"]]) for turn in body["messages"]]


def short(block: dict[str, Any]) -> Any:
    match block["type"]:
        case "text":
            return block["text"]
        case "tool_use":
            return f"call {block['id']}"
        case "tool_result":
            return f"result {block['tool_use_id']}"
    return block["type"]


def codes(made: Request) -> list[str]:
    return [change.code for change in made.changes]


GO = UserMessage("go")


# -- calls and results -----------------------------------------------------------------------------------------------


def test_parallel_calls_have_their_results_in_one_message_in_order() -> None:
    made = request(GO, own(OPUS, TextContent("on it"), call(1), call(2)), result(1), result(2, is_error=True))
    assert made.body["messages"][1]["content"][1:] == [
        {"type": "tool_use", "id": "toolu_1", "name": "bash", "input": {"cmd": 1}},
        {"type": "tool_use", "id": "toolu_2", "name": "bash", "input": {"cmd": 2}},
    ]
    assert made.body["messages"][2] == {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "did 1"}]},
            {
                "type": "tool_result",
                "tool_use_id": "toolu_2",
                "content": [{"type": "text", "text": "did 2"}],
                "is_error": True,
            },
        ],
    }
    assert made.changes == []


def test_results_stored_in_another_order_follow_the_calls() -> None:
    found = turns(GO, own(OPUS, call(1), call(2)), result(2), result(1), UserMessage("and?"))
    assert found[1:] == [
        ("assistant", ["call toolu_1", "call toolu_2"]),
        ("user", ["result toolu_1", "result toolu_2", "and?"]),
    ]


def test_an_id_that_is_used_twice_is_sent_as_two_ids_each_with_its_own_result() -> None:
    again = ToolResultMessage("toolu_1", "bash", [TextContent("second")])
    body = request(GO, own(OPUS, call(1)), result(1), own(OPUS, call(1)), again).body
    first, second = (body["messages"][at]["content"][0]["id"] for at in (1, 3))
    assert first == "toolu_1" != second
    assert body["messages"][4]["content"][0]["tool_use_id"] == second
    assert body["messages"][4]["content"][0]["content"][0]["text"] == "second"


def test_invalid_ids_and_names_are_changed_consistently_in_calls_results_and_tools() -> None:
    odd = ToolDefinition("my.tool", "", {"type": "object"})
    made = request(
        GO,
        foreign(ToolCall("functions.my.tool:0", "my.tool", {})),
        ToolResultMessage("functions.my.tool:0", "my.tool", [TextContent("ok")]),
        tools=[odd],
        tool_choice="my.tool",
        model=HAIKU,
    )
    (used,) = made.body["messages"][1]["content"]
    assert used["name"] == made.body["tools"][0]["name"] == made.body["tool_choice"]["name"] != "my.tool"
    assert used["id"].startswith("toolu_") and made.body["messages"][2]["content"][0]["tool_use_id"] == used["id"]
    assert "description" not in made.body["tools"][0]


def test_text_of_another_model_after_its_calls_moves_before_them() -> None:
    made = request(GO, foreign(call(1), TextContent("wait")), result(1))
    assert [short(block) for block in made.body["messages"][1]["content"]] == ["wait", "call toolu_1"]
    assert codes(made) == ["blocks-reordered"]


def test_text_after_the_calls_of_an_own_answer_comes_before_them_and_thinking_stays_where_it_was() -> None:
    answer = own(OPUS, ThinkingContent("hm", "sig"), call(1), call(2), TextContent("wait"))
    made = request(GO, answer, result(1), result(2))
    found = [short(block) for block in made.body["messages"][1]["content"]]
    assert found == ["thinking", "wait", "call toolu_1", "call toolu_2"]
    assert "blocks-reordered" in codes(made)


def test_the_order_of_the_targets_own_answers_is_kept() -> None:
    thinking = ThinkingContent("hm", "sig")
    made = request(GO, own(OPUS, thinking, call(1), replace(thinking, thinking="so"), TextContent("x")), result(1))
    found = [short(block) for block in made.body["messages"][1]["content"]]
    assert found == ["thinking", "call toolu_1", "thinking", "x"]
    assert made.changes == []


def test_a_history_with_calls_and_no_tools_gets_a_placeholder_tool_that_is_not_called() -> None:
    made = request(GO, own(OPUS, call(1)), result(1), tools=(), tool_choice="required")
    assert [tool["name"] for tool in made.body["tools"]] == ["unavailable_tool"]
    assert made.body["tool_choice"] == {"type": "none"}
    assert codes(made) == ["tools-stubbed", "option-dropped"]


# -- thinking --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [OPUS, HAIKU, SONNET_46], ids=lambda model: model.id)
def test_signed_and_redacted_thinking_of_the_same_origin_is_sent_unchanged(model: Model) -> None:
    content = [
        ThinkingContent("", "sig1"),
        ThinkingContent("", "payload", redacted=True),
        ThinkingContent("hm ", "sig2"),
    ]
    made = request(GO, own(model, *content, TextContent("so"), call(1)), result(1), model=model)
    assert made.body["messages"][1]["content"][:3] == [
        {"type": "thinking", "thinking": "", "signature": "sig1"},
        {"type": "redacted_thinking", "data": "payload"},
        {"type": "thinking", "thinking": "hm ", "signature": "sig2"},
    ]
    assert made.changes == []


def test_thinking_of_another_origin_never_has_a_signature() -> None:
    assert turns(GO, own(HAIKU, ThinkingContent("hm", "sig"), TextContent("so")), UserMessage("and?"))[1] == (
        "assistant",
        ["[Reasoning] hm", "so"],
    )


def test_under_policy_auto_a_model_that_reads_another_claude_keeps_its_signature_and_order() -> None:
    answer = own(HAIKU, ThinkingContent("hm", "sig"), call(1), ThinkingContent("so", "sig"))
    made = encode(Context(messages=[GO, answer, result(1)], tools=[BASH]), OPUS, None, "phi-core")
    assert [short(block) for block in made.body["messages"][1]["content"]] == ["thinking", "call toolu_1", "thinking"]


def test_an_answer_with_only_thinking_is_left_out_and_reported() -> None:
    made = request(GO, own(OPUS, ThinkingContent("hm", "sig"), stop="length"), UserMessage("and?"))
    assert made.body["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "go"}, {"type": "text", "text": "and?"}]}
    ]
    assert codes(made) == ["thinking-dropped", "turns-merged"]
    assert made.changes[0].lossy


def test_a_conversation_with_only_thinking_is_still_a_request() -> None:
    made = request(own(OPUS, ThinkingContent("hm", "sig")))
    assert made.body["messages"] == [{"role": "user", "content": [{"type": "text", "text": "Continue."}]}]
    assert codes(made) == ["thinking-dropped", "filler-inserted"]


def test_a_blank_text_that_was_kept_for_its_signature_is_left_out() -> None:
    made = request(GO, own(OPUS, TextContent(" ", "sig"), TextContent("so")), UserMessage("and?"))
    assert [short(block) for block in made.body["messages"][1]["content"]] == ["so"]
    assert codes(made) == ["empty-dropped"]


# -- shape -----------------------------------------------------------------------------------------------------------


def test_adjacent_messages_of_one_role_are_one_message() -> None:
    made = request(GO, UserMessage("now"), own(OPUS, TextContent("a")), foreign(TextContent("b")), UserMessage("c"))
    assert [(turn["role"], len(turn["content"])) for turn in made.body["messages"]] == [
        ("user", 2),
        ("assistant", 2),
        ("user", 1),
    ]
    assert [(change.code, change.message) for change in made.changes] == [("turns-merged", 1), ("turns-merged", 3)]


def test_a_user_message_after_results_follows_them_without_a_reported_change() -> None:
    made = request(GO, own(OPUS, call(1)), result(1), UserMessage("faster"))
    assert [short(block) for block in made.body["messages"][2]["content"]] == ["result toolu_1", "faster"]
    assert made.changes == []


def test_the_user_begins() -> None:
    made = request(own(OPUS, TextContent("Hello.")), GO)
    assert made.body["messages"][0] == {
        "role": "user",
        "content": [{"type": "text", "text": "Continue the conversation."}],
    }
    assert codes(made) == ["filler-inserted"]


def test_a_request_ends_with_the_user_on_models_without_prefill() -> None:
    made = request(GO, own(OPUS, TextContent("Roses are")))
    assert made.body["messages"][-1] == {"role": "user", "content": [{"type": "text", "text": "Continue."}]}
    assert codes(made) == ["filler-inserted"]


def test_older_models_get_a_prefill() -> None:
    made = request(GO, own(HAIKU, TextContent("Roses are")), model=HAIKU)
    assert made.body["messages"][-1]["role"] == "assistant"
    assert made.changes == []


@pytest.mark.parametrize(
    "content",
    [[TextContent("Roses are ")], [ThinkingContent("hm", "sig"), TextContent("so")]],
    ids=["blank", "thinking"],
)
def test_an_answer_that_cannot_be_a_prefill_is_followed_by_the_user(content: list[Any]) -> None:
    assert turns(GO, own(HAIKU, *content), model=HAIKU)[-1] == ("user", ["Continue."])


def test_a_prefill_has_priority_over_thinking() -> None:
    made = request(GO, own(HAIKU, TextContent("Roses are")), model=HAIKU, reasoning="high")
    assert made.body["messages"][-1]["role"] == "assistant" and "thinking" not in made.body
    assert codes(made) == ["option-dropped"]


# -- images ----------------------------------------------------------------------------------------------------------


def test_an_image_stays_in_its_result() -> None:
    made = request(GO, own(OPUS, call(1)), result(1, TextContent("see"), IMAGE))
    inner = made.body["messages"][2]["content"][0]["content"]
    assert inner[1] == {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": IMAGE.data}}
    assert made.changes == []


def test_images_of_failed_results_follow_the_whole_batch() -> None:
    made = request(
        GO, own(OPUS, call(1), call(2)), result(1, IMAGE, is_error=True), result(2, IMAGE), UserMessage("and?")
    )
    content = made.body["messages"][2]["content"]
    moved = "Images from the tool results above:"
    assert [short(block) for block in content] == ["result toolu_1", "result toolu_2", moved, "image", "and?"]
    assert content[0]["content"] == [{"type": "text", "text": "(see the images below)"}]
    assert [(change.code, change.message) for change in made.changes] == [("image-moved", 2)]


def test_a_server_without_images_in_results_gets_them_after_the_results() -> None:
    model = dialect(OPUS, images_in_results=False)
    made = request(GO, own(model, call(1)), result(1, TextContent("see"), IMAGE), model=model)
    assert [short(block) for block in made.body["messages"][2]["content"]][2:] == ["image"]


def test_a_server_without_an_error_flag_gets_it_as_text() -> None:
    model = dialect(OPUS, error_flag=False)
    made = request(GO, own(model, call(1)), result(1, TextContent("broke"), is_error=True), model=model)
    (sent,) = made.body["messages"][2]["content"]
    assert sent["content"][0]["text"] == "Error: broke" and "is_error" not in sent
    assert codes(made) == ["error-as-text"]


@pytest.mark.parametrize(
    ("data", "label", "sent"),
    [
        (IMAGE.data, "image/jpeg", "image/png"),
        ("/9j/4AAQ", "image/png", "image/jpeg"),
        ("R0lGODlhAQ", "image/webp", "image/gif"),
        ("UklGRiQA", "image/png", "image/webp"),
        ("aGVsbG8=", "image/JPG", "image/jpeg"),
        ("aGVsbG8=", "image/png", "image/png"),
    ],
)
def test_an_image_is_labelled_by_its_bytes(data: str, label: str, sent: str) -> None:
    body = request(UserMessage([TextContent("look"), ImageContent(data, label)])).body
    assert body["messages"][0]["content"][1]["source"]["media_type"] == sent


def test_an_image_that_the_api_cannot_read_becomes_text() -> None:
    made = request(UserMessage([TextContent("look"), ImageContent("Qk0=", "image/bmp")]))
    assert short(made.body["messages"][0]["content"][1]) == "(image omitted: image/bmp is not supported)"
    assert codes(made) == ["image-downgraded"] and made.changes[0].lossy


# -- options ---------------------------------------------------------------------------------------------------------


def option(model: Model, **options: Any) -> tuple[dict[str, Any], list[str]]:
    """What options add to a request, and the reports about options that were left out."""
    plain, made = request(GO, model=model).body, request(GO, model=model, **options)
    added = {key: value for key, value in made.body.items() if plain.get(key) != value}
    return added, [change.detail.partition(":")[0] for change in made.changes if change.code == "option-dropped"]


@pytest.mark.parametrize(
    ("model", "level", "thinking", "effort"),
    [
        (OPUS_48, "low", {"type": "adaptive"}, "low"),
        (OPUS_48, "minimal", {"type": "adaptive"}, "low"),
        (OPUS_48, "max", {"type": "adaptive"}, "max"),
        (SONNET_46, "xhigh", {"type": "adaptive"}, "high"),
        (SONNET_46, "off", {"type": "disabled"}, None),
        (HAIKU, "off", {"type": "disabled"}, None),
        (HAIKU, "low", {"type": "enabled", "budget_tokens": 2_048}, None),
        (HAIKU, "high", {"type": "enabled", "budget_tokens": 16_384}, None),
    ],
)
def test_a_level_of_reasoning_is_mapped_to_what_the_model_supports(
    model: Model, level: str, thinking: Any, effort: str | None
) -> None:
    added, dropped = option(model, reasoning=level)
    assert added["thinking"] == thinking
    assert added.get("output_config") == ({"effort": effort} if effort else None)
    assert dropped == []


@pytest.mark.parametrize("level", [None, "off", "low", "max"])
def test_a_bound_model_drops_thinking_that_is_bound_to_another_conversation(level: str | None) -> None:
    made = request(GO, reasoning=level)
    assert made.headers["anthropic-beta"] == BETA
    asked = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}
    assert made.body["thinking"] == asked
    strict = replace(OPUS, dialect=replace(OPUS.dialect, prefix_mismatch="error"))
    asked["block_binding"] = {"prefix_mismatch_behavior": "error"}
    assert request(GO, model=strict, reasoning=level).body["thinking"] == asked


def test_thinking_of_a_bound_model_can_be_turned_off_while_no_thinking_is_sent() -> None:
    assert request(GO, model=HAIKU_55, reasoning="off").body["thinking"] == {"type": "disabled"}
    answer = own(HAIKU_55, ThinkingContent("hm", "sig"), TextContent("so"))
    made = request(GO, answer, UserMessage("and?"), model=HAIKU_55, reasoning="off")
    assert made.body["thinking"]["type"] == "adaptive" and "option-dropped" in codes(made)


@pytest.mark.parametrize("name", ["anthropic-beta", "Anthropic-Beta"])
def test_the_beta_header_of_a_catalog_row_is_joined_with_ours(name: str) -> None:
    row = replace(OPUS, headers={name: "other-2026, " + BETA})
    made = request(GO, model=row)
    betas = [value for header, value in made.headers.items() if header.lower() == "anthropic-beta"]
    assert betas == [f"{BETA},other-2026"]


@pytest.mark.parametrize(("model", "level"), [(OPUS, "off"), (OLD, "high")])
def test_an_unsupported_level_is_left_out(model: Model, level: str) -> None:
    assert option(model, reasoning=level) == ({}, ["reasoning"])


@pytest.mark.parametrize(("limit", "budget"), [(1_024, None), (1_025, 1_024), (3_000, 1_976), (100_000, 16_384)])
def test_a_budget_leaves_room_for_an_answer(limit: int, budget: int | None) -> None:
    added, _ = option(HAIKU, reasoning="high", max_tokens=limit)
    assert added.get("thinking", {}).get("budget_tokens") == budget


def test_a_tool_loop_that_began_without_thinking_continues_without_it() -> None:
    loop = [GO, foreign(call(1)), result(1, IMAGE, is_error=True), UserMessage("faster")]
    made = request(*loop, model=HAIKU, reasoning="high")
    assert "thinking" not in made.body and "option-dropped" in codes(made)
    closed = request(*loop, own(HAIKU, TextContent("done")), UserMessage("and?"), model=HAIKU, reasoning="high")
    assert closed.body["thinking"]["type"] == "enabled"
    assert request(*loop, model=SONNET_46, reasoning="high").body["thinking"] == {"type": "adaptive"}


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        ("auto", {"type": "auto"}),
        ("none", {"type": "none"}),
        ("required", {"type": "any"}),
        ("bash", {"type": "tool", "name": "bash"}),
        ("nobody", None),
    ],
)
def test_a_tool_choice_is_mapped(choice: str, sent: Any) -> None:
    added, dropped = option(HAIKU, tool_choice=choice)
    assert added.get("tool_choice") == sent
    assert dropped == ([] if sent else ["tool_choice"])


def test_a_forced_tool_is_left_out_if_the_model_or_a_thinking_budget_forbids_it() -> None:
    assert option(OPUS, tool_choice="required") == ({}, ["tool_choice"])
    added, dropped = option(HAIKU, tool_choice="required", reasoning="low")
    assert "tool_choice" not in added and dropped == ["tool_choice"]
    added, dropped = option(OPUS_48, tool_choice="required", reasoning="low")
    assert added["tool_choice"] == {"type": "any"} and dropped == []


def test_a_tool_choice_without_tools_is_left_out() -> None:
    made = request(GO, tools=(), tool_choice="auto")
    assert "tool_choice" not in made.body and codes(made) == ["option-dropped"]


def test_there_is_no_temperature_on_any_model() -> None:
    assert option(HAIKU, temperature=0.0) == option(OPUS, temperature=1.0) == ({}, ["temperature"])


def test_stop_sequences_metadata_and_stream() -> None:
    added, dropped = option(
        OPUS, stop=("END", " "), metadata={"user_id": "u1", "team": "a"}, stream=True, max_tokens=100
    )
    assert added == {"stop_sequences": ["END"], "metadata": {"user_id": "u1"}, "stream": True, "max_tokens": 100}
    assert dropped == ["stop", "metadata"]


def test_max_tokens_is_always_sent_and_limited_by_the_model() -> None:
    assert request(GO, model=HAIKU).body["max_tokens"] == 8_192
    assert request(GO, model=OPUS).body["max_tokens"] == 16_384, "it always thinks"
    assert request(GO, model=HAIKU, reasoning="high").body["max_tokens"] == 21_333, "what the SDK waits for"
    assert request(GO, model=HAIKU, reasoning="high", stream=True).body["max_tokens"] == 24_576
    assert request(GO, model=OLD).body["max_tokens"] == 8_192
    made = request(GO, model=HAIKU, max_tokens=10**7)
    assert made.body["max_tokens"] == HAIKU.max_tokens and codes(made) == ["option-dropped"]


def test_cache_markers_are_after_the_system_prompt_and_the_last_two_user_turns() -> None:
    messages = [GO, own(OPUS, call(1)), result(1), own(OPUS, call(2)), result(2)]
    context = Context(system_prompt="Be brief.", messages=messages, tools=[BASH])
    body = encode(context, OPUS, Options(cache="long")).body
    marker = {"type": "ephemeral", "ttl": "1h"}
    marked = [turn["content"][-1].get("cache_control") for turn in body["messages"]]
    assert marked == [None, None, marker, None, marker]
    assert body["system"][0]["cache_control"] == marker and "cache_control" not in body["tools"][0]
    assert encode(context, OPUS, Options(cache="none")).body == encode(context, OPUS).body


def test_without_a_system_prompt_the_tools_are_marked() -> None:
    assert request(GO, cache="short").body["tools"][0]["cache_control"] == {"type": "ephemeral"}


# -- schemas ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "sent"),
    [
        ({}, {"type": "object"}),
        ({"type": "object", "properties": None}, {"type": "object"}),
        ({"type": "string"}, {"type": "object"}),
        (
            {
                "anyOf": [
                    {"properties": {"a": {}}, "required": ["a", "b"]},
                    {"properties": {"b": {}}, "required": ["b"]},
                ]
            },
            {"type": "object", "properties": {"a": {}, "b": {}}, "required": ["b"]},
        ),
        (
            {"type": "object", "properties": {"c": {}}, "allOf": [{"required": ["a"]}, {"required": ["b"]}]},
            {"type": "object", "properties": {"c": {}}, "required": ["a", "b"]},
        ),
        (
            {"type": "object", "properties": {"n": {"type": "integer", "minimum": 0, "exclusiveMinimum": True}}},
            {"type": "object", "properties": {"n": {"type": "integer", "exclusiveMinimum": 0}}},
        ),
        (
            {"type": "object", "properties": {"p": {"type": "array", "items": [{"type": "number"}, {"type": "any"}]}}},
            {
                "type": "object",
                "properties": {"p": {"type": "array", "prefixItems": [{"type": "number"}, {}]}},
            },
        ),
        (
            {"type": "object", "properties": {"x": {"type": "string", "required": True, "enum": None}, "y": None}},
            {"type": "object", "properties": {"x": {"type": "string"}, "y": {}}},
        ),
    ],
)
def test_a_schema_that_the_api_refuses_is_adapted_on_a_copy(schema: Any, sent: Any) -> None:
    tool = ToolDefinition("bash", "Run", schema)
    made = request(GO, tools=[tool])
    assert made.body["tools"][0]["input_schema"] == sent
    assert codes(made) == ["schema-adapted"]
    assert tool.schema == schema


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object"},
        {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "additionalProperties": False},
        {"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}}},
        {"type": "object", "properties": {"required": {"type": ["string", "null"]}, "type": {"enum": [None, 1]}}},
        {
            "type": "object",
            "$defs": {"x": {"items": {"$ref": "#/$defs/x"}}},
            "properties": {"x": {"$ref": "#/$defs/x"}},
        },
    ],
)
def test_a_schema_that_the_api_accepts_is_sent_unchanged(schema: Any) -> None:
    made = request(GO, tools=[ToolDefinition("bash", "Run", schema)])
    assert made.body["tools"][0]["input_schema"] == schema
    assert made.changes == []


# -- the request -----------------------------------------------------------------------------------------------------


def test_path_headers_and_arguments_of_the_sdk() -> None:
    made = request(GO, stream=True)
    assert made.path == "/v1/messages"
    assert made.headers["anthropic-version"] == "2026-10-21"
    assert made.sdk_kwargs() == {**made.body, "extra_headers": {"anthropic-beta": BETA}}
    free = request(GO, model=HAIKU)
    assert free.sdk_kwargs() == free.body and "anthropic-beta" not in free.headers
    made.body["anthropic_version"] = "vertex-2023-10-16"
    assert made.sdk_kwargs()["extra_body"] == {"anthropic_version": "vertex-2023-10-16"}


def test_the_sdk_sends_the_body_unchanged() -> None:
    """The SDK sends the body, byte for byte."""
    seen: list[Any] = []

    def answer(request: Any) -> Any:
        seen.append(json.loads(request.content))
        message = {"id": "m", "type": "message", "role": "assistant", "content": [], "model": "x", "stop_reason": None,
                   "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}  # fmt: skip
        return httpx2.Response(200, json=message)

    made = request(
        GO, own(OPUS, ThinkingContent("", "sig"), call(1)), result(1, IMAGE), reasoning="high", cache="short"
    )
    with httpx2.Client(transport=httpx2.MockTransport(answer)) as http:
        client = anthropic.Anthropic(api_key="none", http_client=http)
        client.messages.create(**made.sdk_kwargs())
    assert seen == [made.body]


def test_under_policy_off_even_an_empty_conversation_is_encoded() -> None:
    assert encode(Context(messages=[]), OPUS, None, "off").body["messages"][0]["role"] == "user"
    torn = Context(messages=[own(OPUS, ThinkingContent("hm"), call(1)), result(2, is_error=True)])
    assert encode(torn, OPUS, None, "off").body["messages"][1]["content"][0]["signature"] == ""
