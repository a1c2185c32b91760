"""Requests to Mistral, by content."""

import json
from typing import Any

import pytest
from msgspec.structs import replace
from support.targets import built_in

from segue.dialects import MistralChat
from segue.render import encode
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
from segue.wire.mistral_chat import PROTOCOL

IMAGE = ImageContent("aGVsbG8=", "image/png")
CHUNK = {"type": "image_url", "image_url": "data:image/png;base64,aGVsbG8="}
UNDERSTOOD = {"role": "assistant", "content": "Understood."}


def model(name: str = "devstral-latest", **fields: Any) -> Model:
    return replace(built_in().resolve(f"mistral/{name}", "mistral-chat"), **fields)


LARGE = model(input=("text", "image"))
MAGISTRAL = model("magistral-medium-latest")
MEDIUM = model("mistral-medium-3-5")
NEMO = model("open-mistral-nemo")


def answer(*content: Any, by: Model = LARGE, stop: Any = "stop") -> AssistantMessage:
    return AssistantMessage(
        content=list(content), protocol=by.protocol, provider=by.provider, model=by.id, stop_reason=stop
    )


def foreign(*content: Any) -> AssistantMessage:
    return AssistantMessage(
        content=list(content),
        protocol="anthropic-messages",
        provider="anthropic",
        model="claude-sonnet-4-5",
        stop_reason="stop",
    )


def sent(messages: list[Message], to: Model = LARGE, **fields: Any) -> tuple[list[dict[str, Any]], list[str]]:
    """The messages of the body, and the codes of the changes."""
    request = encode(Context(messages=messages, **fields), to)
    return request.body["messages"], [change.code for change in request.changes]


def read(id_: str = "abcdefgh1", **arguments: Any) -> ToolCall:
    return ToolCall(id_, "read", arguments)


def result(id_: str = "abcdefgh1", *content: Any, **fields: Any) -> ToolResultMessage:
    return ToolResultMessage(id_, "read", list(content) or [TextContent("done")], **fields)


def called(id_: str = "abcdefgh1", arguments: str = "{}") -> dict[str, Any]:
    return {"id": id_, "type": "function", "function": {"name": "read", "arguments": arguments}}


def tool(id_: str = "abcdefgh1", content: Any = "done") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id_, "name": "read", "content": content}


# -- calls and results -----------------------------------------------------------------------------------------------


def test_parallel_calls_are_answered_in_their_order_with_ids_and_names() -> None:
    messages, codes = sent(
        [
            UserMessage("go"),
            answer(TextContent("On it."), read("abcdefgh1", path="a"), read("abcdefgh2", n=None), stop="toolUse"),
            result("abcdefgh2", TextContent("two")),
            result("abcdefgh1", TextContent("one")),
        ]
    )
    assert messages == [
        {"role": "user", "content": "go"},
        {
            "role": "assistant",
            "content": "On it.",
            "tool_calls": [called("abcdefgh1", '{"path":"a"}'), called("abcdefgh2", '{"n":null}')],
        },
        tool("abcdefgh1", "one"),
        tool("abcdefgh2", "two"),
    ]
    assert codes == ["result-moved"]


def test_an_answer_with_only_calls_has_no_content() -> None:
    messages, codes = sent([UserMessage("go"), answer(read()), result()])
    assert messages[1] == {"role": "assistant", "tool_calls": [called()]}
    assert codes == []


def test_reused_and_foreign_ids_become_unique_ids_of_nine_characters() -> None:
    turn = [foreign(read("toolu_01")), ToolResultMessage("toolu_01", "read", [TextContent("x")])]
    messages, _ = sent([UserMessage("go"), *turn, *turn])
    ids = [message["tool_calls"][0]["id"] for message in messages if "tool_calls" in message]
    assert len(set(ids)) == 2
    assert all(len(each) == 9 and each.isalnum() for each in ids)
    assert [message["tool_call_id"] for message in messages if message["role"] == "tool"] == ids


def test_a_failed_result_is_prefixed_with_error_once() -> None:
    messages, codes = sent(
        [
            UserMessage("go"),
            answer(read("abcdefgh1"), read("abcdefgh2")),
            result("abcdefgh1", TextContent("it broke"), is_error=True),
            result("abcdefgh2", TextContent("Error: it broke"), is_error=True),
        ]
    )
    assert [message["content"] for message in messages[2:]] == ["Error: it broke", "Error: it broke"]
    assert codes == ["error-as-text"]


