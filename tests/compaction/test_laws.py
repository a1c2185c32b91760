"""Properties of compaction over torn conversations, for every protocol and windows of any size."""

import re
from collections.abc import Callable
from typing import Any

from conftest import SOAK
from hypothesis import given, settings, strategies as st
from msgspec.structs import replace
from support import torn
from support.structure import faults
from support.targets import distinct_on_the_wire

import segue
from segue.compaction import Plan, accept, compacted, is_summary, needed, obstacle, plan, request, summary_message
from segue.projection.pairing import Pairing
from segue.types import (
    AssistantMessage,
    Context,
    Message,
    Model,
    TextContent,
    ToolResultMessage,
    Usage,
    UserMessage,
)
from segue.types.text import scrub
from segue.wire.registry import PROTOCOLS

MODELS = {
    f"{name} ({protocol})": model for protocol in PROTOCOLS for name, model in distinct_on_the_wire(protocol).items()
}
WINDOWS = [2_000, 3_000, 4_096, 8_192, 32_000, 200_000, 1_000_000]
SHORT = 200
many = settings(max_examples=80 if SOAK else 40)


@st.composite
def models(draw: Callable[..., Any]) -> Model:
    model: Model = MODELS[draw(st.sampled_from(sorted(MODELS)))]
    window = draw(st.sampled_from(WINDOWS))
    return replace(model, context_window=window, max_tokens=min(model.max_tokens, window))


@st.composite
def histories(draw: Callable[..., Any], model: Model) -> Context:
    """Torn conversations with some long texts, some measured answers, and possibly a summary at the start."""
    context: Context = draw(torn.torn_contexts(model))
    messages = [_lengthened(draw, message, model) for message in context.messages]
    if draw(st.booleans()):
        messages.insert(0, summary_message("what was said " * draw(st.sampled_from([1, 100]))))
    return Context(system_prompt=context.system_prompt, messages=messages, tools=context.tools)


def _lengthened(draw: Callable[..., Any], message: Message, model: Model) -> Message:
    if isinstance(message, AssistantMessage) and draw(st.booleans()):
        message = replace(message, usage=Usage(input=draw(st.integers(0, 2 * model.context_window)), output=10))
    share = draw(st.sampled_from([0, 0, 0, 0.05, 0.3, 1.5]))
    if not share:
        return message
    piece = draw(st.sampled_from(["word ", "日本語 ", "0123456789abcdef\n"]))
    count = min(int(model.context_window * share * 3.7), 400_000) // len(piece.encode())
    return replace(message, content=[*message.content, TextContent(piece * count)])


@st.composite
def cases(draw: Callable[..., Any]) -> tuple[Context, Model, Model, dict[str, Any]]:
    target, summariser = draw(models()), draw(models())
    context = draw(histories(target))
    users = [at for at, message in enumerate(context.messages) if isinstance(message, UserMessage)]
    running_from = draw(st.none() | st.sampled_from(users))
    keep = draw(st.sampled_from([0.0, 0.25, 0.9, 1.0, 0, 100, 5_000]))
    return context, target, summariser, {"keep": keep, "running_from": running_from}


def after(context: Context, made: Plan, text: str) -> Context:
    messages = compacted(context.messages, made, summary_message(text))
    return Context(system_prompt=context.system_prompt, messages=messages, tools=context.tools)


def longest(made: Plan) -> str:
    cut = accept("word " * 200_000, made)
    assert cut.verdict == "long"
    return cut.text


def pairs(messages: list[Message], shift: int = 0) -> set[tuple[int, int]]:
    batches = Pairing(messages).batches
    return {(at + shift, answer + shift) for at in batches for answer in batches[at].answers if answer >= 0}


@many
@given(cases())
def test_a_cut_separates_no_call_from_its_result_and_keeps_the_running_turn(case: Any) -> None:
    context, target, summariser, how = case
    made = plan(context, target, summariser, **how)
    if made is None:
        return
    cut, messages = made.cut, context.messages
    assert 0 < cut <= len(messages)
    if how["running_from"] is not None:
        assert cut <= how["running_from"]
    assert all((call < cut) == (result < cut) for call, result in pairs(messages))
    assert cut == len(messages) or cut == how["running_from"] or not isinstance(messages[cut], ToolResultMessage)
    # The messages that stay have the same pairs as before.
    kept = {pair for pair in pairs(messages) if pair[0] >= cut}
    rest = compacted(messages, made, summary_message("so far"))
    assert pairs(rest, cut - 1) == kept
    # A duplicate result does not become one without a call (a result without an id cannot be assigned).
    strays = Pairing(messages).strays
    for at, kind in Pairing(rest).strays.items():
        result = rest[at]
        assert isinstance(result, ToolResultMessage)
        assert kind == strays[at + cut - 1] or not result.tool_call_id


