"""Bodies of other clients, read as conversations."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, strategies as st
from support.values import json_values

import segue
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
from segue.wire.bedrock_converse import PROTOCOL
from segue.wire.bedrock_converse.shapes import BLOCKS

NAME = "bedrock-converse"


def read(*content: Any, role: str = "user") -> list[Any]:
    """The blocks of the one message that a turn becomes."""
    [message] = ingest({"messages": [{"role": role, "content": list(content)}]}, NAME).messages
    return list(message.content)


def test_a_body_is_read_completely() -> None:
    body = {
        "system": [{"text": "Be brief."}, {"cachePoint": {"type": "default"}}, {"text": "Be kind."}],
        "messages": [
            {"role": "user", "content": [{"text": "hi"}, {"image": {"format": "jpeg", "source": {"bytes": "aGk="}}}]},
            {
                "role": "assistant",
                "content": [
                    {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "sig"}}},
                    {"reasoningContent": {"redactedContent": "c2VjcmV0"}},
                    {"text": "let me see"},
                    {"toolUse": {"toolUseId": "a", "name": "bash", "input": {"n": 1}}},
                    {"toolUse": {"toolUseId": "b", "name": "read", "input": {}}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"toolResult": {"toolUseId": "a", "content": [{"json": {"ok": True}}]}},
                    {"toolResult": {"toolUseId": "b", "content": [{"text": "no"}], "status": "error"}},
                    {"text": "go on"},
                    {"cachePoint": {"type": "default"}},
                ],
            },
        ],
        "toolConfig": {
            "tools": [
                {"toolSpec": {"name": "bash", "description": "Run", "inputSchema": {"json": {"type": "object"}}}},
                {"cachePoint": {"type": "default"}},
                {"systemTool": {"name": "nova_grounding"}},
            ],
            "toolChoice": {"auto": {}},
        },
        "inferenceConfig": {"maxTokens": 5},
    }
    model = segue.get_model("amazon-bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0")
    context = ingest(body, None, model, now=7)
    assert context.system_prompt == "Be brief.\n\nBe kind."
    assert context.messages == [
        UserMessage([TextContent("hi"), ImageContent("aGk=", "image/jpeg")]),
        AssistantMessage(
            content=[
                ThinkingContent("hm", "sig"),
                ThinkingContent("", "c2VjcmV0", redacted=True),
                TextContent("let me see"),
                ToolCall("a", "bash", {"n": 1}),
                ToolCall("b", "read", {}),
            ],
            protocol=NAME,
            provider="amazon-bedrock",
            model=model.id,
            stop_reason="toolUse",
            timestamp=7,
        ),
        ToolResultMessage("a", "bash", [TextContent('{"ok":true}')]),
        ToolResultMessage("b", "read", [TextContent("no")], is_error=True),
        UserMessage("go on"),
    ]
    assert [(tool.name, tool.description) for tool in context.tools] == [("bash", "Run"), ("nova_grounding", "")]
    assert context.tools[0].schema == {"type": "object"}


def test_without_a_model_answers_have_no_origin_and_their_signatures_are_never_sent() -> None:
    body = {
        "messages": [
            {"role": "user", "content": [{"text": "hi"}]},
            {
                "role": "assistant",
                "content": [
                    {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "sig"}}},
                    {"text": "hello"},
                ],
            },
        ]
    }
    context = ingest(body, NAME)
    answer = context.messages[1]
    assert isinstance(answer, AssistantMessage)
    assert (answer.protocol, answer.provider, answer.model) == (NAME, "", "")
    model = segue.get_model("amazon-bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0")
    assert "sig" not in str(encode(context, model).body)
    assert "sig" in str(encode(ingest(body, NAME, model), model).body)


def test_the_arguments_of_boto3_are_read_as_well() -> None:
    assert read({"image": {"format": "png", "source": {"bytes": b"hi"}}}) == [ImageContent("aGk=", "image/png")]
    assert read({"reasoningContent": {"redactedContent": b"hi"}}, role="assistant") == [
        ThinkingContent("", "aGk=", redacted=True)
    ]


@pytest.mark.parametrize(
    ("block", "text"),
    [
        ({"image": {"format": "png", "source": {"s3Location": {"uri": "s3://b/k"}}}}, "(image at s3://b/k)"),
        ({"document": {"name": "Plan", "source": {"content": [{"text": "words"}]}}}, "(document Plan)\nwords"),
        ({"document": {"name": "P", "source": {"s3Location": {"uri": "s3://b/k"}}}}, "(document P at s3://b/k)"),
        ({"video": {"format": "mp4", "source": {"s3Location": {"uri": "s3://b/k"}}}}, "(video at s3://b/k)"),
        ({"audio": {"format": "pcm", "source": {"bytes": "aGk="}}}, "(audio)"),
        ({"citationsContent": {"content": [{"text": "cited"}], "citations": []}}, "cited"),
        ({"searchResult": {"title": "T", "source": "S", "content": [{"text": "x"}]}}, "(search result: T, S)\nx"),
        ({"guardContent": {"text": {"text": "guarded"}}}, "guarded"),
        ({"toolAddition": {"tool": {"name": "bash"}}}, "(tool added: bash)"),
        ({"toolRemoval": {"tool": {"name": "bash"}}}, "(tool removed: bash)"),
        ({"fromTheFuture": {}}, "(fromTheFuture block)"),
    ],
)
def test_blocks_that_a_conversation_cannot_hold_become_text(block: Any, text: str) -> None:
    assert read(block) == [TextContent(text)]


def test_an_image_in_an_answer_becomes_text() -> None:
    assert read({"image": {"format": "png", "source": {"bytes": "aGk="}}}, role="assistant") == [TextContent("(image)")]


def test_a_system_turn_becomes_a_user_message() -> None:
    assert read({"text": "Be brief."}, role="system") == [TextContent("Be brief.")]


def test_the_result_of_a_server_tool_follows_its_call() -> None:
    body = {
        "messages": [
            {
                "role": "assistant",
                "content": [
                    {
                        "toolUse": {
                            "toolUseId": "a",
                            "name": "nova_code_interpreter",
                            "input": {},
                            "type": "server_tool_use",
                        }
                    },
                    {"toolResult": {"toolUseId": "a", "content": [{"text": "42"}], "type": "result"}},
                    {"text": "It is 42."},
                ],
            }
        ]
    }
    (message,) = ingest(body, NAME).messages
    assert [block.type for block in message.content] == ["provider", "provider", "text"]


def test_files_and_citations_are_kept() -> None:
    document = {"document": {"name": "Plan", "format": "pdf", "source": {"bytes": "aGk="}}}
    words = {"document": {"name": "Plan 2", "source": {"text": "words"}}}
    film = {"video": {"format": "mp4", "source": {"bytes": "aGk="}}}
    citation = {"title": "Plan", "location": {"documentPage": {"documentIndex": 0, "start": 1, "end": 2}}}
    cited = {"citationsContent": {"content": [{"text": "Yes."}], "citations": [citation]}}
    asked, answered = ingest(
        {"messages": [{"role": "user", "content": [document, words, film]}, {"role": "assistant", "content": [cited]}]},
        NAME,
    ).messages
    assert asked.content == [
        FileContent("aGk=", "application/pdf", name="Plan"),
        FileContent(b"words", "text/plain", name="Plan 2"),
        FileContent("aGk=", "video/mp4"),
    ]
    assert isinstance(answered.content[0], TextContent) and answered.content[0].citations == [citation]


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "messages"),
        ({"messages": "hi"}, "messages"),
        ({"messages": ["hi"]}, "messages[0]"),
        ({"messages": [{"role": "tool", "content": []}]}, "messages[0].role"),
        ({"messages": [{"role": ["user"], "content": []}]}, "messages[0].role"),
        ({"messages": [{"role": "user", "content": "hi"}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": ["hi"]}]}, "messages[0].content[0]"),
        ({"messages": [{"role": "user", "content": [{"text": 1}]}]}, "messages[0].content[0].text"),
        ({"messages": [{"role": "user", "content": [{"text": "a", "image": {}}]}]}, "messages[0].content[0]"),
        (
            {"messages": [{"role": "user", "content": [{"image": {"source": 1}}]}]},
            "messages[0].content[0].image.source",
        ),
        (
            {
                "messages": [
                    {"role": "assistant", "content": [{"toolUse": {"toolUseId": "a", "name": "b", "input": "{}"}}]}
                ]
            },
            "messages[0].content[0].toolUse.input",
        ),
        (
            {"messages": [{"role": "assistant", "content": [{"reasoningContent": {"reasoningText": {}}}]}]},
            "messages[0].content[0].reasoningContent.reasoningText.text",
        ),
        ({"messages": [], "system": "Be brief."}, "system"),
        ({"messages": [], "toolConfig": {"tools": {}}}, "toolConfig.tools"),
        ({"messages": [], "toolConfig": {"tools": [{"toolSpec": {}}]}}, "toolConfig.tools[0].toolSpec.name"),
    ],
)
def test_a_body_of_another_shape_is_refused_with_its_path(body: Any, path: str) -> None:
    with pytest.raises(FormatError) as caught:
        PROTOCOL.ingest(body, None, 0)
    assert caught.value.path == path


def near_bodies() -> st.SearchStrategy[Any]:
    """Objects with the names of a Converse body and anything in them."""
    names = sorted(
        BLOCKS | {"role", "content", "toolUseId", "name", "input", "json", "source", "bytes", "reasoningText"}
    )
    values = st.recursive(
        json_values | st.sampled_from(["user", "assistant", "x"]),
        lambda value: st.lists(value, max_size=3) | st.dictionaries(st.sampled_from(names), value, max_size=4),
        max_leaves=12,
    )
    turn = st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "assistant", None, []]), "content": st.lists(values, max_size=3) | values}
    )
    return st.fixed_dictionaries(
        {},
        optional={
            "messages": st.lists(turn | values, max_size=4) | values,
            "system": values,
            "toolConfig": st.fixed_dictionaries({}, optional={"tools": values, "toolChoice": values}) | values,
            "inferenceConfig": values,
            "additionalModelRequestFields": st.dictionaries(
                st.sampled_from(["thinking", "output_config", "reasoning_config"]), values, max_size=3
            ),
        },
    )


@given(near_bodies())
def test_any_json_is_linted_recognised_and_read_or_refused(body: Any) -> None:
    model = segue.get_model("amazon-bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0")
    run(PROTOCOL.rules, body)
    run(PROTOCOL.rules, body, model)
    PROTOCOL.recognise(body)
    with suppress(FormatError):
        PROTOCOL.ingest(body, model, 0)


@pytest.mark.parametrize(
    "body",
    [
        {"contents": [{"parts": [{"text": "hi"}]}], "toolConfig": {}},
        {"messages": [{"role": "user", "content": "hi"}], "inferenceConfig": {}},
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}], "max_tokens": 5},
        {"input": "hi"},
    ],
)
def test_bodies_of_other_protocols_are_not_recognised(body: Any) -> None:
    assert PROTOCOL.recognise(body) == 0


def test_a_damaged_body_is_still_recognised() -> None:
    assert PROTOCOL.recognise({"messages": [], "inferenceConfig": {}}) == 20
    assert PROTOCOL.recognise({"messages": [{"role": "tool", "content": [{"text": ""}, {"bogus": 1}, 5]}]}) == 100
    assert PROTOCOL.recognise({"messages": [{"content": [{"text": "a"}, {"type": "text", "text": "b"}]}]}) == 10