def test_there_is_no_user_message_directly_after_a_tool_message() -> None:
    history = [UserMessage("go"), answer(read()), result(), UserMessage("stop")]
    messages, codes = sent(history)
    assert messages[3:] == [UNDERSTOOD, {"role": "user", "content": "stop"}]
    assert codes == ["filler-inserted"]
    relaxed = replace(LARGE, dialect=MistralChat(user_after_tool=True))
    messages, codes = sent(history, relaxed)
    assert messages[3:] == [{"role": "user", "content": "stop"}]
    assert codes == []


# -- images ----------------------------------------------------------------------------------------------------------


def test_images_of_results_follow_the_whole_batch() -> None:
    messages, codes = sent(
        [
            UserMessage([TextContent("look"), IMAGE]),
            answer(read("abcdefgh1"), read("abcdefgh2")),
            result("abcdefgh1", IMAGE),
            result("abcdefgh2", TextContent("two"), IMAGE),
            answer(TextContent("I see.")),
            UserMessage("good"),
        ]
    )
    assert messages[0] == {"role": "user", "content": [{"type": "text", "text": "look"}, CHUNK]}
    assert messages[2:] == [
        tool("abcdefgh1", "(see the images below)"),
        tool("abcdefgh2", "two"),
        UNDERSTOOD,
        {
            "role": "user",
            "content": [{"type": "text", "text": "Images from the tool results above:"}, CHUNK, CHUNK],
        },
        {"role": "assistant", "content": "I see."},
        {"role": "user", "content": "good"},
    ]
    assert codes == ["image-moved", "image-moved", "filler-inserted"]


def test_images_stay_in_results_if_the_tokenizer_accepts_them() -> None:
    history = [UserMessage("go"), answer(read(), by=MEDIUM), result("abcdefgh1", IMAGE, is_error=True)]
    messages, codes = sent(history, MEDIUM)
    assert messages[2:] == [tool(content=[{"type": "text", "text": "Error: (see the images below)"}, CHUNK])]
    assert codes == ["error-as-text"]


# -- thinking --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", [MAGISTRAL, MEDIUM], ids=lambda each: each.id)
def test_thinking_of_the_same_model_is_sent_back_as_leading_chunks(target: Model) -> None:
    message = answer(ThinkingContent("hmm"), ThinkingContent("", "sig"), TextContent("Hi."), read(), by=target)
    messages, codes = sent([UserMessage("go"), message, result()], target)
    assert messages[1]["content"] == [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hmm"}], "closed": True},
        {"type": "thinking", "thinking": [], "closed": True, "signature": "sig"},
        {"type": "text", "text": "Hi."},
    ]
    assert messages[1]["tool_calls"] == [called()]
    assert codes == []


def test_thinking_of_another_model_is_labelled_text() -> None:
    messages, codes = sent([UserMessage("go"), foreign(ThinkingContent("hmm", "sig"), TextContent("Hi."))], MAGISTRAL)
    assert messages[1]["content"] == [
        {"type": "text", "text": "[Reasoning] hmm"},
        {"type": "text", "text": "Hi."},
    ]
    assert codes == ["thinking-as-text", "filler-inserted"]


def test_thinking_is_moved_to_the_start() -> None:
    history = [UserMessage("go"), answer(TextContent("a"), ThinkingContent("b"), by=MAGISTRAL), UserMessage("?")]
    messages, codes = sent(history, MAGISTRAL)
    assert [chunk["type"] for chunk in messages[1]["content"]] == ["thinking", "text"]
    assert codes == ["blocks-reordered"]


def test_text_after_calls_is_moved_before_them_and_reported() -> None:
    messages, codes = sent([UserMessage("go"), foreign(read(), TextContent("a")), result()])
    assert messages[1] == {"role": "assistant", "content": "a", "tool_calls": [called()]}
    assert codes == ["blocks-reordered"]


@pytest.mark.parametrize(
    ("target", "content"),
    [
        (LARGE, [ThinkingContent("hmm", "sig"), TextContent("Hi.")]),  # accepts no thinking, signed or not
        (
            MAGISTRAL,
            [ThinkingContent("", "data", redacted=True), TextContent("Hi.")],
        ),  # the protocol has no form for it
    ],
)
def test_thinking_that_cannot_be_sent_is_dropped_and_reported(target: Model, content: list[Any]) -> None:
    messages, codes = sent([UserMessage("go"), answer(*content, by=target), UserMessage("?")], target)
    assert messages[1] == {"role": "assistant", "content": "Hi."}
    assert codes == ["thinking-dropped"]


