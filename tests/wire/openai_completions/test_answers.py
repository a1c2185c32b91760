"""Answers are read as the providers' own SDKs read them from a server on loopback, and nothing that a provider sends
raises an exception."""

import json
from contextlib import closing
from typing import Any

import cerebras.cloud.sdk
import groq
import openai
import pytest
from cerebras.cloud.sdk import Cerebras
from groq import Groq
from hypothesis import given, settings, strategies as st
from openai import OpenAI
from openai.lib.streaming.chat import ChatCompletionStreamState
from support.loopback import serve
from support.streams import CASES as ALL, StreamCase, cases, decoded

import segue
from segue.catalog import Catalog
from segue.types import AssistantMessage, TextContent, ThinkingContent
from segue.wire.openai_completions.answer_tags import ThinkTags
from segue.wire.openai_completions.answer_usage import read_usage

NAME = "openai-completions"
CASES = [case for case in cases(NAME) if case.events is not None]
WHOLE = [case for case in cases(NAME) if case.whole is not None]
REASONING = ("reasoning_content", "reasoning", "reasoning_text")
WORDS = {"length": "length", "model_context_window_exceeded": "length"}
FAILURES = ("content_filter", "insufficient_system_resource", "sensitive", "network_error", "error", "abort")
ERRORS = (openai.APIError, groq.APIError, cerebras.cloud.sdk.APIError)


def client(case: StreamCase, url: str) -> Any:
    """The client of the provider's own SDK."""
    sdk: Any = case.model.dialect.sdk  # type: ignore[attr-defined]
    if sdk == "groq":
        return Groq(api_key="none", base_url=url, max_retries=0)
    if sdk == "cerebras":
        return Cerebras(api_key="none", base_url=url, max_retries=0, warm_tcp_connection=False)
    return OpenAI(api_key="none", base_url=url, max_retries=0)


class Received:
    """The answer as the SDK's objects contain it."""

    def __init__(self) -> None:
        self.text = self.thinking = self.refusal = ""
        self.calls: list[dict[str, Any]] = []
        self.finish: str | None = None
        self.usage: Any = None
        self.error = ""

    def message(self, message: Any) -> None:
        """Add a whole message, or a delta of an SDK without an accumulator. Cerebras sends calls without an index."""
        self.text += message.content or ""
        self.refusal += getattr(message, "refusal", None) or ""
        fields = [getattr(message, name, None) for name in REASONING]
        details = getattr(message, "reasoning_details", None) or []
        readable = "".join(entry.get("text") or entry.get("summary") or "" for entry in details)
        self.thinking += next(filter(None, fields), readable)
        for call in message.tool_calls or []:
            if call.id or call.function.name:
                self.calls.append({"id": call.id, "name": call.function.name, "arguments": ""})
            self.calls[-1]["arguments"] += call.function.arguments or ""
        if getattr(message, "function_call", None):
            function = message.function_call
            self.calls.append({"id": None, "name": function.name, "arguments": function.arguments})

    def stream(self, chunks: Any, accumulates: bool) -> None:
        state: Any = ChatCompletionStreamState()
        for chunk in chunks:
            groq_usage = getattr(getattr(chunk, "x_groq", None), "usage", None)
            self.usage = chunk.usage or groq_usage or self.usage
            for choice in chunk.choices:
                self.usage = self.count(getattr(choice, "usage", None)) or self.usage
                self.finish = choice.finish_reason or self.finish
                if not accumulates:
                    self.message(choice.delta)
            if accumulates:
                state.handle_chunk(chunk)
        if accumulates:
            self.message(state.current_completion_snapshot.choices[0].message)

    @staticmethod
    def count(usage: Any) -> Any:
        return openai.types.CompletionUsage.construct(**usage) if usage else None


def assert_same(received: Received, message: AssistantMessage) -> None:
    if received.error:
        assert message.stop_reason == "error" and received.error in (message.error_message or "")
        return
    assert message.text == received.text
    thoughts = [block.thinking for block in message.content if isinstance(block, ThinkingContent)]
    assert "".join(thoughts) == received.thinking
    for call, theirs in zip(message.tool_calls, received.calls, strict=True):
        assert (call.name, call.arguments) == (theirs["name"], json.loads(theirs["arguments"]))
        assert call.id == theirs["id"] or not theirs["id"]
    word = (received.finish or "").partition(":")[0]
    if received.refusal or word in FAILURES or word == "function_call_filter":
        assert message.stop_reason == "error" and (received.refusal or received.finish or "") in (
            message.error_message or ""
        )
    else:
        assert message.stop_reason == WORDS.get(word, "toolUse" if received.calls else "stop")
    assert_same_usage(received.usage, message.usage)


def assert_same_usage(theirs: Any, ours: segue.Usage) -> None:
    if theirs is None:
        assert ours == segue.Usage()
        return
    assert ours.input + ours.cache_read + ours.cache_write == theirs.prompt_tokens
    separate = theirs.total_tokens - theirs.prompt_tokens - theirs.completion_tokens  # xAI
    assert (ours.output, ours.total_tokens) == (theirs.completion_tokens + separate, theirs.total_tokens)


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_a_stream_is_read_as_the_sdk_reads_it(case: StreamCase) -> None:
    request, received = case.request(), Received()
    with serve(b"".join(case.pieces()), case.content_type) as url, closing(client(case, url)) as sdk:
        try:
            with sdk.chat.completions.create(**request.sdk_kwargs()) as chunks:
                received.stream(chunks, isinstance(sdk, OpenAI))
        except ERRORS as error:
            received.error = error.message
    assert_same(received, decoded(request, case.pieces())[1])


