"""A body is read as a conversation, however it was written, and encoded to the same body again."""

from typing import Any

import pytest
from conftest import SOAK
from hypothesis import given, settings, strategies as st
from support import torn
from support.journeys import CONVERSATIONS, IMAGE
from support.targets import distinct_on_the_wire

from segue.errors import FormatError
from segue.projection import project
from segue.render import encode
from segue.types import (
    AssistantMessage,
    Context,
    FileContent,
    ImageContent,
    Model,
    Options,
    ProviderContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
    UserMessage,
)
from segue.wire.anthropic_messages import PROTOCOL
from segue.wire.anthropic_messages.ingest import ingest, recognise

TARGETS = distinct_on_the_wire("anthropic-messages")
MODEL = TARGETS["anthropic/claude-opus-5-5"]
models = st.sampled_from(sorted(TARGETS)).map(TARGETS.__getitem__)

TEXT = {"type": "text", "text": "hi"}
CALL = {"type": "tool_use", "id": "a", "name": "b", "input": {}}


def read(*content: Any, role: str = "user", **rest: Any) -> Context:
    return ingest({"messages": [{"role": role, "content": list(content)}], **rest}, None, 7)


# -- there and back --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TARGETS)
def test_an_encoded_body_is_read_and_encoded_to_the_same_body(name: str) -> None:
    for context in CONVERSATIONS.values():
        body = encode(context, TARGETS[name]).body
        again = encode(ingest(body, TARGETS[name], 0), TARGETS[name])
        assert again.body == body


@settings(max_examples=200 if SOAK else 100)
@given(st.data(), models)
def test_bodies_of_torn_conversations_are_read_and_encoded_to_the_same_body(data: st.DataObject, model: Model) -> None:
    body = encode(data.draw(torn.torn_contexts(model)), model).body
    assert encode(ingest(body, model, 0), model).body == body


def test_cache_markers_and_options_are_ignored() -> None:
    context = CONVERSATIONS["all in a row"]
    options = Options(cache="long", reasoning="high", stop=("END",), stream=True, metadata={"user_id": "u"})
    marked = encode(context, MODEL, options).body
    assert ingest(marked, MODEL, 0) == ingest(encode(context, MODEL).body, MODEL, 0)


def test_the_model_is_the_origin_of_the_answers() -> None:
    (answer,) = ingest({"messages": [{"role": "assistant", "content": "so"}]}, MODEL, 7).messages
    assert answer == AssistantMessage(
        content=[TextContent("so")],
        protocol="anthropic-messages",
        provider="anthropic",
        model="claude-opus-5-5",
        stop_reason="stop",
        timestamp=7,
    )


def test_without_a_model_signatures_are_kept_and_never_replayed() -> None:
    thinking = {"type": "thinking", "thinking": "hm", "signature": "c2lnbmVk"}
    context = read(thinking, TEXT, role="assistant")
    (answer,) = context.messages
    assert isinstance(answer, AssistantMessage)
    assert (answer.protocol, answer.provider, answer.model) == ("anthropic-messages", "", "")
    assert answer.content[0] == ThinkingContent("hm", "c2lnbmVk")
    assert "c2lnbmVk" not in str(project(context, MODEL).context.messages)


# -- every block -----------------------------------------------------------------------------------------------------


def test_a_whole_exchange() -> None:
    body = {
        "system": [{"type": "text", "text": "Be brief."}, {"type": "text", "text": "Be kind."}],
        "tools": [
            {"name": "bash", "description": "Run", "input_schema": {"type": "object"}, "cache_control": {}},
            {"type": "web_search_20260318", "name": "web_search"},
        ],
        "messages": [
            {"role": "user", "content": "go"},
            {
                "role": "assistant",
                "content": [
                    {"type": "redacted_thinking", "data": "payload"},
                    {"type": "tool_use", "id": "a", "name": "bash", "input": {"cmd": "ls"}},
                    {"type": "tool_use", "id": "b", "name": "zip", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "b", "is_error": True, "content": "Error: no"},
                    {"type": "tool_result", "tool_use_id": "a"},
                    {"type": "tool_result", "tool_use_id": "c", "content": [TEXT]},
                    TEXT,
                ],
            },
        ],
    }
    context = ingest(body, None, 0)
    assert context.system_prompt == "Be brief.\n\nBe kind."
    assert context.tools == [ToolDefinition("bash", "Run", {"type": "object"})]
    answer = context.messages[1]
    assert isinstance(answer, AssistantMessage) and answer.stop_reason == "toolUse"
    assert answer.content == [
        ThinkingContent("", "payload", redacted=True),
        ToolCall("a", "bash", {"cmd": "ls"}),
        ToolCall("b", "zip", {}),
    ]
    assert context.messages[2:] == [
        ToolResultMessage("b", "zip", [TextContent("Error: no")], is_error=True),
        ToolResultMessage("a", "bash", []),
        ToolResultMessage("c", "unknown", [TextContent("hi")]),
        UserMessage("hi"),
    ]