@many
@given(cases())
def test_the_parts_cover_the_summarised_messages_in_order(case: Any) -> None:
    context, target, summariser, how = case
    made = plan(context, target, summariser, **how)
    if made is not None:
        assert [at for start, end in made.parts for at in range(start, end)] == [*range(made.cut)]
        assert all(start < end for start, end in made.parts)


@many
@given(cases())
def test_the_rest_and_the_longest_summary_fit_if_the_plan_fits(case: Any) -> None:
    context, target, summariser, how = case
    made = plan(context, target, summariser, **how)
    if made is None:
        return
    reason = obstacle(context, target, summariser, running_from=how["running_from"])
    assert made.fits == (reason is None)
    if made.fits:
        assert not needed(after(context, made, longest(made)), target)
    else:
        assert reason is not None and "\n" not in reason and target.ref in reason


@many
@given(cases())
def test_every_request_for_a_summary_fits_and_is_clean(case: Any) -> None:
    context, target, summariser, how = case
    made = plan(context, target, summariser, **how)
    if made is None:
        return
    for part in range(len(made.parts)):
        asking = request(context, made, part, longest(made) if part else None, summariser)
        assert not asking.tools
        assert not needed(asking, summariser)
        sent = segue.encode(asking, summariser)
        assert not sent.projection.changes
        assert segue.lint(sent.body, summariser.protocol, summariser) == []


def marked(asking: Context) -> list[tuple[str, str]]:
    """The marks of a request, each with its text."""
    block = asking.messages[0].content[0]
    assert isinstance(block, TextContent)
    found = re.match(r'Lines that begin with "\[(\w+)"', block.text)
    assert found
    pieces = re.split(rf"(?:^|\n)\[{found[1]} (.*)\]\n", block.text)[1:]
    return list(zip(pieces[::2], pieces[1::2], strict=True))


@many
@given(cases())
def test_every_short_real_result_is_in_a_request_marked_as_a_tool_result(case: Any) -> None:
    context, target, summariser, how = case
    made = plan(context, target, summariser, **how)
    if made is None:
        return
    for part, (start, end) in enumerate(made.parts):
        results = [
            text
            for label, text in marked(request(context, made, part, None, summariser))
            if label.startswith("tool result")
        ]
        for message in context.messages[start:end]:
            if isinstance(message, ToolResultMessage) and not message.synthetic:
                for block in message.content:
                    if isinstance(block, TextContent) and len(block.text) <= SHORT:
                        assert any(scrub(block.text) in text for text in results)


@many
@given(cases(), st.booleans())
def test_the_compacted_conversation_is_clean_for_every_protocol(case: Any, continues: bool) -> None:
    context, target, summariser, how = case
    made = plan(context, target, summariser, **how)
    if made is None:
        return
    short = after(context, made, "The user wants the tests to pass.")
    if continues:
        short = Context(
            system_prompt=short.system_prompt, messages=[*short.messages, UserMessage("next")], tools=short.tools
        )
    sent = segue.encode(short, target)
    assert segue.lint(sent.body, target.protocol, target) == []
    assert faults(sent.projection.context, target) == []


@many
@given(cases())
def test_repeated_compaction_ends(case: Any) -> None:
    context, target, summariser, how = case
    running_from = how["running_from"]
    for _ in range(len(context.messages) + 1):
        made = plan(context, target, summariser, keep=how["keep"], running_from=running_from)
        if made is None:
            break
        new = [message for message in context.messages[: made.cut] if not is_summary(message)]
        assert new, "a summary alone was summarised again"
        context = after(context, made, "so far")
        running_from = None if running_from is None else running_from - made.cut + 1
    assert made is None


@many
@given(cases())
def test_plans_are_the_same_every_time_and_change_nothing(case: Any) -> None:
    context, target, summariser, how = case
    before = list(context.messages)
    first, second = (plan(context, target, summariser, **how) for _ in range(2))
    assert first == second
    assert context.messages == before
    if first is not None:
        one, other = (request(context, first, 0, None, summariser) for _ in range(2))
        assert one == other
