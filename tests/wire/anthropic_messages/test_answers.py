"""Answers are read as the provider's own SDK reads them from a server on loopback."""

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import msgspec
import pytest
from anthropic import Anthropic
from anthropic.types import Message
from support.loopback import serve
from support.streams import StreamCase, cases, decoded
from support.waiting import HANGS

import segue
from segue.types import AssistantContent, AssistantMessage, ProviderContent, TextContent, ThinkingContent, ToolCall
from segue.wire.anthropic_messages.server_tools import readable

CASES = cases("anthropic-messages")
WHOLE = [case for case in CASES if case.whole is not None]
# Answers of old models are read like those of new ones; the SDK warns that they are deprecated.
pytestmark = pytest.mark.filterwarnings("ignore:The model .* is deprecated:DeprecationWarning")
STOPPED = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "tool_use": "toolUse",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "error",
}


@pytest.fixture(scope="module")
def http() -> Iterator[httpx2.Client]:
    with httpx2.Client(timeout=HANGS) as client:
        yield client


def client(url: str, http: httpx2.Client) -> Anthropic:
    return Anthropic(api_key="none", base_url=url, max_retries=0, http_client=http)


def kwargs(request: segue.Request) -> dict[str, Any]:
    return {name: value for name, value in request.sdk_kwargs().items() if name != "stream"}


def canonical(block: Any) -> AssistantContent | None:
    """A block of the SDK; ``None`` if a conversation cannot hold it."""
    match block.type:
        case "text":
            cited = [citation.model_dump(exclude_unset=True) for citation in block.citations or ()]
            return TextContent(block.text, msgspec.json.encode(cited).decode() if cited else None)
        case "thinking":
            return ThinkingContent(block.thinking, block.signature)
        case "redacted_thinking":
            return ThinkingContent("", block.data, redacted=True)
        case "tool_use":
            return ToolCall(block.id, block.name, block.input)
        case "fallback":
            return None
    raw = block.model_dump(exclude_unset=True)
    return ProviderContent(raw, block.type, readable(raw))


SHOWN = (TextContent, ThinkingContent, ToolCall)


def plain(block: AssistantContent) -> Any:
    """A block whose JSON can be compared: the SDK has its own order of fields."""
    if isinstance(block, ProviderContent):
        return block.kind, block.value, block.text
    return (block.text, block.citations) if isinstance(block, TextContent) else block


def assert_same(theirs: Message, message: AssistantMessage) -> None:
    blocks = [canonical(block) for block in theirs.content]
    assert [*map(plain, message.content)] == [plain(block) for block in blocks if block is not None]
    assert message.stop_reason == STOPPED.get(str(theirs.stop_reason), "stop")
    if theirs.stop_details is not None:
        assert theirs.stop_details.explanation and message.error_message
        assert theirs.stop_details.explanation in message.error_message
    usage = theirs.usage
    assert message.usage.input == usage.input_tokens
    assert message.usage.output == usage.output_tokens
    assert message.usage.cache_read == (usage.cache_read_input_tokens or 0)
    assert message.usage.cache_write == (usage.cache_creation_input_tokens or 0)
    assert (message.response_id, message.response_model) == (theirs.id, theirs.model)


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_a_stream_is_read_as_the_sdk_reads_it(case: StreamCase, http: httpx2.Client) -> None:
    request = case.request()
    served = serve(b"".join(case.pieces()), case.content_type)
    with served as url, client(url, http).messages.stream(**kwargs(request)) as stream:
        theirs = stream.get_final_message()
    assert_same(theirs, decoded(request, case.pieces())[1])


@pytest.mark.parametrize("case", WHOLE, ids=repr)
def test_a_whole_answer_is_read_as_the_sdk_reads_it(case: StreamCase, http: httpx2.Client) -> None:
    request = case.request(stream=False)
    body = json.dumps(case.whole).encode()
    with serve(body, "application/json") as url:
        theirs = client(url, http).messages.create(**kwargs(request))
    assert_same(theirs, segue.decode(body, request))


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_the_deltas_are_those_of_the_sdk(case: StreamCase, http: httpx2.Client) -> None:
    request = case.request()
    heard: list[str] = []
    left_out: set[int] = set()
    served = serve(b"".join(case.pieces()), case.content_type)
    with served as url, client(url, http).messages.create(**kwargs(request), stream=True) as stream:
        for event in stream:
            if event.type == "content_block_start" and not isinstance(canonical(event.content_block), SHOWN):
                left_out.add(event.index)
            elif event.type == "content_block_delta" and event.index not in left_out:
                delta = event.delta.model_dump()
                heard += [delta[name] for name in ("text", "thinking", "partial_json") if delta.get(name)]
    events, _ = decoded(request, case.pieces())
    kinds = (segue.events.TextDelta, segue.events.ThinkingDelta, segue.events.ToolCallDelta)
    deltas = [event.delta for event in events if isinstance(event, kinds)]
    if "input" not in case.name:  # input in the start of a call is no delta to the SDK
        assert deltas == heard