@pytest.mark.parametrize("case", WHOLE, ids=repr)
def test_a_whole_answer_is_read_as_the_sdk_reads_it(case: StreamCase) -> None:
    request, received = case.request(stream=False), Received()
    body = json.dumps(case.whole).encode()
    with serve(body, "application/json") as url, closing(client(case, url)) as sdk:
        answer = sdk.chat.completions.create(**request.sdk_kwargs())
    [choice] = answer.choices
    received.message(choice.message)
    received.finish, received.usage = choice.finish_reason, answer.usage
    assert_same(received, segue.decode(body, request))


# -- claims that no case file can state --------------------------------------------------------------------------------


def asked(name: str) -> segue.Request:
    model = Catalog.default().resolve(name, NAME)
    return segue.encode(segue.Context(messages=[segue.UserMessage("Hi")]), model, segue.Options(stream=True))


def sent(*chunks: Any) -> list[bytes]:
    return [f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks]


def test_text_after_the_finish_reason_is_kept() -> None:
    deltas = [("Hel", None), ("lo", "stop"), (", you", None)]
    pieces = sent(*[{"choices": [{"delta": {"content": text}, "finish_reason": why}]} for text, why in deltas])
    for end in ([], [b"data: [DONE]\n\n"]):
        message = decoded(asked("openai/gpt-4o"), pieces + end)[1]
        assert (message.content, message.stop_reason) == ([TextContent("Hello, you")], "stop")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"error": "model 'x' not found"}, "model 'x' not found"),  # Ollama
        ({"detail": "Unauthorized"}, "Unauthorized"),
        ({"code": "InvalidParameter", "message": "Range of input length", "request_id": "1"}, "Range of input length"),
        (
            {"object": "error", "message": "too long", "type": "BadRequestError", "code": 400},
            "BadRequestError: too long",
        ),
        ({"choices": [], "id": "1"}, "an error without a message"),
        ({"choices": [{"index": 0, "message": {"content": None}, "finish_reason": None}]}, "before the answer was"),
    ],
)
def test_error_bodies_become_errors_with_the_providers_text(body: dict[str, Any], text: str) -> None:
    message = segue.decode(json.dumps(body).encode(), asked("openai/gpt-4o"))
    assert message.stop_reason == "error" and text in (message.error_message or "")


THOUGHT = "a < b </thin \n</ think\n"


@pytest.mark.parametrize("before", ["", "\n "])
@pytest.mark.parametrize("after", ["", "\n\nFine </think> <think>", "\nFine", "\n\n\nFine"])
def test_tags_are_found_however_the_pieces_are_cut(before: str, after: str) -> None:
    content = f"{before}<think>\n{THOUGHT}\n</think>{after}"
    for first in range(len(content)):
        for second in range(first, len(content), 3):
            thought: list[str] = []
            text: list[str] = []
            tags = ThinkTags(thought.append, text.append)
            for piece in (content[:first], content[first:second], content[second:]):
                (text.append if tags.done else tags.feed)(piece)
            tags.flush()
            assert "".join(thought) == THOUGHT
            assert "".join(text) == after.removeprefix("\n").removeprefix("\n")


@pytest.mark.parametrize(
    ("given_usage", "counts"),
    [
        ({"total_tokens": 0, "total_characters": 0}, None),  # MiniMax, before the last chunk
        ({"prompt_tokens": 5, "completion_tokens": None}, (5, 0, 0, 0, 5)),
        # A cache that the prompt does not include, as some gateways count Anthropic's: the input is never negative.
        ({"prompt_tokens": 5, "completion_tokens": 1, "cache_read_input_tokens": 90}, (0, 1, 90, 0, 6)),
        # Reasoning tokens included in the completion, as nearly all providers count.
        (
            {
                "prompt_tokens": 5,
                "completion_tokens": 9,
                "total_tokens": 14,
                "completion_tokens_details": {"reasoning_tokens": 9},
            },
            (5, 9, 0, 0, 14),
        ),
    ],
)
def test_tokens_are_counted_once(given_usage: dict[str, Any], counts: tuple[int, ...] | None) -> None:
    assert read_usage(given_usage) == (None if counts is None else segue.Usage(*counts))


STREAMED = [case for case in ALL if case.protocol == NAME and case.events is not None]
values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 2**70) | st.sampled_from(["", "null", "stop", "\ud800", "<think>"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["type", "id", "text"]), inner),
    max_leaves=4,
)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every place in a JSON value: its container, and its key there."""
    keys: Any = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [place for key in keys for place in [(value, key), *places(value[key])]]


@settings(max_examples=300)
@given(st.data(), st.sampled_from(STREAMED), values)
def test_no_value_in_any_place_raises_an_exception(data: st.DataObject, case: StreamCase, value: Any) -> None:
    events = json.loads(json.dumps([event["data"] for event in case.events or () if "data" in event]))
    chunks = [event for event in events if isinstance(event, dict)]
    holder, key = data.draw(st.sampled_from(places(chunks)))
    holder[key] = value
    decoded(case.request(), [*sent(*chunks), b"data: [DONE]\n\n"])
    for chunk in chunks:
        segue.decode(json.dumps(chunk).replace('"delta"', '"message"').encode(), case.request())
