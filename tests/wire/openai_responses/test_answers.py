"""Answers are read as the openai SDK reads the same bytes."""

import json
from collections.abc import Iterable
from typing import Any

import msgspec
import openai
import pytest
from openai.types.responses import Response
from pydantic_core import from_json
from support.loopback import serve
from support.streams import StreamCase, cases, decoded

import segue
from segue.types import AssistantMessage, TextContent, ThinkingContent, ToolCall

CASES = cases("openai-responses")
STOPS = {
    ("completed", None): "stop",
    ("incomplete", "max_output_tokens"): "length",
    ("incomplete", "content_filter"): "error",
    ("incomplete", "steered"): "stop",
    ("incomplete", "lunch"): "length",
    ("incomplete", None): "length",
    ("failed", None): "error",
    ("cancelled", None): "error",
    ("queued", None): "error",
}


def read_by_sdk(items: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Texts, readable thinking, and calls."""
    found: list[tuple[Any, ...]] = []
    for item in items:
        if item.type == "message":
            found += [("text", part.text if part.type == "output_text" else part.refusal) for part in item.content]
        elif item.type == "reasoning":
            parts = [part.text for part in [*item.summary, *(item.content or [])]]
            found += [("thinking", "\n\n".join(parts))] if parts else []
        elif item.type == "function_call":
            found.append(("call", item.call_id, item.name, arguments(item.arguments)))
        elif item.type == "custom_tool_call":
            found.append(("call", item.call_id, item.name, {"input": item.input}))
        else:
            found.append((item.type, item.to_dict(mode="json")))
    return found


def arguments(text: str) -> Any:
    """The arguments, as far as they were sent."""
    return from_json(text, allow_partial="trailing-strings")


def read_by_us(message: AssistantMessage) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = []
    for block in message.content:
        if isinstance(block, TextContent):
            found.append(("text", block.text))
        elif isinstance(block, ThinkingContent):
            found += [("thinking", block.thinking)] if block.thinking else []
        elif isinstance(block, ToolCall):
            found.append(("call", block.id, block.name, block.arguments))
        else:
            found.append((block.kind, block.value))
    return found


def assert_same(message: AssistantMessage, response: Response, items: list[Any]) -> None:
    assert read_by_us(message) == read_by_sdk(items)
    assert message.response_id == response.id
    reason = response.incomplete_details.reason if response.incomplete_details else None
    stop = STOPS[str(response.status), reason]
    if any(part.type == "refusal" for item in items if item.type == "message" for part in item.content):
        stop = "error"
    assert message.stop_reason == ("toolUse" if stop == "stop" and message.tool_calls else stop)
    if response.error is not None:
        assert message.error_message == f"{response.error.code}: {response.error.message}"
    assert_signed_by(message, items)
    if response.usage is None:
        assert message.usage.total_tokens == 0 and message.usage.cost is None
        return
    details, usage = response.usage.input_tokens_details, message.usage
    assert usage.input + usage.cache_read + usage.cache_write == response.usage.input_tokens
    assert (usage.cache_read, usage.cache_write) == (details.cached_tokens, details.cache_write_tokens)
    assert (usage.output, usage.total_tokens) == (response.usage.output_tokens, response.usage.total_tokens)


def assert_signed_by(message: AssistantMessage, items: list[Any]) -> None:
    """Every signature is from an item, in the order of the items."""
    signed = [item.id for item in items]
    at = 0
    for block in message.content:
        if isinstance(block, ThinkingContent) and block.thinking_signature:
            stored = json.loads(block.thinking_signature)
            at = signed.index(stored["id"], at)
            assert stored["encrypted_content"] == items[at].encrypted_content
            assert stored["summary"] == [part.model_dump() for part in items[at].summary]
        elif isinstance(block, TextContent) and "id" in (kept := json.loads(block.text_signature or "{}")):
            at = signed.index(kept["id"], at)
            assert kept.get("phase") == items[at].phase
        elif isinstance(block, ToolCall) and block.thought_signature:
            at = signed.index(block.thought_signature, at)


def streamed(case: StreamCase, kwargs: dict[str, Any]) -> tuple[Any, list[Any]]:
    """The last event, or the error that the SDK raised, and the items that were finished before it."""
    done: dict[int, Any] = {}
    last: Any = None
    with (
        serve(b"".join(case.pieces()), case.content_type) as url,
        openai.OpenAI(api_key="none", base_url=url, max_retries=0) as client,
        client.responses.stream(**kwargs) as stream,
    ):
        try:
            for last in stream:
                if last.type == "response.output_item.done":
                    done[last.output_index] = last.item
        except openai.APIError as error:
            last = error
    return last, [done[at] for at in sorted(done)]


@pytest.mark.parametrize("case", [case for case in CASES if case.events is not None], ids=repr)
def test_a_stream_is_read_as_the_sdk_reads_it(case: StreamCase) -> None:
    request = case.request()
    _, message = decoded(request, case.pieces())
    kwargs = {name: value for name, value in request.sdk_kwargs().items() if name != "stream"}
    last, done = streamed(case, kwargs)
    if isinstance(last, openai.APIError):
        assert message.stop_reason == "error" and last.message in str(message.error_message)
    elif last.type == "error":
        assert (message.stop_reason, message.error_message) == ("error", f"{last.code}: {last.message}")
    elif last.type == "response.failed":  # the SDK returns finished items, we also keep unfinished ones
        error = last.response.error
        assert (message.stop_reason, message.error_message) == ("error", f"{error.code}: {error.message}")
    else:
        assert_same(message, last.response, last.response.output or done)


@pytest.mark.parametrize("case", [case for case in CASES if case.whole is not None], ids=repr)
def test_a_whole_answer_is_read_as_the_sdk_reads_it(case: StreamCase) -> None:
    request = case.request(stream=False)
    body = msgspec.json.encode(case.whole)
    with (
        serve(body, "application/json") as url,
        openai.OpenAI(api_key="none", base_url=url, max_retries=0) as client,
    ):
        response = client.responses.create(**request.sdk_kwargs())
    assert_same(segue.decode(body, request, now=1), response, response.output)
