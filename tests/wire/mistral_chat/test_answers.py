"""Answers are read as the provider's own SDK reads them from a server on loopback."""

import json
import re
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from mistralai.client import Mistral
from mistralai.client.models import DeltaMessage, UsageInfo
from support.loopback import serve
from support.streams import StreamCase, cases, decoded
from support.waiting import HANGS

import segue
from segue.types import AssistantMessage, TextContent, ThinkingContent

CASES = cases("mistral-chat")
WHOLE = [case for case in CASES if case.whole is not None]
FINISHED = {"stop": "stop", "tool_calls": "toolUse", "length": "length", "model_length": "length", "error": "error"}


class Received:
    """The answer as the SDK's objects contain it."""

    def __init__(self) -> None:
        self.text = ""
        self.thinking = ""
        self.signatures: list[str] = []
        self.calls: list[dict[str, Any]] = []
        self.finish = ""
        self.usage: UsageInfo | None = None

    def message(self, message: Any) -> None:
        if message.role == "tool":
            return
        content = message.content or []
        for chunk in [content] if isinstance(content, str) else content:
            if isinstance(chunk, str):
                self.text += chunk
            elif chunk.type == "text":
                self.text += chunk.text
            elif chunk.type == "thinking":
                self.thinking += "".join(part.text for part in chunk.thinking if part.type == "text")
                self.signatures += [chunk.signature] if chunk.signature else []
        for call in message.tool_calls or []:
            self.call(call, isinstance(message, DeltaMessage))

    def call(self, call: Any, streamed: bool) -> None:
        name, arguments = call.function.name, call.function.arguments
        if isinstance(arguments, dict):
            arguments = json.dumps(arguments)
        known = call.id != "null" and any(each["id"] == call.id for each in self.calls)
        if streamed and (known or not name):
            [*_, before] = [each for each in self.calls if each["index"] == call.index]
            before["arguments"] += arguments
        else:
            self.calls.append({"id": call.id, "name": name, "arguments": arguments, "index": call.index})


def assert_same(received: Received, message: AssistantMessage) -> None:
    assert message.text == received.text
    thoughts = [block for block in message.content if isinstance(block, ThinkingContent)]
    assert "".join(block.thinking for block in thoughts) == received.thinking
    assert [block.thinking_signature for block in thoughts if block.thinking_signature] == received.signatures
    for call, theirs in zip(message.tool_calls, received.calls, strict=True):
        assert (call.name, call.arguments) == (theirs["name"], json.loads(theirs["arguments"]))
        assert call.id == theirs["id"] or (theirs["id"] == "null" and re.fullmatch("[A-Za-z0-9]{9}", call.id))
    assert message.stop_reason == FINISHED.get(received.finish, "stop")
    usage = received.usage or UsageInfo()
    assert message.usage.input + message.usage.cache_read == usage.prompt_tokens
    assert (message.usage.output, message.usage.total_tokens) == (usage.completion_tokens, usage.total_tokens)


@pytest.fixture(scope="module")
def http() -> Iterator[httpx2.Client]:
    with httpx2.Client(timeout=HANGS) as client:
        yield client


def client(url: str, http: httpx2.Client) -> Mistral:
    return Mistral(api_key="none", server_url=url, retry_config=None, client=http)


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_a_stream_is_read_as_the_sdk_reads_it(case: StreamCase, http: httpx2.Client) -> None:
    request, received = case.request(), Received()
    served = serve(b"".join(case.pieces()), case.content_type)
    with served as url, client(url, http).chat.stream(**request.sdk_kwargs()) as stream:
        for event in stream:
            received.usage = event.data.usage or received.usage
            for choice in event.data.choices:
                received.message(choice.delta)
                received.finish = choice.finish_reason or received.finish
    assert_same(received, decoded(request, case.pieces())[1])


@pytest.mark.parametrize("case", WHOLE, ids=repr)
def test_a_whole_answer_is_read_as_the_sdk_reads_it(case: StreamCase, http: httpx2.Client) -> None:
    request, received = case.request(stream=False), Received()
    body = json.dumps(case.whole).encode()
    with serve(body, "application/json") as url:
        answer = client(url, http).chat.complete(**request.sdk_kwargs())
    [choice] = answer.choices
    for message in choice.messages or [choice.message]:
        received.message(message)
    received.finish, received.usage = choice.finish_reason, answer.usage
    assert_same(received, segue.decode(body, request))


def test_text_after_the_finish_reason_is_kept() -> None:
    request = segue.encode(
        segue.Context(messages=[segue.UserMessage("Hi")]), segue.get_model("mistral/mistral-large-latest")
    )
    deltas = [("Hel", None), ("lo", "stop"), (", you", None)]
    chunks = [{"id": "1", "choices": [{"delta": {"content": text}, "finish_reason": why}]} for text, why in deltas]
    pieces = [f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks]
    for end in ([], [b"data: [DONE]\n\n"]):
        message = decoded(request, pieces + end)[1]
        assert (message.content, message.stop_reason) == ([TextContent("Hello, you")], "stop")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"detail": [{"type": "extra_forbidden", "loc": ["body", "x"], "msg": "Extra inputs"}]}, "extra_forbidden"),
        ({"message": "Unauthorized", "request_id": "9"}, "Unauthorized"),
        ({"object": "error", "message": {"detail": [{"msg": "Input should be a string"}]}}, "Input should be a string"),
        ({"choices": [], "id": "1"}, "an error without a message"),
    ],
)
def test_error_bodies_become_errors_with_the_providers_text(body: dict[str, Any], text: str) -> None:
    request = segue.encode(
        segue.Context(messages=[segue.UserMessage("Hi")]), segue.get_model("mistral/mistral-large-latest")
    )
    message = segue.decode(json.dumps(body).encode(), request)
    assert message.stop_reason == "error" and text in (message.error_message or "")
