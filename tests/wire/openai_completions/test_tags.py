"""Thinking in <think> tags and text before a call are read the same, however the pieces are cut."""

import json
from typing import Any

import pytest
from support.streams import decoded

import segue
from segue.catalog import Catalog
from segue.types import AssistantContent, TextContent, ThinkingContent, ToolCall

# Self-hosted servers pass on a model's tags if they have no parser for them; the other targets are known for tags.
TAGGED = ["ollama/qwen3:8b", "llamacpp/qwen3", "vllm/Qwen/Qwen3-8B", "minimax/MiniMax-M2.5", "cerebras/zai-glm-4.7"]
PLAIN = ["openai/gpt-5.5", "deepseek/deepseek-chat", "openrouter/openai/gpt-5.5"]
CALL = {"id": "call_0001", "type": "function", "function": {"name": "go", "arguments": "{}"}}

CONTENTS: dict[str, list[AssistantContent]] = {
    "<think>\nHm.\n</think>\n\nYes.": [ThinkingContent("Hm."), TextContent("Yes.")],
    "<think>Hm.</think>Yes.": [ThinkingContent("Hm."), TextContent("Yes.")],
    "\n \n<think>Hm.\n\nSo.</think>\nYes.": [ThinkingContent("Hm.\n\nSo."), TextContent("Yes.")],
    "<think>Hm.": [ThinkingContent("Hm.")],
    "<think>Hm.</thi": [ThinkingContent("Hm.</thi")],
    "<think>\n\n</think>\n\nYes.": [TextContent("Yes.")],
    "<think>Hm.</think>Yes <think>no</think>.": [ThinkingContent("Hm."), TextContent("Yes <think>no</think>.")],
    "I wrote <think>Hm.</think>.": [TextContent("I wrote <think>Hm.</think>.")],
    "Hm.</think>Yes.": [TextContent("Hm.</think>Yes.")],
    "<thinking>Hm.</thinking>": [TextContent("<thinking>Hm.</thinking>")],
    "  <b>Yes.": [TextContent("  <b>Yes.")],
    "\n\nYes.\n": [TextContent("\n\nYes.\n")],
    "<thin": [TextContent("<thin")],
    "\n": [TextContent("\n")],
    "<think>😀</think>😀": [ThinkingContent("😀"), TextContent("😀")],
}


def request(name: str, stream: bool) -> segue.Request:
    model = Catalog.default().resolve(name, "openai-completions")
    return segue.encode(segue.Context(messages=[segue.UserMessage("Go.")]), model, segue.Options(stream=stream))


def streamed(name: str, deltas: list[dict[str, Any]]) -> list[AssistantContent]:
    chunks: list[dict[str, Any]] = [{"id": "1", "choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    chunks.append({"id": "1", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    data = [f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks]
    message = decoded(request(name, True), [*data, b"data: [DONE]\n\n"])[1]
    assert message.diagnostics == []
    return message.content


def whole(name: str, message: dict[str, Any]) -> list[AssistantContent]:
    body = {"id": "1", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    return segue.decode(json.dumps(body).encode(), request(name, False)).content


def cuts(text: str) -> list[list[str]]:
    return [[text], [*text], *[[text[:at], text[at:]] for at in range(1, len(text))]]


@pytest.mark.parametrize("content", CONTENTS)
@pytest.mark.parametrize("name", TAGGED)
def test_tags_at_the_start_are_thinking_and_elsewhere_text(name: str, content: str) -> None:
    expected = CONTENTS[content]
    assert whole(name, {"content": content}) == expected
    for pieces in cuts(content):
        assert streamed(name, [{"content": piece} for piece in pieces]) == expected, pieces


@pytest.mark.parametrize("content", CONTENTS)
@pytest.mark.parametrize("name", PLAIN)
def test_tags_are_text_if_the_target_does_not_use_them(name: str, content: str) -> None:
    assert whole(name, {"content": content}) == [TextContent(content)]
    for pieces in cuts(content):
        assert streamed(name, [{"content": piece} for piece in pieces]) == [TextContent(content)]


@pytest.mark.parametrize("name", TAGGED[:3])
def test_thinking_in_tags_is_not_sent_to_the_next_model_as_text(name: str) -> None:
    content = streamed(name, [{"content": "<think>Hm.</think>Yes."}])
    answer = segue.decode(
        json.dumps({"choices": [{"message": {"content": "<think>Hm.</think>Yes."}, "finish_reason": "stop"}]}).encode(),
        request(name, False),
    )
    assert answer.content == content
    history = segue.Context(messages=[segue.UserMessage("Go."), answer, segue.UserMessage("On.")])
    body = segue.encode(history, segue.get_model("anthropic/claude-sonnet-4-5")).json()
    assert b"<think>" not in body and b"[Reasoning] Hm." in body


@pytest.mark.parametrize("name", TAGGED)
def test_ingested_histories_are_read_like_answers(name: str) -> None:
    model = Catalog.default().resolve(name, "openai-completions")
    for content in ("<think>\nHm.\n</think>\n\nYes.", "<think>Hm.</think>Yes."):
        body = {"messages": [{"role": "user", "content": "Go."}, {"role": "assistant", "content": content}]}
        answer = segue.ingest(body, "openai-completions", model).messages[1]
        assert answer.content == CONTENTS[content]


BEFORE: dict[str, list[AssistantContent]] = {
    "\n": [],
    "\n\n  \t": [],
    "<": [TextContent("<")],
    "\n<": [TextContent("\n<")],
    " <thi": [TextContent(" <thi")],
    "Now.\n": [TextContent("Now.\n")],
    "\n\nNow.": [TextContent("\n\nNow.")],
}


@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("name", [*TAGGED, *PLAIN])
def test_text_before_a_call_stays_before_it(name: str, before: str) -> None:
    """White space alone is dropped; a text keeps all of its white space."""
    expected = [*BEFORE[before], ToolCall("call_0001", "go", {})]
    assert whole(name, {"content": before, "tool_calls": [CALL]}) == expected
    for pieces in cuts(before):
        deltas: list[dict[str, Any]] = [{"content": piece} for piece in pieces]
        assert streamed(name, [*deltas, {"tool_calls": [{"index": 0, **CALL}]}]) == expected, pieces


@pytest.mark.parametrize("name", TAGGED)
def test_white_space_between_thinking_and_a_call_is_dropped(name: str) -> None:
    expected = [ThinkingContent("Hm."), ToolCall("call_0001", "go", {})]
    for content in ("<think>Hm.</think>\n\n", "<think>\nHm.\n</think>\n\n\n"):
        for pieces in cuts(content):
            deltas: list[dict[str, Any]] = [{"content": piece} for piece in pieces]
            assert streamed(name, [*deltas, {"tool_calls": [{"index": 0, **CALL}]}]) == expected


@pytest.mark.parametrize("name", TAGGED)
def test_a_call_in_the_middle_of_thinking_comes_after_the_thinking(name: str) -> None:
    deltas = [{"content": "<think>Hm.</thi"}, {"tool_calls": [{"index": 0, **CALL}]}]
    assert streamed(name, deltas) == [ThinkingContent("Hm.</thi"), ToolCall("call_0001", "go", {})]


@pytest.mark.parametrize("name", [*TAGGED, *PLAIN])
def test_text_after_a_call_is_complete(name: str) -> None:
    deltas = [{"content": "\n"}, {"tool_calls": [{"index": 0, **CALL}]}, {"content": "Done.\n"}]
    assert streamed(name, deltas) == [ToolCall("call_0001", "go", {}), TextContent("Done.\n")]
