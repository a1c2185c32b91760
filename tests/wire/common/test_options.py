"""Options that several protocols map in the same way."""

import pytest
from support.targets import distinct_on_the_wire

from segue.dialects import MistralChat
from segue.projection.project import rendered
from segue.projection.step import Report
from segue.types import Context, Model, Options, ToolDefinition, UserMessage
from segue.wire.common.options import (
    LEVELS,
    ToolChoice,
    forbid_stub,
    limited_tokens,
    nearest_level,
    number_within,
    tool_choice,
)
from segue.wire.common.outgoing import Outgoing

MODEL: Model = next(iter(distinct_on_the_wire("mistral-chat").values()))


def outgoing(options: Options) -> tuple[Outgoing[MistralChat], Report]:
    context = Context(messages=[UserMessage("go")], tools=[ToolDefinition("my.tool"), ToolDefinition("read")])
    report = Report()
    return Outgoing(rendered(context, MODEL), MODEL, MistralChat, options, report), report


def dropped(report: Report) -> list[str]:
    assert {change.code for change in report.changes} <= {"option-dropped"}
    return [change.detail for change in report.changes]


@pytest.mark.parametrize(
    ("wanted", "known", "level"),
    [
        ("high", LEVELS, "high"),
        ("max", ("low", "high"), "high"),
        ("medium", ("low", "high"), "low"),
        ("minimal", ("medium", "high"), "medium"),  # nothing below: the lowest
        ("low", ("max", "high"), "high"),  # in whatever order they are listed
        ("high", ("none", "default"), "default"),
        ("low", ("default", "high"), "high"),
        ("high", ("none",), None),
        ("high", (), None),
    ],
)
def test_the_nearest_level_is_the_highest_below_otherwise_the_lowest(
    wanted: str, known: tuple[str, ...], level: str | None
) -> None:
    assert nearest_level(wanted, known) == level


def test_max_tokens_are_limited_and_the_limit_is_reported() -> None:
    out, report = outgoing(Options(max_tokens=100))
    assert (limited_tokens(out, 100), dropped(report)) == (100, [])
    assert (limited_tokens(out, 99), dropped(report)) == (99, ["max_tokens: 100 is more than the model's 99"])
    assert limited_tokens(outgoing(Options())[0], 99) is None


def test_a_temperature_out_of_range_is_left_out_and_reported() -> None:
    out, report = outgoing(Options(temperature=1.5))
    assert (number_within(out, "temperature", 0, 1.5), dropped(report)) == (1.5, [])
    assert (number_within(out, "temperature", 0, 1), dropped(report)) == (
        None,
        ["temperature: 1.5 is not between 0 and 1"],
    )
    assert number_within(outgoing(Options())[0], "temperature", 0, 1) is None


@pytest.mark.parametrize(
    ("wanted", "mode"),
    [("auto", "auto"), ("none", "none"), ("required", "required"), ("read", "tool"), ("my.tool", "tool")],
)
def test_a_choice_is_a_mode_or_a_defined_tool_by_its_rendered_name(wanted: str, mode: str) -> None:
    out, report = outgoing(Options(tool_choice=wanted))
    choice = tool_choice(out, True)
    assert choice is not None and choice.mode == mode
    assert choice.forces == (mode in ("required", "tool"))
    if mode == "tool":
        assert choice.name == out.tools[["my.tool", "read"].index(wanted)].name
    assert dropped(report) == []


@pytest.mark.parametrize("wanted", ["reads", ""])
def test_a_choice_of_an_unknown_tool_is_left_out_and_reported(wanted: str) -> None:
    out, report = outgoing(Options(tool_choice=wanted))
    assert tool_choice(out, True) is None
    assert dropped(report) == [f"tool_choice: no tool is called {wanted!r}"]


def test_a_choice_is_left_out_and_reported_where_no_tool_is_sent_or_the_target_refuses_it() -> None:
    out, report = outgoing(Options(tool_choice="required"))
    assert tool_choice(out, False) is None
    assert tool_choice(out, True, lambda choice: "never" if choice.forces else None) is None
    assert dropped(report) == ["tool_choice: no tool is defined", "tool_choice: never"]
    assert tool_choice(outgoing(Options())[0], False) is None


@pytest.mark.parametrize(("wanted", "reports"), [(None, 0), ("none", 0), ("auto", 1), ("read", 1)])
def test_the_placeholder_tool_is_never_called(wanted: str | None, reports: int) -> None:
    out, report = outgoing(Options(tool_choice=wanted))
    assert forbid_stub(out) == ToolChoice("none")
    assert len(dropped(report)) == reports