def test_an_answer_with_only_thinking_is_not_sent() -> None:
    messages, codes = sent([UserMessage("go"), answer(ThinkingContent("hmm"), by=MAGISTRAL)], MAGISTRAL)
    assert messages == [{"role": "user", "content": "go"}]
    assert codes == ["thinking-dropped"]
    messages, codes = sent([answer(ThinkingContent("hmm"), by=MAGISTRAL)], MAGISTRAL)
    assert messages == [{"role": "user", "content": "Continue."}]
    assert codes == ["thinking-dropped", "filler-inserted"]


def test_a_text_with_only_a_signature_is_not_sent() -> None:
    history = [UserMessage("go"), answer(TextContent("", "sig"), read()), result(), answer(TextContent(" ", "sig"))]
    messages, codes = sent(history)
    assert messages[1:] == [{"role": "assistant", "tool_calls": [called()]}, tool()]
    assert codes == ["empty-dropped", "empty-dropped"]


# -- shape -----------------------------------------------------------------------------------------------------------


def test_the_conversation_begins_and_ends_with_the_user() -> None:
    messages, codes = sent([answer(TextContent("Hi."))], system_prompt="Be brief.")
    assert messages == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Continue the conversation."},
        {"role": "assistant", "content": "Hi."},
        {"role": "user", "content": "Continue."},
    ]
    assert codes == ["filler-inserted", "filler-inserted"]


def test_adjacent_messages_of_one_role_are_not_merged() -> None:
    history = [UserMessage("a"), UserMessage("b"), answer(TextContent("c")), answer(TextContent("d")), UserMessage("e")]
    messages, codes = sent(history)
    assert [message["content"] for message in messages] == ["a", "b", "c", "d", "e"]
    assert codes == []


def test_old_tokenizers_get_a_user_message_between_text_and_calls() -> None:
    history = [UserMessage("go"), foreign(TextContent("On it."), read()), result(), answer(TextContent("Done."))]
    messages, codes = sent(history, NEMO)
    assert messages[1:] == [
        {"role": "assistant", "content": "On it."},
        {"role": "user", "content": "Continue."},
        {"role": "assistant", "tool_calls": [called()]},
        tool(),
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "Continue."},
    ]
    assert codes == ["filler-inserted", "filler-inserted"]
    messages, codes = sent([UserMessage("go"), foreign(TextContent("a")), foreign(read()), result()], NEMO)
    assert [message["role"] for message in messages] == ["user", "assistant", "user", "assistant", "tool"]
    assert codes == ["filler-inserted"]


# -- tools and options -----------------------------------------------------------------------------------------------


def test_tools_are_functions_and_a_blank_description_is_left_out() -> None:
    tools = [ToolDefinition("read", "Read", {"type": "object"}), ToolDefinition("my.tool", " ")]
    body = encode(Context(messages=[UserMessage("go")], tools=tools), LARGE).body
    first, second = body["tools"]
    assert first == {
        "type": "function",
        "function": {"name": "read", "description": "Read", "parameters": {"type": "object"}},
    }
    assert set(second["function"]) == {"name", "parameters"}
    assert second["function"]["name"].isidentifier()


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (True, {"type": "object", "properties": {}}),
        ({"type": "objct", "x-own": 1}, {"x-own": 1}),
        ({"properties": {"a": {"type": "string", "pattern": "\\p{L}"}}}, {"properties": {"a": {"type": "string"}}}),
        ({"minimum": 5, "exclusiveMinimum": True}, {"exclusiveMinimum": 5}),
        ({"minimum": 5, "exclusiveMinimum": False}, {"minimum": 5}),
        (
            {"properties": {"a": {"required": True}}, "required": ["a", "a", 1]},
            {"properties": {"a": {}}, "required": ["a"]},
        ),
        ({"anyOf": [], "items": [], "allOf": [{"type": None}]}, {"allOf": [{}]}),
        ({"patternProperties": {"[": {}, "^a": {"enum": 1}}}, {"patternProperties": {"^a": {}}}),
        (
            {"additionalProperties": None, "dependencies": {"a": ["b"]}},
            {"additionalProperties": {}, "dependencies": {"a": ["b"]}},
        ),
    ],
)
def test_invalid_parts_of_a_schema_are_left_out_of_a_copy(schema: Any, expected: Any) -> None:
    tool = ToolDefinition("read", "", json.dumps(schema))
    request = encode(Context(messages=[UserMessage("go")], tools=[tool]), LARGE)
    assert request.body["tools"][0]["function"]["parameters"] == expected
    assert [change.code for change in request.changes] == ["schema-adapted"]
    assert tool.schema == schema


