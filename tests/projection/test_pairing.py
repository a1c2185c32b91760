"""Pairing costs the same for each call, also where thousands of one message share an id, or have none."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

import segue
from segue.projection.pairing import Pairing
from segue.types import AssistantMessage, Context, Message, TextContent, ToolCall, ToolResultMessage, UserMessage

MISTRAL = segue.get_model("mistral/mistral-large-latest")


def batch(count: int, call_id: str, tools: int) -> AssistantMessage:
    calls = [ToolCall(call_id, f"tool{at % tools}", {"at": at}) for at in range(count)]
    return AssistantMessage(content=calls, protocol="", provider="", model="", stop_reason="toolUse")


def results(count: int, call_id: str, tools: int, **fields: Any) -> list[Message]:
    return [
        ToolResultMessage(call_id, f"tool{at % tools}", [TextContent(f"result {at}")], **fields) for at in range(count)
    ]


def late(count: int) -> list[Message]:
    return [batch(count, "same", 2), *results(count, "same", 2)]


def nameless(count: int) -> list[Message]:
    return [batch(count, "", 2), *results(count, "", 3)]


def early(count: int) -> list[Message]:
    return [*results(count, "same", 2), batch(count, "same", 2), *results(count, "same", 2, synthetic=True)]


def doubled(count: int) -> list[Message]:
    return [batch(count, "same", 2), *results(count, "same", 2, synthetic=True), *results(2 * count, "same", 1)]


def crossed(count: int) -> list[Message]:
    made = [*late(2 * count)]
    return [made[0], *made[count + 1 :], UserMessage("and then?"), *made[1 : count + 1]]


TEARS = [late, nameless, early, doubled, crossed]


def lines_run(act: Callable[[], object]) -> int:
    """How many lines of Python it takes, each turn of a loop counted."""
    count = 0

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        act()
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("torn", TEARS)
def test_ten_times_the_calls_are_about_ten_times_the_work(torn: Callable[[int], list[Message]]) -> None:
    few, many = (Context(messages=[UserMessage("go"), *torn(count)]) for count in (50, 500))
    assert lines_run(lambda: Pairing(many.messages)) < 15 * lines_run(lambda: Pairing(few.messages))
    assert lines_run(lambda: segue.project(many, MISTRAL)) < 15 * lines_run(lambda: segue.project(few, MISTRAL))


@pytest.mark.parametrize("torn", TEARS)
def test_twenty_thousand_calls_of_one_message_are_rendered(torn: Callable[[int], list[Message]]) -> None:
    context = Context(messages=[UserMessage("go"), *torn(20_000)])
    rendered = segue.project(context, MISTRAL).context.messages
    calls = [block.id for block in rendered[1].content if isinstance(block, ToolCall)]
    answers = [message.tool_call_id for message in rendered if isinstance(message, ToolResultMessage)]
    assert calls == answers and len(set(calls)) >= 20_000
