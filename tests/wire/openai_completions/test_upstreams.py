"""Behind a router, signed and encrypted reasoning is sent back only to the upstream that made it."""

import json
from typing import Any

import pytest
from msgspec.structs import replace
from support.streams import decoded

import segue
from segue.catalog import Catalog
from segue.projection.origin import same_origin
from segue.types import AssistantMessage, Message, ToolResultMessage, UserMessage

MODEL = Catalog.default().resolve("openrouter/openai/gpt-5.5", "openai-completions")
TOOLS = [segue.ToolDefinition("go", "", {"type": "object", "properties": {}})]
ENCRYPTED = {"type": "reasoning.encrypted", "data": "gAAAA", "format": "openai-responses-v1", "index": 0}
SUMMARY = {"type": "reasoning.summary", "summary": "Look.", "format": "openai-responses-v1", "index": 1}
SIGNED = {"type": "reasoning.text", "text": "Look.", "signature": "sig", "format": "anthropic-claude-v1", "index": 0}
CALL = {"id": "call_0001", "type": "function", "function": {"name": "go", "arguments": "{}"}}


def request(model: segue.Model = MODEL, stream: bool = True) -> segue.Request:
    context = segue.Context(messages=[UserMessage("Go.")], tools=TOOLS)
    return segue.encode(context, model, segue.Options(stream=stream))


def answered(
    upstream: str | None, details: list[Any], by: str = "openai/gpt-5.5-2026", model: segue.Model = MODEL
) -> AssistantMessage:
    """An answer of the router; the streamed and the whole one are equal."""
    head = {"id": "gen-1", "model": by} | ({} if upstream is None else {"provider": upstream})
    message = {"role": "assistant", "content": "Done.", "reasoning_details": details}
    whole = head | {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    chunks = [
        head | {"choices": [{"index": 0, "delta": message}]},
        head | {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
    ]
    data = [f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks]
    streamed = decoded(request(model), [*data, b"data: [DONE]\n\n"])[1]
    read = segue.decode(json.dumps(whole).encode(), request(model, stream=False), now=1)
    assert replace(read, usage=streamed.usage) == streamed
    return streamed


def sent(*answers: AssistantMessage, model: segue.Model = MODEL) -> tuple[list[Any], list[str]]:
    """Each answer as it is sent back, and the codes of the changes."""
    messages: list[Message] = [UserMessage("Go.")]
    for answer in answers:
        messages += [answer, UserMessage("On.")]
    request = segue.encode(segue.Context(messages=messages, tools=TOOLS), model)
    assert segue.lint(request.body, "openai-completions", model) == []
    body = json.loads(request.json())
    back = [turn for turn in body["messages"] if turn["role"] == "assistant"]
    return back, [change.code for change in request.changes]


def test_an_answer_records_its_upstream() -> None:
    assert answered("Azure", [ENCRYPTED]).endpoint == "|Azure"
    assert answered("Azure", [ENCRYPTED], model=replace(MODEL, endpoint="ab12")).endpoint == "ab12|Azure"
    assert answered(None, [ENCRYPTED]).endpoint is None


@pytest.mark.parametrize("endpoint", [None, "ab12"])
def test_the_upstream_does_not_make_an_answer_foreign(endpoint: str | None) -> None:
    answer = answered("Azure", [ENCRYPTED], model=replace(MODEL, endpoint=endpoint))
    assert same_origin(answer, MODEL) and same_origin(answer, replace(MODEL, endpoint="ab12"))
    if endpoint:
        assert not same_origin(answer, replace(MODEL, endpoint="cd34"))


@pytest.mark.parametrize("details", [[ENCRYPTED, SUMMARY], [SIGNED]], ids=["encrypted", "signed"])
@pytest.mark.parametrize("upstream", ["Azure", None])
def test_details_of_one_upstream_are_sent_back_unchanged(upstream: str | None, details: list[Any]) -> None:
    back, changes = sent(answered(upstream, details), answered(upstream, details))
    assert [turn["reasoning_details"] for turn in back] == [details, details]
    assert changes == []


@pytest.mark.parametrize("details", [[ENCRYPTED, SUMMARY], [SIGNED]], ids=["encrypted", "signed"])
@pytest.mark.parametrize(
    ("upstream", "by"),
    [("OpenAI", "openai/gpt-5.5-2026"), ("Azure", "openai/gpt-5.6-luna"), (None, "openai/gpt-5.5-2026")],
)
def test_details_of_another_upstream_are_sent_back_as_text_only(upstream: str, by: str, details: list[Any]) -> None:
    """Another host, or another model that the router has chosen (``openrouter/auto``). The first upstream keeps its
    details, so that rendered messages do not change."""
    first, second = answered("Azure", details), answered(upstream, details, by)
    back, changes = sent(first, second, first)
    assert [turn.get("reasoning_details") for turn in back] == [details, None, details]
    assert back[1]["reasoning"] == "Look." and back[1]["content"] == "Done."
    assert changes == ["signature-dropped"]
    assert sent(first, second)[0] == back[:2]


def test_encrypted_reasoning_of_another_upstream_without_text_is_dropped() -> None:
    back, changes = sent(answered("Azure", [ENCRYPTED]), answered("OpenAI", [ENCRYPTED]))
    assert back[1].keys() == {"role", "content"} and changes == ["signature-dropped"]


def test_details_without_a_signature_are_sent_back_to_any_upstream() -> None:
    back, changes = sent(answered("Azure", [SUMMARY]), answered("OpenAI", [SUMMARY]), answered("Azure", [ENCRYPTED]))
    assert [turn["reasoning_details"] for turn in back] == [[SUMMARY], [SUMMARY], [ENCRYPTED]]
    assert changes == []


def test_the_signature_of_a_call_is_sent_back_to_its_upstream_only() -> None:
    gemini = Catalog.default().resolve("openrouter/google/gemini-3-pro-preview", "openai-completions")
    entry = {"type": "reasoning.encrypted", "data": "c2ln", "id": "call_0001", "format": "google-gemini-v1", "index": 0}

    def called(upstream: str) -> AssistantMessage:
        message = {"content": None, "tool_calls": [CALL], "reasoning_details": [entry]}
        body = {"provider": upstream, "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}
        return segue.decode(json.dumps(body).encode(), request(gemini, stream=False))

    one, other = called("Google"), called("Google AI Studio")
    result = ToolResultMessage("call_0001", "go", [segue.TextContent("fine")])
    history = segue.Context(messages=[UserMessage("Go."), one, result, other, result], tools=TOOLS)
    back = segue.encode(history, gemini)
    turns = [turn for turn in json.loads(back.json())["messages"] if turn["role"] == "assistant"]
    data = [turn["reasoning_details"][0]["data"] for turn in turns]
    assert data == ["c2ln", gemini.dialect.dummy_signature]  # type: ignore[attr-defined]


def test_a_renderer_that_continues_sends_the_same() -> None:
    first, second = answered("Azure", [ENCRYPTED, SUMMARY]), answered("OpenAI", [ENCRYPTED, SUMMARY])
    renderer = segue.Renderer(MODEL)
    messages: list[Message] = [UserMessage("Go.")]
    for answer in (first, second, first, second):
        messages = [*messages, answer, UserMessage("On.")]
        context = segue.Context(messages=messages, tools=TOOLS)
        assert renderer.request(context).json() == segue.encode(context, MODEL).json()
