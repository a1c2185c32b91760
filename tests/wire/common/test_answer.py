"""Answers of all protocols: behaviour that can be tested without a whole stream."""

import json
from typing import Any

import pytest

import segue
from segue.types import AssistantMessage, Usage
from segue.types.codec import read, write
from segue.wire.common.answer import Answer

MODEL = segue.get_model("anthropic/claude-opus-5")
STOPS = {"stop": "stop", "tool": "toolUse"}


@pytest.mark.parametrize("odd", [5, True, ["a"], {"a": 1}])
def test_anything_but_text_is_refused_and_the_answer_can_still_be_built(odd: Any) -> None:
    answer = Answer(MODEL)
    for draft in (answer.text(), answer.thinking(), answer.call("id", "name")):
        with pytest.raises(TypeError):
            draft.add(odd)
        with pytest.raises(TypeError):
            draft.sign(odd)
        with pytest.raises(TypeError):
            answer.text(odd)
    answer.fail("odd")
    assert answer.finished is not None
    assert read(write(answer.finished), AssistantMessage) == answer.finished


def test_ids_and_names_become_text() -> None:
    answer = Answer(MODEL)
    answer.response_id = answer.response_model = 7  # type: ignore[assignment]
    answer.call(5, {"a": 1})  # type: ignore[arg-type]
    answer.finish(["tool"], STOPS)  # type: ignore[arg-type,arg-type]
    assert answer.finished is not None
    assert read(write(answer.finished), AssistantMessage) == answer.finished
    assert answer.finished.response_id == "7" and answer.finished.tool_calls[0].id == "5"


@pytest.mark.parametrize("odd", ["x", None, [1], 10**400, float("1e300")])
def test_counts_that_are_none_are_refused(odd: Any) -> None:
    answer = Answer(MODEL)
    with pytest.raises((TypeError, ValueError)):
        answer.usage = Usage(odd, 1, 0, 0, 1)
    assert answer.usage is None


def test_counts_become_whole_numbers() -> None:
    answer = Answer(MODEL)
    answer.usage = Usage(7.0, "1", 0, 0, 8)  # type: ignore[arg-type]
    assert answer.usage == Usage(7, 1, 0, 0, 8)


@pytest.mark.parametrize("tail", [b"data: [DON", b'data: {"id": "1", "choi', b"dat", b": bye"])
def test_a_stream_that_was_cut_after_its_finish_reason_is_complete(tail: bytes) -> None:
    request = segue.encode(
        segue.Context(messages=[segue.UserMessage("Hi")]), segue.get_model("mistral/mistral-large-latest")
    )
    chunk = {"id": "1", "choices": [{"delta": {"content": "Hi"}, "finish_reason": "stop"}]}
    decoder = segue.Decoder(request)
    decoder.feed(f"data: {json.dumps(chunk)}\n\n".encode() + tail)
    decoder.close()
    assert decoder.message is not None and decoder.message.stop_reason == "stop"
