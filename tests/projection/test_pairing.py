"""Which result answers which call, and that it costs the same for each call, also where thousands share an id."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from conftest import SOAK
from hypothesis import given, settings, strategies as st
from support import torn

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
    """The number of executed lines of Python."""
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


def answer(*calls: str, tool: str = "bash") -> AssistantMessage:
    made = [ToolCall(call_id, tool, {}) for call_id in calls]
    return AssistantMessage(content=made, protocol="", provider="", model="", stop_reason="toolUse")


def result(call_id: str, text: str, tool: str = "bash", synthetic: bool = False) -> ToolResultMessage:
    return ToolResultMessage(call_id, tool, [TextContent(text)], synthetic=synthetic)


USER = UserMessage("and?")
# Stored messages; for each call in order the stored index of its result (-1: none); and what the others are.
BEFORE_THEIR_CALL: dict[str, tuple[list[Message], list[int], dict[int, str]]] = {
    "taken by the call behind it": ([result("a", "early"), answer("a")], [0], {}),
    "a duplicate where the call has a real result": (
        [result("a", "early"), answer("a"), result("a", "late")],
        [2],
        {0: "duplicate"},
    ),
    "a duplicate where the real result comes much later": (
        [result("a", "early"), answer("a"), USER, answer("b"), result("b", "b"), result("a", "late")],
        [5, 4],
        {0: "duplicate"},
    ),
    "each of several a duplicate": (
        [result("a", "one"), result("a", "two"), answer("a"), result("a", "late")],
        [3],
        {0: "duplicate", 1: "duplicate"},
    ),
    "the first of several taken, the second a duplicate": (
        [result("a", "one"), result("a", "two"), answer("a")],
        [0],
        {1: "duplicate"},
    ),
    "taken before a stand-in that follows the call": (
        [result("a", "early"), answer("a"), result("a", "none", synthetic=True)],
        [0],
        {2: "duplicate"},
    ),
    "a stand-in is a duplicate of a real result": (
        [result("a", "none", synthetic=True), answer("a"), result("a", "late")],
        [2],
        {0: "duplicate"},
    ),
    "the first stored of two stand-ins counts": (
        [result("a", "none", synthetic=True), answer("a"), result("a", "none", synthetic=True)],
        [0],
        {2: "duplicate"},
    ),
    "taken by the second of two calls of one id": (
        [result("a", "early"), answer("a", "a"), result("a", "late")],
        [2, 0],
        {},
    ),
    "a duplicate where both calls of one id have real results": (
        [result("a", "early"), answer("a", "a"), result("a", "late"), result("a", "later")],
        [2, 3],
        {0: "duplicate"},
    ),
    "an orphan where the user spoke in between": (
        [result("a", "early"), USER, answer("a"), result("a", "late")],
        [3],
        {0: "orphan"},
    ),
    "an orphan where the call is of another tool": (
        [result("a", "early", tool="grep"), answer("a"), result("a", "late")],
        [2],
        {0: "orphan"},
    ),
    "an orphan where the next answer has no such call": (
        [result("a", "early"), answer("b"), result("b", "b"), answer("a"), result("a", "late")],
        [2, 4],
        {0: "orphan"},
    ),
    "an orphan where there is no call at all": ([USER, result("a", "early")], [], {1: "orphan"}),
}


@pytest.mark.parametrize("case", BEFORE_THEIR_CALL)
def test_a_result_stored_before_its_call_is(case: str) -> None:
    messages, answers, strays = BEFORE_THEIR_CALL[case]
    pairing = Pairing(messages)
    assert [at for batch in pairing.batches.values() for at in batch.answers] == answers
    assert pairing.strays == strays


@pytest.mark.parametrize("case", BEFORE_THEIR_CALL)
def test_what_it_is_does_not_depend_on_when_the_messages_came(case: str) -> None:
    messages, answers, strays = BEFORE_THEIR_CALL[case]
    for cut in range(len(messages)):
        growing = list(messages[:cut])
        pairing = Pairing(growing)
        growing += messages[cut:]
        pairing.extend(cut)
        assert [at for batch in pairing.batches.values() for at in batch.answers] == answers
        assert pairing.strays == strays


def test_a_duplicate_before_its_call_is_left_out_and_reported() -> None:
    messages = [UserMessage("go"), result("a", "early"), answer("a"), result("a", "late")]
    rendered = segue.project(Context(messages=messages), MISTRAL)
    texts = [block.text for message in rendered.context.messages for block in message.content if hasattr(block, "text")]
    assert texts == ["go", "late"]
    assert [(change.code, change.message) for change in rendered.changes if change.lossy] == [("result-duplicate", 1)]


IDS = st.sampled_from(["", "a", "b"])
NAMES = st.sampled_from(["bash", "grep"])
MESSAGES = st.lists(
    st.one_of(
        st.just(USER),
        st.builds(lambda ids, tool: answer(*ids, tool=tool), st.lists(IDS, max_size=3), NAMES),
        st.builds(lambda call_id, tool, synthetic: result(call_id, "r", tool, synthetic), IDS, NAMES, st.booleans()),
    ),
    max_size=14,
)


@pytest.mark.parametrize("named", ["", "b"])
def test_an_early_placeholder_that_a_later_result_replaces_is_reported_as_changed(named: str) -> None:
    growing: list[Message] = [result("b", "r", "grep", True), answer("b", tool="grep")]
    pairing = Pairing(growing)
    growing.append(result(named, "r", "bash", False))
    assert pairing.extend(2) == 0
    assert pairing.strays == {0: "duplicate"}


@settings(max_examples=3_000 if SOAK else 600)
@given(MESSAGES | torn.torn_contexts(MISTRAL).map(lambda context: context.messages), st.data())
def test_a_pairing_that_grew_is_the_one_that_is_made_at_once(messages: list[Message], data: st.DataObject) -> None:
    """It also reports all matches that have changed, and no others."""
    growing: list[Message] = []
    pairing = Pairing(growing)
    while len(growing) < len(messages):
        kept = len(growing)
        growing += messages[kept : kept + data.draw(st.integers(1, 4))]
        before = {at: list(batch.answers) for at, batch in pairing.batches.items()}
        strays = dict(pairing.strays)
        first = pairing.extend(kept)
        whole = Pairing(list(growing))
        assert {at: batch.answers for at, batch in pairing.batches.items()} == {
            at: batch.answers for at, batch in whole.batches.items()
        }
        assert pairing.strays == whole.strays
        for at in range(min(first, kept)):
            assert strays.get(at) == pairing.strays.get(at)
            assert at not in before or before[at] == pairing.batches[at].answers
