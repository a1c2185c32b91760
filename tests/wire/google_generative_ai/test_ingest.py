"""Requests of other clients: every valid spelling, nothing lost silently, and back to the same body."""

from typing import Any

import msgspec
import pytest
from conftest import SOAK
from hypothesis import given, settings, strategies as st
from support import torn
from support.journeys import CONVERSATIONS
from support.targets import distinct_on_the_wire

import segue
from segue.errors import FormatError
from segue.render import encode, ingest
from segue.types import (
    AssistantMessage,
    FileContent,
    ImageContent,
    Model,
    ProviderContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from segue.wire.google_generative_ai import PROTOCOL

NAME = PROTOCOL.name
TARGETS = distinct_on_the_wire(NAME)
GEMINI_3 = segue.get_model("google/gemini-3-pro-preview")


def variants(model: Model) -> list[Model]:
    """The model, and the same with ids and with the subset of OpenAPI, which no row of the catalog has."""
    cells: list[dict[str, Any]] = [{}, {"send_ids": True}, {"schema_form": "gemini-subset"}]
    return [msgspec.structs.replace(model, dialect=msgspec.structs.replace(model.dialect, **each)) for each in cells]


@pytest.mark.parametrize("name", TARGETS)
def test_a_body_is_read_and_encoded_to_the_same_body(name: str) -> None:
    for model in variants(TARGETS[name]):
        for title, context in CONVERSATIONS.items():
            body = encode(context, model).body
            assert encode(ingest(body, NAME, model), model).body == body, title
            assert encode(ingest(msgspec.json.encode(body), None, model), model).body == body, title


@settings(max_examples=200 if SOAK else 60)
@given(st.data(), st.sampled_from(sorted(TARGETS)))
def test_the_body_of_a_torn_history_is_read_and_encoded_to_the_same_body(data: st.DataObject, name: str) -> None:
    model = TARGETS[name]
    body = encode(data.draw(torn.torn_contexts(model)), model).body
    assert encode(ingest(body, NAME, model), model).body == body


def read(*contents: Any, model: Model | None = None, **more: Any) -> list[Any]:
    return ingest({"contents": list(contents), **more}, NAME, model, now=7).messages


def user(*parts: Any) -> dict[str, Any]:
    return {"role": "user", "parts": list(parts)}


def answer(*parts: Any) -> dict[str, Any]:
    return {"role": "model", "parts": list(parts)}


def test_a_whole_conversation() -> None:
    context = ingest(
        {
            "systemInstruction": {"role": "system", "parts": [{"text": "Be brief."}, {"text": "Be kind."}]},
            "contents": [
                user({"text": "Look"}, {"inlineData": {"mimeType": "image/png", "data": "aGVsbG8="}}),
                answer(
                    {"text": "hm", "thought": True, "thoughtSignature": "dGhpbms="},
                    {"text": "On it.", "thoughtSignature": "dGV4dA=="},
                    {"functionCall": {"id": "a", "name": "one", "args": {"n": 1}}, "thoughtSignature": "c2ln"},
                    {"functionCall": {"id": "b", "name": "two"}},
                ),
                user(
                    {"functionResponse": {"id": "b", "name": "two", "response": {"error": "it broke"}}},
                    {
                        "functionResponse": {
                            "id": "a",
                            "name": "one",
                            "response": {"output": "fine"},
                            "parts": [{"inlineData": {"mimeType": "image/png", "data": "aGVsbG8="}}],
                        }
                    },
                    {"text": "Well?"},
                ),
                answer({"text": "Done."}, {"text": "", "thoughtSignature": "bGFzdA=="}),
            ],
            "tools": [{"functionDeclarations": [{"name": "one", "description": "d"}]}, {"googleSearch": {}}],
        },
        NAME,
        GEMINI_3,
        now=7,
    )
    image = ImageContent("aGVsbG8=", "image/png")
    assert context.system_prompt == "Be brief.\nBe kind."
    assert [tool.name for tool in context.tools] == ["one"]
    origin: dict[str, Any] = {"protocol": NAME, "provider": "google", "model": "gemini-3-pro-preview", "timestamp": 7}
    assert context.messages == [
        UserMessage([TextContent("Look"), image]),
        AssistantMessage(
            content=[
                ThinkingContent("hm", "dGhpbms="),
                TextContent("On it.", "dGV4dA=="),
                ToolCall("a", "one", {"n": 1}, "c2ln"),
                ToolCall("b", "two", {}),
            ],
            stop_reason="toolUse",
            **origin,
        ),
        ToolResultMessage("b", "two", [TextContent("it broke")], is_error=True),
        ToolResultMessage("a", "one", [TextContent("fine"), image]),
        UserMessage("Well?"),
        AssistantMessage(content=[TextContent("Done."), TextContent("", "bGFzdA==")], stop_reason="stop", **origin),
    ]


def test_without_a_model_answers_have_no_origin_but_the_protocol() -> None:
    (message,) = read(answer({"text": "Hi"}))
    assert (message.protocol, message.provider, message.model, message.timestamp) == (NAME, "", "", 7)


def test_snake_case_single_objects_and_absent_roles_are_the_same_request() -> None:
    context = ingest(
        {
            "system_instruction": {"parts": {"text": "Be brief."}},
            "contents": {"parts": {"inline_data": {"mime_type": "image/png", "data": "aGVsbG8="}}},
            "tools": {"function_declarations": {"name": "f", "parameters_json_schema": {"type": "object"}}},
        }
    )
    assert context.system_prompt == "Be brief."
    assert context.messages == [UserMessage([ImageContent("aGVsbG8=", "image/png")])]
    assert context.tools[0].schema == {"type": "object"}
    called, result = read(
        answer({"function_call": {"name": "f", "args": {}}, "thought_signature": "c2ln"}),
        {"role": "function", "parts": [{"function_response": {"name": "f", "response": {"result": 1}}}]},
    )
    assert called.content[0].thought_signature == "c2ln"
    assert (result.tool_call_id, result.content) == (called.content[0].id, [TextContent('{"result":1}')])


def test_calls_without_ids_or_with_used_ones_get_fresh_ones_and_responses_find_them() -> None:
    def turn(*ids: str | None) -> list[Any]:
        named = [{"name": f"f{at % 2}"} | ({"id": each} if each else {}) for at, each in enumerate(ids)]
        return [
            answer(*({"functionCall": each} for each in named)),
            user(*({"functionResponse": {**each, "response": {"output": str(at)}}} for at, each in enumerate(named))),
        ]

    contents = [*turn(None, None, None), *turn("a", "b"), *turn("a", "b")]
    messages = read(*contents)
    calls = [block for message in messages for block in message.content if isinstance(block, ToolCall)]
    results = [message for message in messages if isinstance(message, ToolResultMessage)]
    assert len({call.id for call in calls}) == 7
    assert [result.tool_call_id for result in results] == [call.id for call in calls]
    assert messages == read(*contents)


def test_responses_out_of_order_are_matched_by_name_and_get_the_name_of_their_call() -> None:
    called, first, second = read(
        answer({"functionCall": {"name": "one"}}, {"functionCall": {"name": "two"}}),
        user(
            {"functionResponse": {"name": "two", "response": {"output": "2"}}},
            {"functionResponse": {"name": "", "response": {"output": "1"}}},
        ),
    )
    assert [(first.tool_name, first.tool_call_id), (second.tool_name, second.tool_call_id)] == [
        ("two", called.content[1].id),
        ("one", called.content[0].id),
    ]


@pytest.mark.parametrize(
    ("response", "text", "failed"),
    [
        ({"output": "x"}, "x", False),
        ({"error": "x"}, "x", True),
        ({"output": {"a": 1}}, '{"a":1}', False),
        ({"a": 1, "b": 2}, '{"a":1,"b":2}', False),
        ({"output": "x", "error": "y"}, '{"output":"x","error":"y"}', True),
        ({}, "", False),
        (None, "", False),
    ],
)
def test_a_response_is_read_as_its_output_or_as_a_whole(response: Any, text: str, failed: bool) -> None:
    _, result = read(
        answer({"functionCall": {"name": "f"}}), user({"functionResponse": {"name": "f", "response": response}})
    )
    assert (result.content, result.is_error) == ([TextContent(text)], failed)


def test_a_response_without_a_call_stays() -> None:
    (result,) = read(user({"functionResponse": {"name": "f", "id": "x", "response": {"output": "y"}}}))
    assert result == ToolResultMessage("x", "f", [TextContent("y")])


@pytest.mark.parametrize("dummy", ["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"])
def test_dummy_signatures_are_dropped(dummy: str) -> None:
    (message,) = read(answer({"functionCall": {"name": "f"}, "thoughtSignature": dummy}))
    assert message.content[0].thought_signature is None


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ({"fileData": {"mimeType": "image/png", "fileUri": "gs://b/a.png"}}, "(image at gs://b/a.png)"),
        ({"fileData": {"mimeType": "video/mp4", "fileUri": "gs://b/a.mp4"}}, "(file at gs://b/a.mp4)"),
        ({"executableCode": {"language": "PYTHON", "code": "1+1"}}, "(code that was run)\n1+1"),
        ({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}}, "(its output)\n2"),
        ({"toolCall": {"id": "x"}}, "(part of another kind: toolCall)"),
    ],
)
def test_parts_that_a_user_message_cannot_hold_become_text(part: dict[str, Any], text: str) -> None:
    assert read(user(part))[0].content == [TextContent(text)]
    (kept,) = read(answer(part))[0].content
    assert isinstance(kept, ProviderContent) and kept.value == part


