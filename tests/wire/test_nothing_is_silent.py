"""Whatever the providers' types allow in an answer is in the message, or a diagnostic says that it was left out.

The kinds of content are read from the SDKs' response types and botocore's service model, so that a new one is seen
here as soon as the SDK knows it.
"""

import json
from typing import Any, get_args

import botocore.session
import pytest
from anthropic.types import ContentBlock, RawContentBlockDelta
from anthropic.types.beta import BetaContentBlock, BetaRawContentBlockDelta
from google.genai.types import Part
from mistralai.client.models import ContentChunk, DeltaMessage
from openai.types.chat import ChatCompletionMessage
from openai.types.chat.chat_completion_chunk import ChoiceDelta
from openai.types.responses import ResponseOutputItem, ResponseOutputMessage
from support.streams import decoded

import segue
from segue.testing.eventstream import frame
from segue.types import AssistantMessage

LEFT_OUT = {"content-left-out", "part-left-out", "part-as-text"}
MODELS = {
    "anthropic-messages": "anthropic/claude-sonnet-4-5",
    "openai-completions": "openai/gpt-5.5",
    "openai-responses": "openai/gpt-5.5",
    "google-generative-ai": "google/gemini-3-pro-preview",
    "bedrock-converse": "amazon-bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0",
    "mistral-chat": "mistral/magistral-medium-latest",
}


def types(union: Any) -> list[str]:
    """The values of ``type`` in a union of an SDK, however it is annotated."""
    kind = getattr(union, "model_fields", {}).get("type")
    if kind is not None:
        return [str(word) for word in get_args(kind.annotation)]
    return [word for part in get_args(union) for word in types(part)]


def read(protocol: str, pieces: list[bytes]) -> AssistantMessage:
    model = segue.get_model(MODELS[protocol], protocol=protocol)
    request = segue.encode(segue.Context(messages=[segue.UserMessage("Go.")]), model, segue.Options(stream=True))
    message = decoded(request, pieces)[1]
    assert message.stop_reason != "error", message.error_message
    return message


def sse(*events: Any) -> list[bytes]:
    return [f"data: {json.dumps(event)}\n\n".encode() for event in events]


def assert_heard(message: AssistantMessage, at_first: int = 0) -> None:
    """It has one block more than without the thing, or says that the thing was left out."""
    noted = [note for note in message.diagnostics if note.type in LEFT_OUT]
    assert len(message.content) > at_first or noted, message


SAYS_NOTHING = {"fallback"}  # which model answers


@pytest.mark.parametrize("kind", sorted({*types(ContentBlock), *types(BetaContentBlock)} - SAYS_NOTHING))
def test_every_block_of_anthropic(kind: str) -> None:
    block = {"type": kind, "text": "x", "thinking": "x", "data": "x", "id": "toolu_1", "name": "go", "input": {"a": 1}}
    end = [{"type": "message_delta", "delta": {"stop_reason": "end_turn"}}, {"type": "message_stop"}]
    start = {"type": "content_block_start", "index": 0, "content_block": block}
    assert_heard(read("anthropic-messages", sse(start, {"type": "content_block_stop", "index": 0}, *end)))


@pytest.mark.parametrize("kind", sorted({*types(RawContentBlockDelta), *types(BetaRawContentBlockDelta)}))
def test_every_delta_of_anthropic(kind: str) -> None:
    holder = "thinking" if kind in ("thinking_delta", "signature_delta") else "text"
    delta = {"type": kind, "text": "Y", "thinking": "Y", "signature": "Y", "partial_json": "Y", "citation": {"a": "Y"}}
    message = read(
        "anthropic-messages",
        sse(
            {"type": "content_block_start", "index": 0, "content_block": {"type": holder, holder: "x"}},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
            {"type": "message_stop"},
        ),
    )
    left_out = [note.type for note in message.diagnostics] == ["content-left-out"]
    assert left_out or "Y" in repr(message.content)


@pytest.mark.parametrize("kind", sorted({*types(ResponseOutputItem)}))
def test_every_item_of_responses(kind: str) -> None:
    item = {"type": kind, "id": "x_1", "call_id": "call_1", "name": "go", "arguments": "{}", "input": "x"}
    item |= {"content": [{"type": "output_text", "text": "x"}], "summary": [{"type": "summary_text", "text": "x"}]}
    done = {"type": "response.output_item.done", "output_index": 0, "item": item}
    assert_heard(read("openai-responses", sse(done, {"type": "response.completed", "response": {}})))


PARTS = types(ResponseOutputMessage.model_fields["content"].annotation)


@pytest.mark.parametrize("kind", sorted({*PARTS, "new"}))
def test_every_part_of_a_message_of_responses(kind: str) -> None:
    item = {"type": "message", "id": "msg_1", "content": [{"type": kind, "text": "x", "refusal": "x"}]}
    done = {"type": "response.output_item.done", "output_index": 0, "item": item}
    model = segue.get_model(MODELS["openai-responses"])
    request = segue.encode(segue.Context(messages=[segue.UserMessage("Go.")]), model, segue.Options(stream=True))
    assert_heard(decoded(request, sse(done, {"type": "response.completed", "response": {}}))[1])


