"""Reading bodies as conversations, and encoding those as the same bodies."""

from typing import Any

import pytest
from conftest import SOAK
from hypothesis import given, settings, strategies as st
from support.journeys import CONVERSATIONS
from support.targets import distinct_on_the_wire
from support.torn import torn_contexts

import segue
from segue.errors import FormatError
from segue.render import encode
from segue.types import (
    AssistantMessage,
    Context,
    FileContent,
    ImageContent,
    ProviderContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from segue.wire.openai_responses import PROTOCOL

MODELS = distinct_on_the_wire("openai-responses")
USER = {"role": "user", "content": "hi"}


def read(*items: Any, **more: Any) -> Context:
    return PROTOCOL.ingest({"input": list(items), **more}, None, 7)


def answer(*items: Any) -> AssistantMessage:
    """The only answer in these items."""
    (found,) = [message for message in read(*items).messages if isinstance(message, AssistantMessage)]
    return found


@pytest.mark.parametrize("name", MODELS)
def test_encode_ingest_encode_returns_the_same_body(name: str) -> None:
    model = MODELS[name]
    for title, context in CONVERSATIONS.items():
        body = encode(context, model).body
        again = encode(PROTOCOL.ingest(body, model, 0), model)
        assert again.body == body, title
        assert again.changes == [], title


@settings(max_examples=200 if SOAK else 40)
@given(st.data(), st.sampled_from(sorted(MODELS)))
def test_encode_ingest_encode_returns_the_same_body_for_torn_conversations(data: st.DataObject, name: str) -> None:
    model = MODELS[name]
    body = encode(data.draw(torn_contexts(model)), model).body
    assert encode(PROTOCOL.ingest(body, model, 0), model).body == body


def test_a_conversation_is_read_with_all_of_its_content() -> None:
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "g"}
    context = read(
        {"role": "user", "content": [{"type": "input_text", "text": "look"}, _image("data:image/png;base64,aGk=")]},
        {**reasoning, "summary": [{"type": "summary_text", "text": "a"}, {"type": "summary_text", "text": "b"}]},
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "phase": "commentary",
            "content": [{"type": "output_text", "text": "On it.", "annotations": []}],
        },
        {"type": "function_call", "id": "fc_1", "call_id": "call_a", "name": "bash", "arguments": '{"a": 1}'},
        {"type": "function_call_output", "call_id": "call_a", "output": "Error: no"},
        instructions="Be brief.",
        tools=[{"type": "function", "name": "bash", "parameters": {"type": "object"}}, {"type": "web_search"}],
    )
    assert context.system_prompt == "Be brief."
    assert [tool.name for tool in context.tools] == ["bash"]
    question, message, outcome = context.messages
    assert question == UserMessage([TextContent("look"), ImageContent("aGk=", "image/png")])
    assert isinstance(message, AssistantMessage)
    thinking, text, call = message.content
    assert isinstance(thinking, ThinkingContent) and thinking.thinking == "a\n\nb"
    assert thinking.thinking_signature and '"encrypted_content":"g"' in thinking.thinking_signature
    assert text == TextContent("On it.", '{"id":"msg_1","phase":"commentary"}')
    assert call == ToolCall("call_a", "bash", {"a": 1}, "fc_1")
    assert (message.protocol, message.provider, message.model, message.stop_reason) == (
        "openai-responses",
        "",
        "",
        "toolUse",
    )
    assert message.timestamp == 7
    assert outcome == ToolResultMessage("call_a", "bash", [TextContent("Error: no")])


def test_answers_have_the_model_that_was_passed() -> None:
    model = segue.get_model("azure/gpt-5.4")
    (message,) = PROTOCOL.ingest({"input": [{"role": "assistant", "content": "Hi."}]}, model, 0).messages
    assert isinstance(message, AssistantMessage)
    assert (message.protocol, message.provider, message.model) == ("openai-responses", "azure", "gpt-5.4")


def test_a_bare_string_is_a_user_message() -> None:
    assert PROTOCOL.ingest({"input": "hi"}, None, 0).messages == [UserMessage("hi")]


def test_leading_instructions_are_the_system_prompt_and_later_ones_are_user_messages() -> None:
    context = read({"role": "developer", "content": "B"}, USER, {"role": "system", "content": "C"}, instructions="A")
    assert context.system_prompt == "A\n\nB"
    assert context.messages == [UserMessage("hi"), UserMessage("[system message]\nC", injected=True)]


def _image(url: str) -> dict[str, Any]:
    return {"type": "input_image", "image_url": url, "detail": "auto"}


def test_an_image_by_address_keeps_its_address() -> None:
    found = read({"role": "user", "content": [_image("https://example.org/a.png")]})
    assert found.messages == [UserMessage([ImageContent(url="https://example.org/a.png")])]


@pytest.mark.parametrize(
    ("part", "text"),
    [
        (_image("a.png"), "(image at a.png)"),
        ({"type": "input_image", "file_id": "file-1"}, "(image file file-1)"),
        ({"type": "input_file", "filename": "a.pdf", "file_data": "data:…"}, "(file a.pdf)"),
        ({"type": "input_audio", "input_audio": {}}, "(audio)"),
        ({"type": "scoped_content"}, "(scoped_content)"),
    ],
)
def test_a_part_without_a_block_type_becomes_a_text(part: dict[str, Any], text: str) -> None:
    assert read({"role": "user", "content": [part]}).messages == [UserMessage(text)]
    output = {"type": "function_call_output", "call_id": "c", "output": [part]}
    assert read(output).messages == [ToolResultMessage("c", "", [TextContent(text)])]