def test_files_are_blocks() -> None:
    inline = {"inlineData": {"mimeType": "application/pdf", "data": "aGVs"}}
    address = {"fileData": {"mimeType": "video/mp4", "fileUri": "https://example.org/a.mp4"}}
    assert read(user(inline, address))[0].content == [
        FileContent("aGVs", "application/pdf"),
        FileContent(url="https://example.org/a.mp4", mime_type="video/mp4"),
    ]


def test_an_image_of_the_model_is_kept_with_its_signature() -> None:
    part = {"inlineData": {"mimeType": "image/png", "data": "aGVs"}, "thoughtSignature": "c2ln"}
    assert read(answer(part, {"thoughtSignature": "c2ln"}))[0].content == [
        ProviderContent(part, "inlineData", "image/png"),
        TextContent("", "c2ln"),
    ]


def test_contents_without_parts_are_left_out() -> None:
    assert read(user(), answer(), {"role": "user"}) == []


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "contents"),
        ({"contents": "hi"}, "contents"),
        ({"contents": ["hi"]}, "contents[0]"),
        ({"contents": [{"role": "user", "parts": "hi"}]}, "contents[0]"),
        ({"contents": [{"role": "system", "parts": []}]}, "contents[0].role"),
        ({"contents": [{"role": ["user"], "parts": []}]}, "contents[0].role"),
        ({"contents": [user("hi")]}, "contents[0].parts[0]"),
        ({"contents": [user({"text": 1})]}, "contents[0].parts[0].text"),
        ({"contents": [user({"inlineData": {"data": "x"}})]}, "contents[0].parts[0].inlineData"),
        ({"contents": [user({"functionCall": {"name": "f"}})]}, "contents[0].parts[0]"),
        ({"contents": [answer({"functionCall": {"name": "f", "args": "{}"}})]}, "contents[0].parts[0].functionCall"),
        ({"contents": [answer({"functionCall": "f"})]}, "contents[0].parts[0].functionCall"),
        ({"contents": [answer({"functionResponse": {"name": "f"}})]}, "contents[0].parts[0]"),
        ({"contents": [answer({"text": "x", "thoughtSignature": 1})]}, "contents[0].parts[0].thoughtSignature"),
        ({"contents": [user({"functionResponse": {"response": []}})]}, "contents[0].parts[0].functionResponse"),
        ({"contents": [], "systemInstruction": 1}, "systemInstruction"),
        ({"contents": [], "tools": "x"}, "tools"),
        ({"contents": [], "tools": [{"functionDeclarations": [{}]}]}, "tools[0].functionDeclarations[0]"),
    ],
)
def test_another_shape_is_refused_with_its_path(body: dict[str, Any], path: str) -> None:
    with pytest.raises(FormatError) as caught:
        ingest(body, NAME)
    assert caught.value.path == path


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["", "user", "model", "c2ln"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "contents",
                    "role",
                    "parts",
                    "text",
                    "functionCall",
                    "functionResponse",
                    "name",
                    "args",
                    "response",
                    "id",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(JSON, JSON, JSON)
def test_any_json_is_read_or_refused(contents: Any, tools: Any, part: Any) -> None:
    for body in ({"contents": contents, "tools": tools}, {"contents": [user(part), answer(part), user(part)]}):
        segue.lint(body, NAME)
        PROTOCOL.recognise(body)
        try:
            ingest(body, NAME)
        except FormatError:
            continue


def test_this_protocol_is_recognised_by_its_contents() -> None:
    assert PROTOCOL.recognise({"contents": [user({"text": "x"})]}) > PROTOCOL.recognise({"contents": []}) > 0
    others: list[dict[str, Any]] = [{"messages": []}, {"input": "x"}, {"model": "gemini", "messages": [{}]}, {}]
    for other in others:
        assert PROTOCOL.recognise(other) == 0