COMPLETIONS = {*ChoiceDelta.model_fields, *ChatCompletionMessage.model_fields} - {"role", "refusal"}


@pytest.mark.parametrize("field", sorted({*COMPLETIONS, "images", "executed_tools", "thinking_blocks", "new"}))
def test_every_field_of_a_chat_completion(field: str) -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "go", "arguments": "{}"}}
    value: Any = {"content": "x", "tool_calls": [call], "function_call": call["function"]}.get(field, [{"a": 1}])
    for key in ("delta", "message"):
        chunk = {"id": "1", "choices": [{"index": 0, key: {field: value}, "finish_reason": "stop"}]}
        assert_heard(read("openai-completions", [*sse(chunk), b"data: [DONE]\n\n"]))


@pytest.mark.parametrize("kind", sorted({*types(ContentChunk), "new"}))
def test_every_chunk_of_mistral(kind: str) -> None:
    chunk = {"type": kind, "text": "x", "thinking": [{"type": "text", "text": "x"}]}
    event = {"id": "1", "choices": [{"index": 0, "delta": {"content": [chunk]}, "finish_reason": "stop"}]}
    assert_heard(read("mistral-chat", [*sse(event), b"data: [DONE]\n\n"]))


MISTRAL = {*DeltaMessage.model_fields} - {"role", "index", "metadata", "tool_call_id"}


@pytest.mark.parametrize("field", sorted({*MISTRAL, "reasoning_content", "reasoning", "audio", "new"}))
def test_every_field_of_a_delta_of_mistral(field: str) -> None:
    call = {"id": "abcdefghi", "function": {"name": "go", "arguments": "{}"}}
    value: Any = {"tool_calls": [call], "audio": {"data": "x"}}.get(field, "x")
    event = {"id": "1", "choices": [{"index": 0, "delta": {field: value}, "finish_reason": "stop"}]}
    assert_heard(read("mistral-chat", [*sse(event), b"data: [DONE]\n\n"]))


SERVICE = botocore.session.get_session().get_service_model("bedrock-runtime")
USE = {"toolUseId": "x", "name": "go", "input": "{}"}
REASONING = {"text": "x", "reasoningText": {"text": "x"}}


@pytest.mark.parametrize("kind", sorted(SERVICE.shape_for("ContentBlockDelta").members))
def test_every_delta_of_bedrock(kind: str) -> None:
    value = {"text": "x", "toolUse": USE, "reasoningContent": REASONING}.get(kind, {"a": 1})
    events = [("contentBlockDelta", {"contentBlockIndex": 0, "delta": {kind: value}}), ("messageStop", {})]
    assert_heard(read("bedrock-converse", [frame(name, json.dumps(data).encode()) for name, data in events]))


@pytest.mark.parametrize("kind", sorted(SERVICE.shape_for("ContentBlockStart").members))
def test_every_start_of_bedrock(kind: str) -> None:
    events = [("contentBlockStart", {"contentBlockIndex": 0, "start": {kind: USE}}), ("messageStop", {})]
    assert_heard(read("bedrock-converse", [frame(name, json.dumps(data).encode()) for name, data in events]))


@pytest.mark.parametrize("kind", sorted(SERVICE.shape_for("ContentBlock").members))
def test_every_block_of_bedrock(kind: str) -> None:
    value = {"text": "x", "toolUse": USE, "reasoningContent": REASONING}.get(kind, {"content": [{"text": "x"}]})
    body = {"output": {"message": {"content": [{kind: value}]}}, "stopReason": "end_turn"}
    assert_heard(read("bedrock-converse", [json.dumps(body).encode()]))


PART_FIELDS = [field.alias or name for name, field in Part.model_fields.items()]


@pytest.mark.parametrize("field", sorted({*PART_FIELDS} - {"thought"}))
def test_every_part_of_google(field: str) -> None:
    value: Any = {"text": "x", "thoughtSignature": "eA==", "functionCall": {"name": "go"}}.get(field, {"a": 1})
    if field == "inlineData":
        value = {"data": "eA==", "mimeType": "image/png"}
    body = {"candidates": [{"content": {"parts": [{field: value}]}, "finishReason": "STOP"}]}
    assert_heard(read("google-generative-ai", [json.dumps(body).encode()]))


@pytest.mark.parametrize("field", ["citationMetadata", "groundingMetadata", "urlContextMetadata"])
def test_sources_of_google(field: str) -> None:
    part = {"text": "x"}
    body = {"candidates": [{"content": {"parts": [part]}, field: {"a": 1}, "finishReason": "STOP"}]}
    assert_heard(read("google-generative-ai", [json.dumps(body).encode()]), at_first=1)