@pytest.mark.parametrize(
    ("block", "shown"),
    [
        (
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": IMAGE.data}},
            ImageContent(IMAGE.data, "image/png"),
        ),
        (
            {"type": "image", "source": {"type": "url", "url": "https://x/y.png"}},
            ImageContent(url="https://x/y.png"),
        ),
        ({"type": "image", "source": {"type": "url", "url": "y.png"}}, "(image at y.png)"),
        ({"type": "image", "source": {"type": "file", "file_id": "file_1"}}, "(image at file_1)"),
        (
            {"type": "document", "source": {"type": "text", "data": "words"}, "title": "T"},
            FileContent(b"words", "text/plain", name="T"),
        ),
        ({"type": "document", "source": {"type": "content", "content": "words"}}, "words"),
        (
            {"type": "document", "source": {"type": "url", "url": "https://x/y.pdf"}},
            FileContent(url="https://x/y.pdf", mime_type="application/pdf"),
        ),
        (
            {
                "type": "document",
                "title": "T",
                "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="},
            },
            FileContent(b"%PDF-", "application/pdf", name="T"),
        ),
        (
            {"type": "document", "title": "T", "source": {"type": "file", "file_id": "file_1"}},
            "(document 'T', at file_1)",
        ),
        ({"type": "search_result", "title": "T", "source": "S", "content": [TEXT]}, "T (S)\nhi"),
        ({"type": "container_upload", "file_id": "file_1"}, "(file file_1)"),
        ({"type": "something_new"}, "(something_new block)"),
    ],
)
def test_blocks_that_a_conversation_cannot_hold_become_text(block: Any, shown: Any) -> None:
    content = TextContent(shown) if isinstance(shown, str) else shown
    assert read(block).messages == [UserMessage([content])]
    inside = {"type": "tool_result", "tool_use_id": "a", "content": [block]}
    assert read(inside).messages == [ToolResultMessage("a", "unknown", [content])]


@pytest.mark.parametrize(
    ("block", "text"),
    [
        ({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}}, "web_search: x"),
        ({"type": "web_search_tool_result", "tool_use_id": "s", "content": [{"url": "https://x"}]}, "https://x"),
    ],
)
def test_server_tools_and_their_results_are_kept_as_they_came(block: Any, text: str) -> None:
    (answer,) = read(block | {"cache_control": {"type": "ephemeral"}}, role="assistant").messages
    assert answer.content == [ProviderContent(block, block["type"], text)]


def test_citations_of_a_text_are_its_signature() -> None:
    cited = {"type": "char_location", "cited_text": "x"}
    (answer,) = read({"type": "text", "text": "so", "citations": [cited]}, role="assistant").messages
    assert isinstance(answer.content[0], TextContent) and answer.content[0].citations == [cited]


@pytest.mark.parametrize(
    ("block", "shown"),
    [
        ({"type": "compaction", "content": "before"}, "(summary of what was said before) before"),
        ({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "x"}}, "(image block)"),
    ],
)
def test_other_blocks_of_an_answer_become_text(block: Any, shown: str) -> None:
    (answer,) = read(block, role="assistant").messages
    assert isinstance(answer, AssistantMessage)
    assert answer.content == [TextContent(shown)]


