"""Reading bodies as conversations: those of other clients, and those of our own encoder."""

from contextlib import suppress
from typing import Any

import pytest
from conftest import SOAK
from hypothesis import given, settings, strategies as st
from support.journeys import CONVERSATIONS
from support.targets import built_in, distinct_on_the_wire
from support.torn import torn_contexts
from support.values import json_values

from segue.errors import FormatError
from segue.render import encode, ingest
from segue.rules import run
from segue.types import (
    AssistantMessage,
    FileContent,
    ImageContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from segue.wire.openai_completions import PROTOCOL

NAME = "openai-completions"
TARGETS = distinct_on_the_wire(NAME)


def read(*messages: Any, model: str | None = None, **fields: Any) -> Any:
    found = built_in().resolve(model, NAME) if model else None
    return ingest({"messages": list(messages), **fields}, NAME, found)


@pytest.mark.parametrize("name", TARGETS)
def test_encode_ingest_encode_returns_the_same_body(name: str) -> None:
    model = TARGETS[name]
    for title, context in CONVERSATIONS.items():
        body = encode(context, model).body
        assert encode(ingest(body, NAME, model), model).body == body, title


@settings(max_examples=200 if SOAK else 100)
@given(st.data(), st.sampled_from(sorted(TARGETS)))
def test_encode_ingest_encode_returns_the_same_body_for_torn_conversations(data: st.DataObject, name: str) -> None:
    model = TARGETS[name]
    body = encode(data.draw(torn_contexts(model)), model).body
    again = encode(ingest(body, NAME, model), model).body
    for one, other in zip(body["messages"], again["messages"], strict=True):
        if "reasoning_details" in one:  # has the same content as the plain field
            one = {key: value for key, value in one.items() if key not in ("reasoning", "reasoning_content")}
        assert other == one
    assert again.get("tools") == body.get("tools")


class TestVariants:
    def test_leading_system_messages_are_the_prompt_and_later_ones_are_user_messages(self) -> None:
        context = read(
            {"role": "system", "content": "a"},
            {"role": "developer", "content": [{"type": "text", "text": "b"}]},
            {"role": "user", "content": "c"},
            {"role": "system", "content": "d"},
        )
        assert context.system_prompt == "a\n\nb"
        assert context.messages == [UserMessage("c"), UserMessage("[System] d", injected=True)]

    def test_parts_of_a_user_message(self) -> None:
        parts = [
            {"type": "text", "text": "look"},
            {"type": "image_url", "image_url": {"url": "data:image/webp;base64,AAAA", "detail": "low"}},
            {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
            {"type": "file", "file": {"filename": "a.pdf", "file_data": "x"}},
            {"type": "file", "file": {"filename": "b.pdf", "file_data": "data:application/pdf;base64,JVBERg=="}},
            {"type": "input_audio", "input_audio": {"data": "x", "format": "wav"}},
            "bare",
        ]
        [message] = read({"role": "user", "content": parts}).messages
        assert message.content == [
            TextContent("look"),
            ImageContent("AAAA", "image/webp"),
            ImageContent(url="https://example.org/a.png"),
            TextContent("(file a.pdf)"),
            FileContent("JVBERg==", "application/pdf", name="b.pdf"),
            FileContent("x", "audio/wav"),
            TextContent("bare"),
        ]

    def test_the_name_of_a_participant_is_kept(self) -> None:
        [message] = read({"role": "user", "name": "ann", "content": "hi"}).messages
        assert message.content == [TextContent("(ann)"), TextContent("hi")]

    def test_an_answer_with_everything(self) -> None:
        message, result = read(
            {
                "role": "assistant",
                "content": [{"type": "text", "text": "a"}, {"type": "refusal", "refusal": "no"}],
                "refusal": "never",
                "reasoning_content": "hm",
                "audio": {"id": "audio_1"},
                "tool_calls": [
                    {"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}},
                    {"id": "2", "type": "custom", "custom": {"name": "g", "input": "free"}},
                    {"id": "3", "function": {"name": "h", "arguments": {"b": 2}}},
                    {"id": "4", "function": {"name": "i", "arguments": ""}},
                    {"id": "5", "function": {"name": "j", "arguments": "{broken"}},
                ],
            },
            {"role": "tool", "tool_call_id": "3", "content": [{"type": "text", "text": "Error: x"}]},
        ).messages
        assert message.content == [
            ThinkingContent("hm", "reasoning_content"),
            TextContent("a"),
            TextContent("no"),
            TextContent("never"),
            TextContent("(audio audio_1)"),
            ToolCall("1", "f", {"a": 1}),
            ToolCall("2", "g", {"input": "free"}, kind="custom"),
            ToolCall("3", "h", {"b": 2}),
            ToolCall("4", "i", {}),
            ToolCall("5", "j", {"arguments": "{broken"}),
        ]
        assert [diagnostic.details for diagnostic in message.diagnostics] == [{"id": "5", "name": "j"}]
        assert (message.protocol, message.provider, message.model, message.stop_reason) == (NAME, "", "", "toolUse")
        assert result == ToolResultMessage("3", "h", [TextContent("Error: x")])

    def test_legacy_functions(self) -> None:
        context = read(
            {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
            {"role": "function", "name": "f", "content": "done"},
            functions=[{"name": "f"}],
        )
        assert context.messages[0].content == [ToolCall("", "f", {})]
        assert context.messages[1] == ToolResultMessage("", "f", [TextContent("done")])
        assert [tool.name for tool in context.tools] == ["f"]

    def test_tools(self) -> None:
        tools = [
            {"type": "function", "function": {"name": "f", "description": "d", "strict": True}},
            {"type": "custom", "custom": {"name": "g"}},
            {"type": "browser_search"},
        ]
        found = read(tools=tools).tools
        assert [(tool.name, tool.description) for tool in found] == [("f", "d"), ("g", "")]
        assert found[0].schema == {"type": "object", "properties": {}}
        assert found[1].schema["required"] == ["input"]

    def test_reasoning_details_become_a_signature_and_readable_thinking(self) -> None:
        details = [
            {"type": "reasoning.text", "text": "h"},
            {"type": "reasoning.summary", "summary": "m"},
            {"type": "x"},
        ]
        [message] = read({"role": "assistant", "content": "a", "reasoning_details": details}).messages
        thinking = message.content[0]
        assert thinking.thinking == "hm"
        assert thinking.thinking_signature.startswith('[{"type":"reasoning.text"')

    def test_a_placeholder_is_not_thinking(self) -> None:
        for placeholder in ("", " ", None):
            [message] = read({"role": "assistant", "content": "a", "reasoning_content": placeholder}).messages
            assert message.content == [TextContent("a")]

    def test_tags_are_thinking_only_if_the_target_uses_them(self) -> None:
        answer = {"role": "assistant", "content": "<think>\nhm\n</think>\n\na\n\n<think>more</think>b"}
        [message] = read(answer, model="minimax/MiniMax-M2").messages
        assert message.content == [
            ThinkingContent("hm"),
            TextContent("a"),
            ThinkingContent("more"),
            TextContent("b"),
        ]
        [message] = read(answer, model="openai/gpt-4-turbo").messages
        assert message.content == [TextContent(answer["content"])]

    def test_answers_have_the_model_and_the_time_that_were_passed(self) -> None:
        model = built_in().resolve("openai/gpt-4-turbo", NAME)
        context = ingest({"messages": [{"role": "assistant", "content": "a"}]}, NAME, model, 7)
        [message] = context.messages
        assert isinstance(message, AssistantMessage)
        assert (message.provider, message.model, message.timestamp) == ("openai", "gpt-4-turbo", 7)


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "messages"),
        ({"messages": {}}, "messages"),
        ({"messages": [1]}, "messages[0]"),
        ({"messages": [{"role": "bot"}]}, "messages[0].role"),
        ({"messages": [{"role": []}]}, "messages[0].role"),
        ({"messages": [{"role": "user", "content": 5}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": [{"text": "x"}]}]}, "messages[0].content[0].type"),
        ({"messages": [{"role": "user", "content": [{"type": "text"}]}]}, "messages[0].content[0].text"),
        ({"messages": [{"role": "assistant", "tool_calls": [{"id": "1"}]}]}, "messages[0].tool_calls[0].function"),
        ({"messages": [{"role": "assistant", "tool_calls": 1}]}, "messages[0].tool_calls"),
        ({"messages": [{"role": "tool", "tool_call_id": 1}]}, "messages[0].tool_call_id"),
        ({"messages": [], "tools": [{"type": "function"}]}, "tools[0].function"),
        ({"messages": [], "tools": [{"function": {"name": "f", "parameters": []}}]}, "tools[0].function.parameters"),
    ],
)
def test_a_malformed_body_raises_an_error_with_its_path(body: Any, path: str) -> None:
    with pytest.raises(FormatError) as caught:
        PROTOCOL.ingest(body, None, 0)
    assert caught.value.path == path


_messages = st.lists(
    st.dictionaries(
        st.sampled_from(
            ["role", "content", "tool_calls", "tool_call_id", "name", "reasoning_content", "reasoning_details"]
        ),
        json_values | st.sampled_from(["user", "assistant", "tool"]),
    )
    | json_values,
    max_size=3,
)
_bodies = st.fixed_dictionaries(
    {"messages": _messages | json_values},
    optional=dict.fromkeys(("tools", "tool_choice", "temperature", "thinking", "response_format", "stop"), json_values),
)


@given(_bodies, st.none() | st.sampled_from(sorted(TARGETS)))
def test_any_json_is_read_linted_and_recognised_without_a_crash(body: Any, name: str | None) -> None:
    model = TARGETS[name] if name else None
    run(PROTOCOL.rules, body, model)
    PROTOCOL.recognise(body)
    with suppress(FormatError):
        PROTOCOL.ingest(body, model, 0)


@pytest.mark.parametrize(
    "body",
    [
        {"contents": []},
        {"input": "hi", "messages": []},
        {"messages": [{"role": "user", "content": [{"text": "hi"}]}]},
        {"messages": [{"role": "user", "content": "hi"}], "system": "x", "max_tokens": 9},
        {"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x"}]}]},
        {"messages": [{"role": "user", "content": "hi"}], "tools": [{"name": "f", "input_schema": {}}]},
        {"messages": "hi"},
    ],
)
def test_bodies_of_other_protocols_are_not_recognised(body: Any) -> None:
    assert PROTOCOL.recognise(body) == 0


def test_more_specific_fields_are_recognised_with_more_certainty() -> None:
    plain = {"messages": [{"role": "user", "content": "hi"}]}
    family = {"messages": [{"role": "system", "content": "hi"}]}
    sure = {"messages": [{"role": "developer", "content": "hi"}]}
    assert 0 < PROTOCOL.recognise(plain) < PROTOCOL.recognise(family) < PROTOCOL.recognise(sure)
