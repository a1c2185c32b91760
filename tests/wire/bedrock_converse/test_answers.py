"""Answers are read as boto3 reads them from a server on loopback."""

import json
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from support.loopback import serve
from support.streams import StreamCase, cases, decoded
from support.waiting import HANGS

import segue
from segue.testing.eventstream import frame
from segue.types import AssistantMessage, TextContent, ThinkingContent, ToolCall, ToolKey

CASES = cases("bedrock-converse")
STREAMED = [case for case in CASES if case.events is not None]
WHOLE = [case for case in CASES if case.whole is not None]
STOPPED = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "toolUse",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "guardrail_intervened": "error",
    "content_filtered": "error",
    "malformed_model_output": "error",
    "malformed_tool_use": "error",
}
SESSION = boto3.Session("none", "none", "none", "us-east-1")


@contextmanager
def bedrock(body: bytes, content_type: str, status: int = 200) -> Iterator[Any]:
    """A boto3 client for a server with this answer; it does not retry."""
    config = Config(retries={"total_max_attempts": 1}, proxies={}, connect_timeout=HANGS, read_timeout=HANGS)
    with serve(body, content_type, status) as url:
        client = SESSION.client("bedrock-runtime", endpoint_url=url, config=config)
        try:
            yield client
        finally:
            client.close()


class Heard:
    """The content of boto3's events, joined in the simplest way."""

    def __init__(self) -> None:
        self.blocks: dict[int, dict[str, Any]] = {}
        self.stop = ""
        self.usage: dict[str, int] = {}

    def event(self, event: dict[str, Any]) -> None:
        [(name, data)] = event.items()
        if name == "contentBlockStart" and "toolUse" in data["start"]:
            self.blocks[data["contentBlockIndex"]] = {**data["start"]["toolUse"], "input": ""}
        elif name == "contentBlockDelta":
            delta, block = data["delta"], self.blocks.setdefault(data["contentBlockIndex"], {})
            reasoning = delta.get("reasoningContent", {})
            redacted = reasoning.get("redactedContent", b"")
            for key, piece in (
                ("text", delta.get("text")),
                ("input", delta.get("toolUse", {}).get("input")),
                ("thinking", reasoning.get("text")),
                ("signature", reasoning.get("signature")),
                ("redacted", redacted),
            ):
                if piece:
                    block[key] = block.get(key, type(piece)()) + piece
        elif name == "messageStop":
            self.stop = data["stopReason"]
        elif name == "metadata":
            self.usage = data.get("usage", self.usage)

    def whole(self, answer: dict[str, Any]) -> None:
        for index, block in enumerate(answer["output"]["message"]["content"]):
            reasoning = block.get("reasoningContent", {})
            if "toolUse" in block:
                self.blocks[index] = {**block["toolUse"], "input": json.dumps(block["toolUse"]["input"])}
            elif reasoning:
                text = reasoning.get("reasoningText", {})
                found = {"thinking": text.get("text"), "signature": text.get("signature")}
                self.blocks[index] = {**found, "redacted": reasoning.get("redactedContent")}
            elif "citationsContent" in block:
                self.blocks[index] = {"text": "".join(each["text"] for each in block["citationsContent"]["content"])}
            elif "text" in block:
                self.blocks[index] = {"text": block["text"]}
        self.stop, self.usage = answer["stopReason"], answer.get("usage", {})

    def every(self, key: str) -> list[Any]:
        return [block[key] for _, block in sorted(self.blocks.items()) if block.get(key)]


def assert_same(heard: Heard, message: AssistantMessage, names: dict[str, ToolKey]) -> None:
    assert message.text == "".join(heard.every("text"))
    thoughts = [block for block in message.content if isinstance(block, ThinkingContent)]
    assert [block.thinking for block in thoughts if block.thinking] == heard.every("thinking")
    signatures = [block.thinking_signature for block in thoughts if block.thinking_signature and not block.redacted]
    assert signatures == heard.every("signature")
    payloads = [b64encode(payload).decode() for payload in heard.every("redacted")]
    assert [block.thinking_signature for block in thoughts if block.redacted] == payloads
    calls = [block for _, block in sorted(heard.blocks.items()) if "toolUseId" in block and "type" not in block]
    for call, theirs in zip(message.tool_calls, calls, strict=True):
        stored = names.get(theirs["name"], ToolKey(theirs["name"]))
        assert (call.id, call.name) == (theirs["toolUseId"], stored.name)
        if not message.diagnostics:  # damaged arguments are for the cases themselves to judge
            assert call.arguments == json.loads(theirs["input"] or "{}")
    assert message.stop_reason == ("toolUse" if calls and heard.stop == "end_turn" else STOPPED.get(heard.stop, "stop"))
    counts = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheWriteInputTokens")
    usage = message.usage
    theirs_of = [heard.usage.get(name, 0) for name in counts]
    assert [usage.input, usage.output, usage.cache_read, usage.cache_write] == theirs_of
    assert usage.total_tokens == heard.usage.get("totalTokens", sum(theirs_of))