def test_a_leading_system_message_is_the_prompt_and_a_later_one_a_user_message() -> None:
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "hi"},
        {"role": "system", "content": [{"type": "text", "text": "Be kind."}]},
    ]
    context = ingest({"system": "First.", "messages": messages}, None, 0)
    assert context.system_prompt == "First.\n\nBe brief."
    assert context.messages == [UserMessage("hi"), UserMessage("<system>\nBe kind.\n</system>", injected=True)]


def test_messages_without_content_are_left_out() -> None:
    body = {"messages": [{"role": "assistant", "content": ""}, {"role": "user", "content": []}], "tools": None}
    assert ingest(body, None, 0) == Context(messages=[])


# -- bodies of another shape -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "messages"),
        ({"messages": {}}, "messages"),
        ({"messages": ["hi"]}, "messages[0]"),
        ({"messages": [{"role": "tool", "content": ""}]}, "messages[0].role"),
        ({"messages": [{"role": "user"}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": [1]}]}, "messages[0].content[0]"),
        ({"messages": [{"role": "user", "content": [{"text": "hi"}]}]}, "messages[0].content[0].type"),
        ({"messages": [{"role": "user", "content": [{"type": "text"}]}]}, "messages[0].content[0].text"),
        ({"messages": [{"role": "user", "content": [{"type": "image"}]}]}, "messages[0].content[0].source"),
        ({"messages": [{"role": "user", "content": [{"type": "tool_result"}]}]}, "messages[0].content[0].tool_use_id"),
        (
            {"messages": [{"role": "assistant", "content": [CALL | {"input": "{}"}]}]},
            "messages[0].content[0].input",
        ),
        (
            {"messages": [{"role": "assistant", "content": [{"type": "thinking", "thinking": "", "signature": 1}]}]},
            "messages[0].content[0].signature",
        ),
        ({"messages": [], "system": 1}, "system"),
        ({"messages": [], "tools": {}}, "tools"),
        ({"messages": [], "tools": [{"name": "a"}]}, "tools[0].input_schema"),
        ({"messages": [], "tools": [{"name": 1, "input_schema": {}}]}, "tools[0].name"),
        ({"messages": [], "tools": [{"name": "a", "description": 1, "input_schema": {}}]}, "tools[0].description"),
    ],
)
def test_another_shape_is_refused_with_its_path(body: Any, path: str) -> None:
    with pytest.raises(FormatError) as caught:
        ingest(body, None, 0)
    assert caught.value.path == path


# -- recognising -----------------------------------------------------------------------------------------------------


def test_every_body_that_was_encoded_is_recognised() -> None:
    for model in TARGETS.values():
        for context in CONVERSATIONS.values():
            assert PROTOCOL.recognise(encode(context, model).body) == 100
    alone = encode(Context(messages=[UserMessage("hi")]), MODEL).body
    del alone["thinking"]  # which a model that binds its thinking is always asked for
    assert recognise(alone) == 50


@pytest.mark.parametrize(
    ("body", "sure"),
    [
        ({"messages": [{"role": "user", "content": "hi"}], "system": "Be brief."}, 90),
        ({"messages": [{"role": "user", "content": "hi"}], "tools": [{"name": "a", "input_schema": {}}]}, 90),
        ({"messages": [{"role": "user", "content": "hi"}], "thinking": {"type": "adaptive"}}, 90),
        ({"messages": [{"role": "user", "content": "hi"}]}, 1),
        ({"messages": [{"role": "user", "content": "hi"}], "thinking": {"type": "enabled"}}, 1),
        ({"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}]}, 0),
        ({"messages": [{"role": "user", "content": [{"text": "hi"}]}], "system": [{"text": "Be brief."}]}, 0),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, 0),
        ({"messages": [{"role": "assistant", "tool_calls": []}]}, 0),
        ({"messages": [{"role": "tool", "content": ""}]}, 0),
        ({"messages": [{"role": "assistant", "content": "x", "prefix": True}]}, 0),
        ({"messages": [], "inferenceConfig": {}}, 0),
        ({"contents": []}, 0),
        ({"input": "hi"}, 0),
        ({"messages": "hi"}, 0),
        ({}, 0),
    ],
)
def test_bodies_of_protocols_are_distinguished(body: Any, sure: int) -> None:
    assert recognise(body) == sure
