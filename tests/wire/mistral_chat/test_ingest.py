"""Reading Mistral bodies as conversations: those of the encoder, and those of other clients."""

from typing import Any

import pytest
from conftest import SOAK
from hypothesis import given, settings, strategies as st
from support import torn
from support.journeys import CONVERSATIONS
from support.targets import built_in, distinct_on_the_wire

from segue.errors import FormatError
from segue.render import encode, ingest
from segue.types import (
    AssistantMessage,
    FileContent,
    ImageContent,
    Message,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from segue.wire.mistral_chat.ingest import ingest as read_history, recognise

PROTOCOL = "mistral-chat"
TARGETS = distinct_on_the_wire(PROTOCOL)
MAGISTRAL = built_in().resolve("mistral/magistral-medium-latest", PROTOCOL)


@pytest.mark.parametrize("name", TARGETS)
def test_encode_ingest_encode_returns_the_same_body(name: str) -> None:
    model = TARGETS[name]
    for title, context in CONVERSATIONS.items():
        body = encode(context, model).body
        assert encode(ingest(body, PROTOCOL, model), model).body == body, title


@settings(max_examples=200 if SOAK else 60)
@given(st.data(), st.sampled_from(sorted(TARGETS)))
def test_encode_ingest_encode_returns_the_same_body_for_torn_conversations(data: st.DataObject, name: str) -> None:
    model = TARGETS[name]
    body = encode(data.draw(torn.torn_contexts(model)), model).body
    again = encode(ingest(body, PROTOCOL, model), model)
    assert again.body == body
    assert again.changes == []


def read(*messages: dict[str, Any], **fields: Any) -> list[Message]:
    return ingest({"messages": list(messages), **fields}, PROTOCOL, now=0).messages


def answer(*content: Any, stop: Any = "stop", **fields: Any) -> AssistantMessage:
    return AssistantMessage(content=list(content), protocol=PROTOCOL, provider="", model="", stop_reason=stop, **fields)


def test_answers_have_the_model_that_was_passed_or_none() -> None:
    body = {"messages": [{"role": "assistant", "content": "Hi."}]}
    made = ingest(body, PROTOCOL, MAGISTRAL, now=7).messages[0]
    assert isinstance(made, AssistantMessage)
    assert (made.protocol, made.provider, made.model, made.timestamp) == (PROTOCOL, "mistral", MAGISTRAL.id, 7)
    assert ingest(body, PROTOCOL, now=0).messages == [answer(TextContent("Hi."))]


def test_leading_system_messages_are_the_prompt_and_later_ones_are_user_messages() -> None:
    context = ingest(
        {
            "messages": [
                {"role": "system", "content": "Be brief."},
                {
                    "role": "system",
                    "content": [
                        {"type": "text", "text": "Think first."},
                        {"type": "thinking", "thinking": [{"type": "text", "text": "like this"}]},
                    ],
                },
                {"role": "user", "content": "go"},
                {"role": "system", "content": "Hurry."},
            ]
        },
        PROTOCOL,
    )
    assert context.system_prompt == "Be brief.\n\nThink first.\n\n[THINK]like this[/THINK]"
    assert context.messages == [UserMessage("go"), UserMessage("Hurry.", injected=True)]


def test_thinking_is_read_as_a_list_and_as_a_string_with_its_signature() -> None:
    chunks = [
        {
            "type": "thinking",
            "thinking": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
            "closed": True,
        },
        {"type": "thinking", "thinking": "c", "signature": "sig"},
        {"type": "text", "text": "d"},
    ]
    assert read({"role": "assistant", "content": chunks}) == [
        answer(ThinkingContent("ab"), ThinkingContent("c", "sig"), TextContent("d"))
    ]


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [('{"a":1}', {"a": 1}), ({"a": 1}, {"a": 1}), ("", {}), (None, {})],
)
def test_arguments_are_read_as_text_and_as_an_object(arguments: Any, wanted: Any) -> None:
    call = {"id": "abcdefgh1", "function": {"name": "read", "arguments": arguments}}
    messages = read({"role": "assistant", "content": "", "tool_calls": [call]})
    assert messages == [answer(TextContent(""), ToolCall("abcdefgh1", "read", wanted), stop="toolUse")]


@pytest.mark.parametrize("arguments", ['{"a":', "[1]", "7"])
def test_arguments_that_are_not_an_object_are_wrapped_and_reported(arguments: str) -> None:
    call = {"id": "null", "type": "function", "index": 0, "function": {"name": "read", "arguments": arguments}}
    (made,) = read({"role": "assistant", "content": None, "tool_calls": [call]})
    assert isinstance(made, AssistantMessage)
    (block,) = made.content
    assert isinstance(block, ToolCall)
    assert block.id == ""
    assert set(block.arguments) == {"arguments"}
    assert [each.type for each in made.diagnostics] == ["arguments-not-an-object"]


def test_results_have_the_name_of_their_call_or_otherwise_their_own() -> None:
    call = {"id": "abcdefgh1", "function": {"name": "read", "arguments": "{}"}}
    messages = read(
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "abcdefgh1", "content": "Error: no"},
        {"role": "tool", "tool_call_id": "zzzzzzzzz", "name": "other", "content": [{"type": "text", "text": "x"}]},
        {"role": "tool", "content": None},
    )
    assert messages[1:] == [
        ToolResultMessage("abcdefgh1", "read", [TextContent("Error: no")]),
        ToolResultMessage("zzzzzzzzz", "other", [TextContent("x")]),
        ToolResultMessage("", "", []),
    ]