def assert_failed(error: ClientError, message: AssistantMessage) -> None:
    fault, words = error.response["Error"], message.error_message or ""
    assert message.stop_reason == "error"
    assert fault["Message"] in words
    assert fault["Code"] in words or fault["Code"].isdigit()  # the status, where the body says no kind


@pytest.mark.parametrize("case", STREAMED, ids=repr)
def test_a_stream_is_read_as_boto3_reads_it(case: StreamCase) -> None:
    request, heard = case.request(), Heard()
    message = decoded(request, case.pieces())[1]
    with bedrock(b"".join(case.pieces()), case.content_type) as client:
        stream = client.converse_stream(**request.sdk_kwargs())["stream"]
        try:
            for event in stream:
                heard.event(event)
        except ClientError as error:
            assert_failed(error, message)
            assert message.text == "".join(heard.every("text"))
        else:
            assert_same(heard, message, request.projection.names)
        finally:
            stream.close()


@pytest.mark.parametrize("case", WHOLE, ids=repr)
def test_a_whole_answer_is_read_as_boto3_reads_it(case: StreamCase) -> None:
    request, heard = case.request(stream=False), Heard()
    body = json.dumps(case.whole).encode()
    message = segue.decode(body, request)
    with bedrock(body, "application/json", 200 if "output" in case.whole else 400) as client:
        try:
            heard.whole(client.converse(**request.sdk_kwargs()))
        except ClientError as error:
            assert_failed(error, message)
        else:
            assert_same(heard, message, request.projection.names)


# -- tests that are not cases, because cutting them changes their meaning --------------------------------------------

REQUEST = segue.encode(
    segue.Context(messages=[segue.UserMessage("Hi")]), segue.get_model("amazon-bedrock/amazon.nova-lite-v1:0")
)


def event(name: str, data: Any, kind: str = "event") -> bytes:
    return frame(name, json.dumps(data).encode(), kind)


def text(index: int, words: str) -> bytes:
    return event("contentBlockDelta", {"contentBlockIndex": index, "delta": {"text": words}})


STOP = event("messageStop", {"stopReason": "end_turn"})
USAGE = event("metadata", {"usage": {"inputTokens": 3, "outputTokens": 2, "totalTokens": 5}})


def test_content_between_the_stop_and_the_usage_is_kept() -> None:
    _, message = decoded(REQUEST, [text(0, "Hel"), STOP, text(0, "lo"), text(1, "P.S."), USAGE])
    assert message.content == [TextContent("Hello"), TextContent("P.S.")]
    assert (message.stop_reason, message.usage.total_tokens) == ("stop", 5)


def test_an_exception_after_the_stop_is_an_error() -> None:
    pieces = [text(0, "Hello"), STOP, event("internalServerException", {"message": "no usage"}, "exception")]
    _, message = decoded(REQUEST, pieces)
    assert (message.content, message.stop_reason) == ([TextContent("Hello")], "error")
    assert message.error_message == "internalServerException: no usage"


def test_content_after_the_end_of_its_block_is_a_new_block() -> None:
    pieces = [text(0, "Hel"), event("contentBlockStop", {"contentBlockIndex": 0}), text(0, "lo"), STOP, USAGE]
    assert decoded(REQUEST, pieces)[1].content == [TextContent("Hel"), TextContent("lo")]


def test_a_call_without_a_start_does_not_belong_to_the_server_tool_before_it() -> None:
    start = {"toolUse": {"toolUseId": "s", "name": "nova_grounding", "type": "server_tool_use"}}
    asked = {"toolUse": {"input": '{"query": 1}'}}
    own = {"toolUse": {"toolUseId": "a", "name": "f", "input": "{}"}}
    pieces = [
        event("contentBlockStart", {"start": start}),
        event("contentBlockDelta", {"delta": asked}),
        event("contentBlockStop", {}),
        event("contentBlockDelta", {"delta": own}),
    ]
    [_, call] = decoded(REQUEST, [*pieces, STOP, USAGE])[1].content
    assert call == ToolCall("a", "f", {})


def test_answers_and_frames_are_read_without_the_sdk() -> None:
    """boto3 is an extra: it is not needed to read answers."""
    code = "import sys, segue.wire.bedrock_converse; sys.exit(any(name.startswith('boto') for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