def options(to: Model, tools: bool = True, **values: Any) -> tuple[dict[str, Any], list[str]]:
    """The fields that options add to the body, and the reports about those that are left out."""
    defined = [ToolDefinition("my.tool")] if tools else []
    request = encode(Context(messages=[UserMessage("go")], tools=defined), to, Options(**values))
    body = {name: value for name, value in request.body.items() if name not in ("model", "messages", "tools")}
    return body, [change.detail.partition(":")[0] for change in request.changes if change.code == "option-dropped"]


@pytest.mark.parametrize(
    ("to", "values", "fields", "dropped"),
    [
        (LARGE, {"max_tokens": 10}, {"max_tokens": 10}, []),
        (LARGE, {"temperature": 1.5}, {"temperature": 1.5}, []),
        (LARGE, {"temperature": 2.0}, {}, ["temperature"]),
        (LARGE, {"stop": ("a", "")}, {"stop": ["a"]}, ["stop"]),
        (LARGE, {"stream": True}, {"stream": True}, []),
        (LARGE, {"metadata": {"a": "b"}}, {}, ["metadata"]),
        (LARGE, {"cache": "none"}, {}, []),
        (LARGE, {"cache": "long"}, {}, ["cache"]),
        (LARGE, {"tool_choice": "required"}, {"tool_choice": "required"}, []),
        (LARGE, {"tool_choice": "other"}, {}, ["tool_choice"]),
        (LARGE, {"reasoning": "off"}, {}, []),
        (LARGE, {"reasoning": "high"}, {}, ["reasoning"]),
        (MAGISTRAL, {"reasoning": "off"}, {}, ["reasoning"]),
        (MAGISTRAL, {"reasoning": "high"}, {}, ["reasoning"]),
        (MEDIUM, {"reasoning": "off"}, {"reasoning_effort": "none"}, []),
        (MEDIUM, {"reasoning": "minimal"}, {"reasoning_effort": "high"}, []),
        (MEDIUM, {"reasoning": "max"}, {"reasoning_effort": "high"}, []),
        (model("zai-glm-5"), {"reasoning": "medium"}, {"reasoning_effort": "low"}, []),
        (model("zai-glm-5"), {"reasoning": "max"}, {"reasoning_effort": "max"}, []),
    ],
)
def test_options_become_fields_or_are_left_out_and_reported(
    to: Model, values: dict[str, Any], fields: dict[str, Any], dropped: list[str]
) -> None:
    assert options(to, **values) == (fields, dropped)


def test_a_forced_tool_has_the_name_that_is_sent() -> None:
    body, dropped = options(LARGE, tool_choice="my.tool")
    assert body["tool_choice"] == {"type": "function", "function": {"name": "my_tool_15e49d3f"}}
    assert dropped == []
    assert options(LARGE, tools=False, tool_choice="auto") == ({}, ["tool_choice"])


def test_max_tokens_leaves_room_for_the_prompt() -> None:
    body, dropped = options(LARGE, max_tokens=10_000_000)
    assert body["max_tokens"] < LARGE.context_window
    assert dropped == ["max_tokens"]


def test_the_path_and_the_headers() -> None:
    request = encode(Context(messages=[UserMessage("go")]), LARGE)
    assert request.model.base_url + request.path == "https://api.mistral.ai/v1/chat/completions"
    assert request.headers == {"content-type": "application/json", "accept": "application/json"}
    assert PROTOCOL.headers(LARGE, Options(stream=True))["accept"] == "text/event-stream"
    assert request.sdk_kwargs() == request.body


def test_a_conversation_without_passes_is_encoded() -> None:
    torn: list[Message] = [answer(TextContent("Hi."), read())]
    assert encode(Context(messages=torn), LARGE, policy="off").body["messages"][1]["tool_calls"] == [called()]
    assert encode(Context(messages=[]), LARGE, policy="off").body["messages"][-1]["content"] == "Continue."