def test_items_of_hosted_tools_are_kept_and_references_become_texts() -> None:
    search = {
        "type": "web_search_call",
        "id": "ws_1",
        "status": "completed",
        "action": {"type": "search", "query": "q"},
    }
    said = {"type": "message", "role": "assistant", "id": "msg_1", "content": [{"type": "output_text", "text": "x"}]}
    message = answer(USER, search, said)
    assert message.content[0] == ProviderContent(search, "web_search_call", "q")
    assert message.text == "x"
    assert read({"id": "msg_1"}).messages == [UserMessage("(item_reference msg_1)")]


def test_the_output_of_a_computer_belongs_to_the_answer_that_asked_for_it() -> None:
    call = {"type": "computer_call", "id": "cu_1", "call_id": "c", "status": "completed", "pending_safety_checks": []}
    output = {"type": "computer_call_output", "call_id": "c", "output": {"type": "computer_screenshot"}}
    message = answer(USER, call, output)
    assert [block.kind for block in message.content if isinstance(block, ProviderContent)] == [
        "computer_call",
        "computer_call_output",
    ]


def test_files_and_sounds_are_blocks() -> None:
    context = read(
        {
            "role": "user",
            "content": [
                {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERg=="},
                {"type": "input_file", "file_url": "https://example.org/b.pdf"},
                {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "mp3"}},
            ],
        }
    )
    assert context.messages[0].content == [
        FileContent("JVBERg==", "application/pdf", name="a.pdf"),
        FileContent(url="https://example.org/b.pdf", mime_type="application/pdf"),
        FileContent("AAAA", "audio/mpeg"),
    ]


def test_a_refusal_is_a_text() -> None:
    assert answer({"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}).text == "No."


def test_custom_tools_and_namespaces_are_kept() -> None:
    context = read(
        {"type": "custom_tool_call", "id": "ctc_1", "call_id": "c", "name": "sql", "input": "select 1"},
        {"type": "custom_tool_call_output", "call_id": "c", "output": "1"},
        tools=[
            {"type": "custom", "name": "sql"},
            {"type": "namespace", "name": "n", "tools": [{"type": "function", "name": "f"}]},
        ],
    )
    message, outcome = context.messages
    assert message.content == [ToolCall("c", "sql", {"input": "select 1"}, "ctc_1", "custom")]
    assert isinstance(outcome, ToolResultMessage) and outcome.tool_name == "sql"
    assert [(tool.name, tool.kind, tool.namespace) for tool in context.tools] == [
        ("sql", "custom", None),
        ("f", None, "n"),
    ]


@pytest.mark.parametrize("arguments", ["{broken", "[1]", "null", 5, None])
def test_arguments_that_are_not_an_object_are_kept_unchanged(arguments: Any) -> None:
    message = answer({"type": "function_call", "call_id": "c", "name": "n", "arguments": arguments})
    assert message.content == [ToolCall("c", "n", {"arguments": arguments})]
    assert [diagnostic.type for diagnostic in message.diagnostics] == ["arguments-repaired"]


def test_reasoning_that_cannot_be_sent_back_is_not_signed() -> None:
    item = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}]}
    assert answer(item, {"role": "assistant", "content": "x", "id": "msg_1"}).content[0] == ThinkingContent("hm")


def test_answers_with_ids_and_without_are_separated() -> None:
    context = read({"role": "assistant", "content": "a", "id": "msg_1"}, {"role": "assistant", "content": "b"})
    assert len(context.messages) == 2


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "input"),
        ({"input": 5}, "input"),
        ({"input": ["hi"]}, "input[0]"),
        ({"input": [{}]}, "input[0]"),
        ({"input": [{"type": 5}]}, "input[0]"),
        ({"input": [{"role": "tool", "content": "x"}]}, "input[0].role"),
        ({"input": [{"role": "user"}]}, "input[0].content"),
        ({"input": [{"role": "user", "content": [5]}]}, "input[0].content[0]"),
        ({"input": [{"role": "user", "content": [{"type": "input_text"}]}]}, "input[0].content[0].text"),
        ({"input": [{"role": "user", "content": [{"type": "input_image"}]}]}, "input[0].content[0]"),
        ({"input": [{"type": "function_call", "name": "n"}]}, "input[0].call_id"),
        ({"input": [{"type": "function_call_output", "call_id": "c"}]}, "input[0].output"),
        ({"input": "hi", "instructions": ["x"]}, "instructions"),
        ({"input": "hi", "tools": {}}, "tools"),
        ({"input": "hi", "tools": [{"type": "function"}]}, "tools[0].name"),
        ({"input": "hi", "tools": [{"type": "function", "name": "n", "parameters": []}]}, "tools[0].parameters"),
    ],
)
def test_a_malformed_body_raises_an_error_with_its_path(body: dict[str, Any], path: str) -> None:
    with pytest.raises(FormatError) as caught:
        PROTOCOL.ingest(body, None, 0)
    assert caught.value.path == path


def test_only_bodies_of_this_protocol_are_recognised() -> None:
    for context in CONVERSATIONS.values():
        assert PROTOCOL.recognise(encode(context, segue.get_model("openai/gpt-5.4")).body) > 0
    assert PROTOCOL.recognise({"model": "m", "input": "hi"}) > 0
    assert PROTOCOL.recognise({"messages": [USER], "max_tokens": 5}) == 0
    assert PROTOCOL.recognise({"contents": [], "generationConfig": {"max_output_tokens": 5}}) == 0
    assert PROTOCOL.recognise({}) == 0
