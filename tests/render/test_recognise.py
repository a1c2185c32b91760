"""One recogniser for all forms of a conversation: segue's own, request bodies, and bare lists of messages."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from support.torn import torn_contexts

import segue
from segue.render.recognise import recognise
from segue.wire import PROTOCOLS, protocol_of

MODEL = segue.get_model("anthropic/claude-sonnet-4-5")
EXAMPLE = Path(__file__).parents[2] / "examples" / "three-models.json"
OF_EACH = {
    "anthropic-messages": [
        {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "seen"}]},
    ],
    "openai-completions": [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "hello"},
    ],
    "openai-responses": [
        {"role": "user", "content": "hi"},
        {"type": "function_call", "call_id": "call_1", "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_1", "output": "seen"},
    ],
    "google-generative-ai": [{"role": "user", "parts": [{"text": "hi"}]}, {"role": "model", "parts": [{"text": "yo"}]}],
    "bedrock-converse": [{"role": "user", "content": [{"text": "hi"}]}],
    "mistral-chat": [
        {"role": "user", "content": "hi"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "abcdefgh1", "function": {"name": "look", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "abcdefgh1", "name": "look", "content": "seen"},
    ],
}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_bare_list_of_messages_is_read_like_a_body_with_it(protocol: str) -> None:
    items = OF_EACH[protocol]
    found = recognise(items)
    assert (found.protocol, found.is_list) == (protocol, True)
    assert found.name == f"a list of messages of {protocol}"
    body = {protocol_of(protocol).history: items}
    read = segue.ingest(items, now=0)
    assert read == segue.ingest(items, protocol, now=0) == segue.ingest(body, protocol, now=0)
    assert read == segue.ingest(json.dumps(items), now=0)
    assert len(read.messages) >= 1


@given(torn_contexts(MODEL))
def test_exported_conversations_are_recognised(context: segue.Context) -> None:
    """The forms with `messages` may be the same for a short text; the others are certain, even as bare lists."""
    for protocol in ("google-generative-ai", "openai-responses"):
        body = segue.export(context, protocol).body
        items = body[protocol_of(protocol).history]
        assert not items or recognise(body).protocol == protocol
        if any(item.get("type") or item.get("parts") for item in items):
            assert recognise(items).protocol == protocol


@given(torn_contexts(MODEL))
def test_a_conversation_of_segue_is_recognised_and_read_as_it_is(context: segue.Context) -> None:
    data = context.to_json()
    document = json.loads(data)
    assert recognise(document).protocol is None
    assert segue.ingest(data) == segue.ingest(document) == segue.Context.from_json(data)


@pytest.mark.parametrize(
    "document",
    [
        {"systemPrompt": "be brief", "messages": [{"role": "user", "content": "hi"}]},
        {"messages": [{"role": "toolResult", "toolCallId": "1", "toolName": "a", "content": []}]},
        {"messages": [{"role": "user", "content": [{"type": "image", "data": "aGk=", "mimeType": "image/png"}]}]},
    ],
)
def test_a_conversation_of_segue_needs_no_version(document: Any) -> None:
    assert recognise(document).protocol is None
    assert segue.ingest(document).messages == segue.ingest(document["messages"]).messages


def test_a_body_that_could_be_read_as_a_conversation_of_segue_keeps_its_system_prompt() -> None:
    body = {"model": "m", "max_tokens": 5, "system": "be brief", "messages": [{"role": "user", "content": "hi"}]}
    assert recognise(body).protocol == "anthropic-messages"
    assert segue.ingest(body).system_prompt == "be brief"


def test_a_conversation_of_segue_is_not_linted_as_a_body() -> None:
    with pytest.raises(segue.FormatError, match="not a request body; encode it for a model first"):
        segue.lint(EXAMPLE.read_bytes())


def test_a_conversation_in_python_that_is_not_json_is_refused() -> None:
    with pytest.raises(segue.FormatError, match="not JSON"):
        segue.ingest({"version": 1, "messages": [{"role": "user", "content": object()}]})