@pytest.mark.parametrize(
    ("chunk", "wanted"),
    [
        ({"type": "image_url", "image_url": "data:image/png;base64,aGk="}, ImageContent("aGk=", "image/png")),
        (
            {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,aGk=", "detail": "low"}},
            ImageContent("aGk=", "image/jpeg"),
        ),
        ({"type": "image_url", "image_url": "https://a.b/c.png"}, ImageContent(url="https://a.b/c.png")),
        (
            {"type": "document_url", "document_url": "https://a.b/c.pdf", "document_name": "c"},
            FileContent(url="https://a.b/c.pdf", mime_type="application/pdf", name="c"),
        ),
        ({"type": "file", "file_id": "f1"}, TextContent("(file f1)")),
        ({"type": "input_audio", "input_audio": "aGk="}, FileContent("aGk=", "audio/mpeg")),
        ({"type": "reference", "reference_ids": [1, "b"]}, TextContent("(references 1, b)")),
        ({"type": "hologram", "data": 1}, TextContent("(hologram omitted)")),
    ],
)
def test_chunks_that_a_conversation_cannot_hold_become_texts(chunk: Any, wanted: Any) -> None:
    assert read({"role": "user", "content": [chunk]}) == [UserMessage([wanted])]


def test_tools_that_the_provider_runs_are_left_out() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    context = ingest(
        {
            "messages": [{"role": "user", "content": "go"}],
            "tools": [
                {"type": "function", "function": {"name": "read", "description": "Read", "parameters": schema}},
                {"function": {"name": "bare", "parameters": None}},
                {"type": "image_generation"},
            ],
        },
        PROTOCOL,
    )
    assert [(tool.name, tool.description) for tool in context.tools] == [("read", "Read"), ("bare", "")]
    assert context.tools[0].schema == schema


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"messages": None}, "messages"),
        ({"messages": ["hi"]}, "messages[0]"),
        ({"messages": [{"role": "model", "content": "hi"}]}, "messages[0].role"),
        ({"messages": [{"role": [], "content": "hi"}]}, "messages[0].role"),
        ({"messages": [{"role": "user", "content": 7}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": [{"type": "text"}]}]}, "messages[0].content[0].text"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "messages[0].content[0].image_url"),
        ({"messages": [{"role": "assistant", "tool_calls": {}}]}, ""),
        ({"messages": [{"role": "assistant", "tool_calls": 7}]}, "messages[0].tool_calls"),
        ({"messages": [{"role": "assistant", "tool_calls": [{}]}]}, "messages[0].tool_calls[0].function"),
        ({"messages": [{"role": "tool", "tool_call_id": 7}]}, "messages[0].tool_call_id"),
        ({"messages": [], "tools": {}}, "tools"),
        ({"messages": [], "tools": [{"function": {"name": "a", "parameters": []}}]}, "tools[0].function.parameters"),
    ],
)
def test_a_malformed_body_raises_an_error_with_its_path(body: Any, path: str) -> None:
    if not path:
        assert read_history(body, None, 0).messages == [answer()]  # an empty object is read as no calls
        return
    with pytest.raises(FormatError) as caught:
        read_history(body, None, 0)
    assert caught.value.path == path


# -- recognising -----------------------------------------------------------------------------------------------------

USER = {"role": "user", "content": "hi"}


@pytest.mark.parametrize(
    "body",
    [
        {"messages": [USER], "safe_prompt": True},
        {"messages": [USER, {"role": "assistant", "content": "a", "prefix": True}]},
        {"messages": [{"role": "assistant", "content": [{"type": "thinking", "thinking": []}]}]},
        {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": "https://a.b"}]}]},
        {"messages": [{"role": "tool", "tool_call_id": "abcdefgh1", "name": "a", "content": ""}]},
        {"model": "mistral-large-latest", "messages": [USER]},
        {"model": "open-mixtral-8x22b-2404", "messages": [USER]},
    ],
)
def test_bodies_with_a_specific_field_are_recognised(body: Any) -> None:
    assert recognise(body) >= 60


@pytest.mark.parametrize(
    "body",
    [
        {"model": "mistral", "messages": [USER]},
        {"model": "mistralai/mistral-large-2512", "messages": [USER]},
        {"messages": [USER], "max_completion_tokens": 10},
        {"messages": [{"role": "assistant", "content": "a", "reasoning_content": "b"}]},
        {"messages": [{"role": "developer", "content": "a"}]},
    ],
)
def test_bodies_without_a_specific_field_are_left_to_other_protocols(body: Any) -> None:
    assert recognise(body) == 1


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"messages": None},
        {"messages": [None, 1, "x", [], {}]},
        {"contents": []},
        {"input": "hi"},
        {"messages": [USER], "system": "a"},
        {"messages": [{"role": "user", "content": [{"text": "hi"}]}]},
        {"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]}]},
    ],
)
def test_bodies_of_other_protocols_are_not_recognised(body: Any) -> None:
    assert recognise(body) == 0


@pytest.mark.parametrize("name", [name for name, model in TARGETS.items() if model.known])
def test_every_body_with_calls_is_recognised(name: str) -> None:
    assert recognise(encode(CONVERSATIONS["all in a row"], TARGETS[name]).body) >= 60


def test_ids_of_nine_characters_and_names_are_not_enough_for_another_providers_model() -> None:
    result = {"role": "tool", "tool_call_id": "abcdefgh1", "name": "a", "content": ""}
    assert recognise({"model": "codegeex4", "messages": [result]}) < 50
