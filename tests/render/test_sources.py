"""``request.sources``: the stored message behind every part of a request body."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support import cases

import segue
from segue.render import sources as sources_module
from segue.types import TextContent, UserMessage

EXAMPLE = segue.Context.from_json((Path(__file__).parents[2] / "examples" / "three-models.json").read_bytes())
TARGETS = [
    "anthropic/claude-sonnet-5",
    "openai/gpt-5.4",
    "deepseek/deepseek-chat",
    "google/gemini-3-pro-preview",
    "mistral/mistral-large-latest",
    "amazon-bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0",
]


def texts(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every text in a body, with its path."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from texts(each, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for at, each in enumerate(value):
            yield from texts(each, f"{path}[{at}]")


def marked(context: segue.Context) -> segue.Context:
    """A conversation in which every text begins with the number of its message."""
    document = json.loads(context.to_json())
    for index, message in enumerate(document["messages"]):
        for block in message["content"]:
            if block["type"] == "text" and block["text"].strip():
                block["text"] = f"«{index}» {block['text']}"
    return segue.Context.from_json(json.dumps(document))


def conversations() -> Iterator[Any]:
    yield pytest.param(EXAMPLE, id="example")
    for name, case in cases.load("corpus").items():
        yield pytest.param(cases.context(case), id=name)


@pytest.mark.parametrize("policy", [None, "off"])
@pytest.mark.parametrize("stored", list(conversations()))
def test_every_text_in_a_body_is_traced_to_its_message(stored: segue.Context, policy: str | None) -> None:
    context = marked(stored)
    for name in TARGETS:
        request = segue.encode(context, name, None, policy)
        sources = request.sources
        for path, text in texts(request.body):
            for mark in (part.partition("»")[0] for part in text.split("«")[1:]):
                assert int(mark) in sources.messages(path), (name, path)


def test_what_no_message_caused_has_no_source() -> None:
    sources = segue.encode(EXAMPLE, "anthropic/claude-sonnet-5").sources
    assert sources.messages("system[0]") == sources.messages("tools[0].name") == sources.messages("model") == ()


def test_a_conversation_without_messages_has_no_sources() -> None:
    request = segue.encode(
        segue.Context(system_prompt="Be brief.", messages=[]), "anthropic/claude-opus-4-7", policy="off"
    )
    assert request.sources.parts == {}


def test_images_that_are_moved_after_their_results_belong_to_the_result() -> None:
    pixel = segue.ImageContent(b"\x89PNG\r\n\x1a\n", "image/png")
    context = segue.Context(
        [
            UserMessage("look"),
            segue.AssistantMessage([segue.ToolCall("c1", "look", {})], stop_reason="toolUse"),
            segue.ToolResultMessage("c1", "look", [TextContent("seen"), pixel]),
            UserMessage("and?"),
        ]
    )
    request = segue.encode(context, "openai/gpt-5.4", None, "off")
    places = [path for path, text in texts(request.body) if text.startswith("data:image/png")]
    assert [request.sources.messages(path) for path in places] == [(2,)]


def test_sources_are_those_of_the_request_when_the_conversation_has_grown_since() -> None:
    messages: list[segue.Message] = [UserMessage("one")]
    renderer = segue.Renderer("openai/gpt-5.4")
    request = renderer.request(segue.Context(messages))
    messages.append(UserMessage("two"))
    assert request.sources.parts.keys() == {"input[0]", "input[0].content[0]"}


@pytest.mark.parametrize("stored", list(conversations()))
def test_a_place_in_a_body_of_others_leads_to_the_message_that_was_read_from_it(stored: segue.Context) -> None:
    for name in TARGETS:
        request = segue.encode(marked(stored), name)
        body, protocol = request.body, request.model.protocol
        messages, sources = segue.ingest(body, protocol).messages, segue.body_sources(body, protocol)
        assert all(0 <= index < len(messages) for found in sources.parts.values() for index in found)
        for path, text in texts(body):
            if text.startswith("«") and not path.startswith("system"):
                found = [messages[index] for index in sources.messages(path)]
                assert len(found) == 1, path
                assert any(text in block.text for block in found[0].content if isinstance(block, TextContent)), path


def test_results_in_one_turn_are_messages_of_their_own() -> None:
    turn = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": each, "content": each} for each in "ab"]}
    body = {"messages": [{"role": "user", "content": "go"}, turn, {"role": "assistant", "content": "done"}]}
    sources = segue.body_sources(body, "anthropic-messages")
    places = ("messages[0].content", "messages[1].content[0].content", "messages[1].content[1]", "messages[2]")
    assert [sources.messages(path) for path in places] == [(0,), (1,), (2,), (3,)]


def test_a_place_outside_the_history_leads_to_no_message() -> None:
    body = {"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}], "tools": []}
    sources = segue.body_sources(body)
    assert sources.messages("tools[0]") == sources.messages("messages[0]") == ()
    assert sources.messages("messages[1].content") == (0,)
    assert segue.body_sources(segue.Context([UserMessage("not a body")]).to_json()).parts == {}


def test_instructions_inside_the_history_are_messages_of_their_own() -> None:
    roles = ["user", "developer", "user", "developer", "assistant"]
    body = {"input": [{"role": role, "content": role} for role in roles]}
    sources = segue.body_sources(body, "openai-responses")
    assert [sources.messages(f"input[{at}]") for at in range(5)] == [(at,) for at in range(5)]


def test_a_long_body_is_read_a_few_times_only(monkeypatch: pytest.MonkeyPatch) -> None:
    turns = [{"role": "user" if at % 2 else "assistant", "content": str(at)} for at in range(1_000)]
    read, lengths = sources_module.read_conversation, []

    def counted(document: Any, *rest: Any) -> segue.Context:
        lengths.append(len(document["messages"]))
        return read(document, *rest)

    monkeypatch.setattr(sources_module, "read_conversation", counted)
    found = segue.body_sources({"messages": turns}, "openai-completions")
    assert all(found.messages(f"messages[{at}]") == (at,) for at in range(1_000))
    assert sum(lengths) < 20 * len(turns)
