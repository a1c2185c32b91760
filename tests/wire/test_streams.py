"""Every recorded shape of an answer, fed in every way: the same message, or an error that keeps what had arrived."""

from typing import Any

import msgspec
import pytest
from support.streams import CASES, StreamCase, decoded, rewritten

import segue
from segue.types import Context, ProviderContent, TextContent, ThinkingContent, ToolCall, ToolResultMessage, UserMessage

STREAMED = [case for case in CASES if case.events is not None]
WHOLE = [case for case in CASES if case.whole is not None]
TURNS = {"openai-responses": "input", "google-generative-ai": "contents"}


def as_json(value: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))


def assert_holds(message: segue.AssistantMessage, expected: dict[str, Any]) -> None:
    """The fields that a case names are what it says; of usage and diagnostics, the keys that it names."""
    found = as_json(message)
    for name, value in expected.items():
        if name == "usage":
            assert {key: found["usage"].get(key) for key in value} == value
        elif name == "diagnostics":
            assert [each["type"] for each in found.get("diagnostics", [])] == value
        else:
            assert found.get(name) == value, name
    if "diagnostics" not in expected:
        assert "diagnostics" not in found


@pytest.mark.parametrize("case", STREAMED, ids=repr)
def test_a_stream_gives_the_message_and_the_events(case: StreamCase) -> None:
    events, message = decoded(case.request(), case.pieces())
    assert_holds(message, case.message)
    if case.kinds is not None:
        assert [event.type for event in events] == case.kinds


@pytest.mark.parametrize("case", WHOLE, ids=repr)
def test_a_whole_answer_gives_the_message(case: StreamCase) -> None:
    message = segue.decode(msgspec.json.encode(case.whole), case.request(stream=False), now=1)
    assert_holds(message, case.message)


@pytest.mark.parametrize("case", STREAMED, ids=repr)
def test_pieces_do_not_matter(case: StreamCase) -> None:
    whole, message = decoded(case.request(), [b"".join(case.pieces())])
    data = b"".join(case.pieces())
    for size in (1, 7):
        events, same = decoded(case.request(), [data[at : at + size] for at in range(0, len(data), size)])
        assert same == message
        assert [event.type for event in events] == [event.type for event in whole]


@pytest.mark.parametrize("case", STREAMED, ids=repr)
def test_a_stream_cut_at_any_event_is_the_same_or_an_error_that_keeps_the_blocks_so_far(case: StreamCase) -> None:
    pieces = case.pieces()
    _, message = decoded(case.request(), pieces)
    for count in range(len(pieces)):
        _, cut = decoded(case.request(), pieces[:count])
        if cut.stop_reason != "error":
            assert cut.content == message.content and cut.stop_reason == message.stop_reason
            continue
        assert cut.error_message
        for at, (arrived, block) in enumerate(zip(cut.content, message.content, strict=False)):
            if at not in rewritten(message):
                assert_begins(arrived, block)
        _, half = decoded(case.request(), [*pieces[:count], pieces[count][: len(pieces[count]) // 2]])
        assert len(half.content) >= len(cut.content)


def assert_begins(arrived: Any, block: Any) -> None:
    assert type(arrived) is type(block)
    if isinstance(block, TextContent):
        assert block.text.startswith(arrived.text)
    elif isinstance(block, ThinkingContent):
        assert block.thinking.startswith(arrived.thinking)
    elif isinstance(block, ProviderContent):
        assert block.kind == arrived.kind
    else:
        assert isinstance(block, ToolCall) and block.name.startswith(arrived.name)


@pytest.mark.parametrize("case", STREAMED, ids=repr)
def test_a_decoded_answer_is_sent_back_to_its_origin(case: StreamCase) -> None:
    """decode, encode for the same origin, lint: clean, and exactly as the provider demands it."""
    _, message = decoded(case.request(), case.pieces())
    results = [ToolResultMessage(call.id, call.name, [TextContent("fine")]) for call in message.tool_calls]
    before = case.context()
    history = Context(messages=[*before.messages, message, *results, UserMessage("And now?")], tools=before.tools)
    request = segue.encode(history, case.model)
    assert segue.lint(request.body, case.protocol, model=case.model) == []
    if message.stop_reason == "error":
        assert case.replay is None
        return
    lost = [change for change in request.changes if change.lossy]
    assert case.replay is not None or not lost
    if case.replay is not None:
        turns = as_json(request.body[TURNS.get(case.protocol, "messages")])
        places = range(len(turns) - len(case.replay) + 1)
        assert any(turns[at : at + len(case.replay)] == case.replay for at in places), turns


@pytest.mark.parametrize("case", STREAMED, ids=repr)
def test_the_partial_answer_can_be_looked_at_after_any_event(case: StreamCase) -> None:
    decoder = segue.Decoder(case.request(), now=1)
    looks = 0
    for piece in [*case.pieces(), None]:
        for event in decoder.feed(piece) if piece is not None else decoder.close():
            content = event.partial.content
            again = event.partial.content
            assert all(one is other for one, other in zip(content, again, strict=True))
            looks += 1
    assert looks and decoder.message is not None
    assert decoder.partial.content == decoder.message.content
