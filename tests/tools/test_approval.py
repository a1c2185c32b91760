"""The user is asked before some tools run: one question at a time, and only a clearly allowed call runs."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from support.batches import BRIEF, Notebook, calls_of, complete, ran, run, text_of

import segue
from segue.tools import Allow, AllowAlways, Approval, ApprovalRequest, Deny, Edit, Scheduler, ToolLimits, tool


class Door:
    """A tool that needs approval, one that does not, and what was done."""

    def __init__(self) -> None:
        self.opened: list[int] = []
        self.open = tool(self.opens, name="open", approval=True)
        self.knock = tool(self.knocks, name="knock")

    def opens(self, number: int) -> str:
        """Open a door."""
        self.opened.append(number)
        return f"door {number} is open"

    def knocks(self) -> str:
        return "who is there?"


class Person:
    """Answers from a list, and counts the questions at the same time."""

    def __init__(self, *answers: Approval) -> None:
        self.answers = list(answers)
        self.requests: list[ApprovalRequest] = []
        self.open_questions = 0

    async def __call__(self, request: ApprovalRequest) -> Approval:
        self.requests.append(request)
        self.open_questions += 1
        assert self.open_questions == 1
        await asyncio.sleep(0)
        self.open_questions -= 1
        return self.answers.pop(0)


def numbers(*values: Any) -> list[tuple[str, dict[str, Any]]]:
    return [("open", {"number": number}) for number in values]


def test_allowed_calls_run_and_denied_ones_do_not() -> None:
    door, person = Door(), Person(Allow(), Deny(), Deny("that one is broken"))
    notebook = ran(Scheduler([door.open, door.knock], approve=person), *numbers(1, "2", 3), ("knock", {}))
    assert door.opened == [1]
    assert [request.call.arguments for request in person.requests] == [{"number": 1}, {"number": 2}, {"number": 3}]
    assert all(request.tool is door.open for request in person.requests)
    assert notebook.texts == [
        "door 1 is open",
        "This call was not run: the user denied it.",
        "This call was not run: the user denied it: that one is broken.",
        "who is there?",
    ]
    assert notebook.begun == ["c0", "c3"]
    assert notebook.states["c0"] == ["validating", "awaiting approval", "scheduled", "executing", "success"]
    assert notebook.states["c1"] == ["validating", "awaiting approval", "error"]


def test_allow_always_applies_to_that_tool_as_long_as_the_scheduler_exists() -> None:
    door, person = Door(), Person(AllowAlways(), Deny())
    other = tool(door.opens, name="other", approval=True)
    notebooks = [Notebook(calls_of(*numbers(1, 2))), Notebook(calls_of(*numbers(3), ("other", {"number": 4})))]

    async def work() -> None:
        async with Scheduler([door.open, other], approve=person) as scheduler:
            for notebook in notebooks:
                await scheduler.run(notebook.calls, notebook, notebook.emit)

    run(work)
    assert door.opened == [1, 2, 3] and [request.call.name for request in person.requests] == ["open", "other"]


def test_edited_arguments_are_checked_used_and_shown_to_the_model() -> None:
    door = Door()
    notebook = ran(Scheduler([door.open], approve=Person(Edit({"number": "7"}))), *numbers(1))
    assert door.opened == [7]
    assert text_of(notebook.results[0]) == (
        'The user changed the arguments of this call; it was run with {"number":7}\ndoor 7 is open'
    )


@pytest.mark.parametrize(
    "arguments", [{"number": "seven"}, {}, {"number": {1, 2}}, {"number": object()}, {"number": float("nan")}]
)
def test_edited_arguments_that_do_not_fit_are_not_used(arguments: dict[str, Any]) -> None:
    door = Door()
    [text] = ran(Scheduler([door.open], approve=Person(Edit(arguments))), *numbers(1)).texts
    assert not door.opened and "the user changed its arguments, and they do not fit" in text


def test_the_note_of_an_edit_comes_before_every_kind_of_result() -> None:
    async def endless(number: int) -> None:
        await asyncio.sleep(1000)

    def fails(number: int) -> None:
        raise ValueError("no")

    tools = [tool(endless, approval=True, timeout=0.01), tool(fails, approval=True)]
    person = Person(Edit({"number": 2}), Edit({"number": 3}))
    notebook = ran(Scheduler(tools, approve=person, limits=BRIEF), ("endless", {"number": 1}), ("fails", {"number": 1}))
    assert [text.split("\n")[0][-13:] for text in notebook.texts] == [' {"number":2}', ' {"number":3}']
    assert "did not finish" in notebook.texts[0] and "ValueError: no" in notebook.texts[1]


def test_without_an_approve_callback_nothing_runs() -> None:
    door = Door()
    notebook = ran(Scheduler([door.open, door.knock]), *numbers(1), ("knock", {}))
    assert not door.opened and "nobody who could be asked" in notebook.texts[0]
    assert notebook.texts[1] == "who is there?"


def test_the_user_is_not_requests_a_call_that_cannot_run() -> None:
    person = Person()
    ran(Scheduler([Door().open], approve=person), *numbers("x"), ("unknown", {}))
    assert not person.requests


def test_changing_the_request_does_not_change_the_call() -> None:
    door = Door()

    def meddles(request: ApprovalRequest) -> Approval:
        request.call.arguments["number"] = 99
        return Allow()

    ran(Scheduler([door.open], approve=meddles), *numbers(1))
    assert door.opened == [1]


def raising(error: BaseException) -> Any:
    def approve(request: ApprovalRequest) -> Approval:
        raise error

    return approve


async def raises_later(request: ApprovalRequest) -> Approval:
    await asyncio.sleep(0)
    raise SystemExit(1)


async def cancels_itself(request: ApprovalRequest) -> Approval:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.sleep(0)
    return Allow()


async def is_cancelled(request: ApprovalRequest) -> Approval:
    raise asyncio.CancelledError


UNCLEAR = [
    raising(ValueError("no terminal")),
    raising(KeyboardInterrupt()),
    raising(SystemExit()),
    raises_later,
    cancels_itself,
    is_cancelled,
    lambda request: None,
    lambda request: True,
    lambda request: "yes",
    lambda request: Allow,
    lambda request: Edit(["number", 1]),
    lambda request: Deny(None),
]


@pytest.mark.parametrize("approve", UNCLEAR)
def test_an_unclear_answer_denies_the_call(approve: Any) -> None:
    door = Door()
    notebook = ran(Scheduler([door.open, door.knock], approve=approve, limits=BRIEF), *numbers(1), ("knock", {}))
    assert not door.opened and "approval of a person, who could not be asked" in notebook.texts[0]
    assert notebook.texts[1] == "who is there?"


@pytest.mark.parametrize("stubborn", [False, True])
def test_cancelling_during_a_question_ends_it_and_nothing_runs(stubborn: bool) -> None:
    door = Door()
    requests: list[ApprovalRequest] = []

    async def thinks(request: ApprovalRequest) -> Approval:
        requests.append(request)
        try:
            await asyncio.sleep(1000)
        except asyncio.CancelledError:
            if not stubborn:
                raise
        return Allow()

    async def work() -> None:
        notebook = Notebook(calls_of(("knock", {}), *numbers(1, 2)))
        scheduler = Scheduler([door.open, door.knock], approve=thinks, limits=BRIEF)
        task = asyncio.create_task(scheduler.run(notebook.calls, notebook, notebook.emit))
        while not requests:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        complete(notebook)
        assert all(each.synthetic for each in notebook.results) and not notebook.begun
        assert len(requests) == 1

    run(work)
    assert not door.opened


def test_closing_during_a_question_ends_it() -> None:
    door = Door()

    async def thinks(request: ApprovalRequest) -> Approval:
        await asyncio.sleep(1000)
        return Allow()

    async def work() -> Notebook:
        notebook = Notebook(calls_of(*numbers(1, 2)))
        scheduler = Scheduler([door.open], approve=thinks, limits=BRIEF)
        task = asyncio.create_task(scheduler.run(notebook.calls, notebook, notebook.emit))
        while not notebook.states["c0"]:
            await asyncio.sleep(0)
        await scheduler.aclose()
        await task
        return notebook

    notebook = run(work)
    complete(notebook)
    assert not door.opened and all(each.is_error for each in notebook.results)


def test_the_reason_of_a_denial_is_limited_like_every_result(tmp_path: Path) -> None:
    limits = ToolLimits(output=1000, directory=str(tmp_path))
    [text] = ran(Scheduler([Door().open], approve=Person(Deny("x" * 5000)), limits=limits), *numbers(1)).texts
    assert len(text) <= 1000 and "left out here" in text


def test_the_answers_are_values() -> None:
    assert (Allow(), Deny("x"), Edit({"a": 1})) == (segue.Allow(), segue.Deny("x"), segue.Edit({"a": 1}))
