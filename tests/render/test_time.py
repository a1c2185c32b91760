"""Answers and ingested conversations get the current time, unless the caller passes another one."""

import time

import segue
from segue.types import AssistantMessage

MODEL = segue.get_model("mistral/mistral-large-latest")
BODY = {"messages": [{"role": "assistant", "content": "Hello."}, {"role": "user", "content": "Hello."}]}
ANSWER = b'{"choices": [{"message": {"role": "assistant", "content": "Hello."}, "finish_reason": "stop"}]}'


def answers(now: int | None) -> list[AssistantMessage]:
    ingested = segue.ingest(BODY, "mistral-chat", MODEL, now).messages[0]
    assert isinstance(ingested, AssistantMessage)
    request = segue.encode(segue.Context(messages=[segue.UserMessage("Hello.")]), MODEL)
    return [ingested, segue.decode(ANSWER, request, now)]


def test_the_current_time_is_the_default() -> None:
    before = int(time.time() * 1000)
    found = [answer.timestamp for answer in answers(None)]
    assert all(before <= timestamp <= time.time() * 1000 for timestamp in found)


def test_a_time_can_be_passed() -> None:
    assert [answer.timestamp for answer in answers(0)] == [0, 0]
