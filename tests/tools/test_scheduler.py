"""A batch: calls are checked, run in parallel up to a limit or alone, and each gets one result, written immediately."""

import asyncio
import contextvars
import functools
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from support.batches import BRIEF, FINAL_STATES, Notebook, calls_of, complete, ran, run, text_of
from support.waiting import HANGS, join_tools

import segue
from segue.tools import Scheduler, Tool, ToolLimits, running_call, tool
from segue.types import TextContent, ToolCall, ToolDefinition, ToolResultMessage


class Meter:
    """Counts the calls that run at the same time."""

    def __init__(self) -> None:
        self.now: list[str] = []
        self.most = 0
        self.overlaps_alone = False
        self.order: list[str] = []

    async def together(self, mark: str, steps: int = 3) -> str:
        return await self._run(mark, steps)

    async def alone(self, mark: str, steps: int = 3) -> str:
        return await self._run(f"!{mark}", steps)

    async def _run(self, mark: str, steps: int) -> str:
        self.now.append(mark)
        self.order.append(mark)
        self.most = max(self.most, len(self.now))
        for _ in range(steps):
            self.overlaps_alone |= any(each[0] == "!" for each in self.now) and len(self.now) > 1
            await asyncio.sleep(0)
        self.now.remove(mark)
        return mark

    @property
    def tools(self) -> list[Tool]:
        return [tool(self.together), tool(self.alone, alone=True)]


def test_a_batch_runs_in_parallel_up_to_the_limit() -> None:
    for limit in (1, 3, 100):
        meter = Meter()
        ran(
            Scheduler(meter.tools, limits=ToolLimits(parallel=limit)),
            *[("together", {"mark": str(n), "steps": 300}) for n in range(8)],
        )
        assert meter.most == min(limit, 8)


@given(
    st.lists(st.tuples(st.sampled_from(["together", "alone"]), st.integers(0, 8)), max_size=9),
    st.integers(1, 9),
)
def test_each_call_has_one_result_and_alone_is_alone(wanted: list[tuple[str, int]], limit: int) -> None:
    """Whatever the durations: one result for each call, one writer, and exclusive calls run in their place."""
    meter = Meter()
    calls = [(name, {"mark": str(at), "steps": steps}) for at, (name, steps) in enumerate(wanted)]
    notebook = ran(Scheduler(meter.tools, limits=ToolLimits(parallel=limit)), *calls)
    assert [text.lstrip("!") for text in notebook.texts] == [str(at) for at in range(len(wanted))]
    assert not meter.overlaps_alone and meter.most <= limit
    assert [mark.lstrip("!") for mark in meter.order] == [str(at) for at in range(len(wanted))]


@given(
    st.lists(st.sampled_from(["together", "alone", "unknown"]), max_size=8),
    st.permutations(range(8)),
)
def test_starts_and_results_of_a_batch_do_not_depend_on_which_call_is_faster(
    names: list[str], speeds: list[int]
) -> None:
    """Calls up to the limit are started before any is waited for, and an exclusive call starts when all results before
    it are written. Only the order in which results are written depends on the durations."""

    def journal(steps: Sequence[int]) -> Notebook:
        calls = [(name, {"mark": "x", "steps": 20 * taken}) for name, taken in zip(names, steps, strict=False)]
        return ran(Scheduler(Meter().tools), *calls)

    quick, slow = journal([0] * 8), journal(speeds)
    assert slow.begun == quick.begun and slow.texts == quick.texts
    for at, name in enumerate(names):
        if name == "alone":
            before = slow.events[: slow.events.index(f"started c{at}")]
            assert {f"finished c{other}" for other in range(at)} <= set(before)
    if "alone" not in names:
        ready = [f"finished c{at}" for at, name in enumerate(names) if name == "unknown"]
        assert slow.events[: len(names)] == ready + [f"started {call}" for call in slow.begun]


def test_results_of_later_calls_are_written_before_a_slow_one() -> None:
    """The first call ends only when the results of all others are written and reported."""
    notebook = Notebook(calls_of(("slow", {}), *[("together", {"mark": str(at)}) for at in range(6)], ("unknown", {})))

    async def slow() -> str:
        """Waits until all others are in the journal."""
        while len(notebook.written) < 7 or not all(set(notebook.states[f"c{at}"]) & FINAL_STATES for at in range(1, 8)):
            await asyncio.sleep(0)
        return "the last one"

    async def work() -> None:
        async with Scheduler([slow, *Meter().tools], limits=ToolLimits(parallel=3)) as scheduler:
            await scheduler.run(notebook.calls, notebook, notebook.emit)

    run(work)
    complete(notebook)
    assert notebook.written[-1].tool_call_id == "c0"


def test_a_cancelled_batch_writes_ready_results_before_it_waits_for_running_calls() -> None:
    """A call that ends slowly does not delay the results of the others."""
    notebook = Notebook(calls_of(("stubborn", {}), ("together", {"mark": "x"}), ("together", {"mark": "y"})))

    async def work() -> None:
        begun = asyncio.Event()

        async def stubborn() -> str:
            """Ends when the results of the others are written, not when it is cancelled."""
            begun.set()
            with suppress(asyncio.CancelledError):
                await asyncio.Event().wait()
            while len(notebook.written) < 2:
                await asyncio.sleep(0)
            return "the last one"

        async with Scheduler([stubborn, *Meter().tools], limits=ToolLimits(parallel=1, grace=HANGS)) as scheduler:
            running = asyncio.create_task(scheduler.run(notebook.calls, notebook, notebook.emit))
            await begun.wait()
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running

    run(work)
    complete(notebook)
    assert [each.tool_call_id for each in notebook.written] == ["c1", "c2", "c0"]


def test_a_call_goes_through_its_states() -> None:
    notebook = ran(Scheduler(Meter().tools), ("together", {"mark": "a"}), ("unknown", {}), ("together", {}))
    assert list(notebook.states.values()) == [
        ["validating", "scheduled", "executing", "success"],
        ["validating", "error"],
        ["validating", "error"],
    ]
    assert notebook.begun == ["c0"]


def test_errors_for_unknown_tools_and_wrong_arguments_help_the_model() -> None:
    unknown, wrong = ran(Scheduler(Meter().tools), ("unknown", {}), ("together", {"mark": [], "steps": "x"})).results
    assert "there is no tool called unknown; the tools are together, alone" in text_of(unknown)
    assert 'steps: "x" is not of type "integer"' in text_of(wrong) and "Make the call again" in text_of(wrong)
    assert unknown.is_error and wrong.is_error and not unknown.synthetic


def test_a_scheduler_without_tools_still_answers_calls(tmp_path: Path) -> None:
    [text] = ran(Scheduler(limits=ToolLimits(directory=str(tmp_path))), ("x" * 100_000, {})).texts
    assert "there is no tool called" in text and len(text) <= ToolLimits().output


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(segue.SettingError, match="two tools are called 'together'"):
        Scheduler([*Meter().tools, *Meter().tools])


def test_an_empty_batch_does_nothing() -> None:
    assert ran(Scheduler()).events == []


def test_a_scheduler_shows_the_definitions_of_its_tools() -> None:
    tools = Meter().tools
    assert Scheduler(tools).definitions == [each.definition for each in tools]


# -- kinds of functions ------------------------------------------------------------------------------------------------


def where() -> str:
    return threading.current_thread().name


async def where_async() -> str:
    return threading.current_thread().name


class Callable:
    async def __call__(self) -> str:
        return threading.current_thread().name


def returns_a_coroutine() -> Any:
    return where_async()


MAIN = "MainThread"


@pytest.mark.parametrize(
    ("function", "on_the_loop"),
    [
        (where, False),
        (where_async, True),
        (Callable(), True),
        (functools.partial(where_async), True),
        (returns_a_coroutine, True),
        (lambda: where_async(), True),
    ],
)
def test_plain_functions_run_in_a_thread_and_async_ones_on_the_loop(function: Any, on_the_loop: bool) -> None:
    [text] = ran(Scheduler([tool(function, name="where")]), ("where", {})).texts
    assert (text == MAIN) == on_the_loop


def test_plain_functions_run_in_parallel() -> None:
    barrier = threading.Barrier(3, timeout=HANGS)

    def meet() -> int:
        return barrier.wait()

    results = ran(Scheduler([meet]), ("meet", {}), ("meet", {}), ("meet", {})).results
    assert sorted(map(text_of, results)) == ["0", "1", "2"]


LANGUAGE: contextvars.ContextVar[str] = contextvars.ContextVar("language")


def speak() -> str:
    return LANGUAGE.get("none")


async def speak_async() -> str:
    return LANGUAGE.get("none")


def test_a_tool_knows_the_context_of_its_caller_and_its_own_call() -> None:
    def mine(n: int) -> str:
        running = running_call()
        assert running is not None and running.limits.parallel == 3
        return f"{running.call.id} {running.call.arguments}"

    async def work() -> list[str]:
        LANGUAGE.set("French")
        notebook = Notebook(calls_of(("speak", {}), ("speak_async", {}), ("mine", {"n": "1"}), ("mine", {"n": 2})))
        await Scheduler([speak, speak_async, mine], limits=ToolLimits(parallel=3)).run(notebook.calls, notebook)
        return notebook.texts

    assert run(work) == ["French", "French", "c2 {'n': 1}", "c3 {'n': 2}"]
    assert running_call() is None


def test_a_definition_with_a_handler_is_a_tool() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    made = Tool(ToolDefinition("double", "Doubles.", schema), lambda n: 2 * n)
    assert ran(Scheduler([made]), ("double", {"n": "21"})).texts == ["42"]


def test_the_id_and_the_name_of_a_result_are_those_of_the_call() -> None:
    def forges() -> ToolResultMessage:
        return ToolResultMessage("other", "name", [TextContent("x")], is_error=True, synthetic=True)

    [result] = ran(Scheduler([forges]), ("forges", {})).results
    assert (result.tool_call_id, result.tool_name, result.is_error, result.synthetic) == ("c0", "forges", True, False)


def test_calls_that_share_an_id_get_a_result_each() -> None:
    calls = [ToolCall("same", "speak", {}), ToolCall("same", "speak", {})]
    written: list[str] = []

    class Plain:
        async def started(self, call: ToolCall) -> None: ...

        async def finished(self, result: ToolResultMessage) -> None:
            written.append(result.tool_call_id)

    run(lambda: Scheduler([speak]).run(calls, Plain()))
    assert written == ["same", "same"]


def test_an_invalid_schema_of_a_tool_added_later_is_reported_to_the_model() -> None:
    scheduler = Scheduler([speak])
    scheduler.tools["bad"] = Tool(ToolDefinition("bad", "", {"type": "objekt"}), print)
    assert "not a JSON schema" in ran(scheduler, ("bad", {}), ("speak", {})).texts[0]


# -- tools that raise --------------------------------------------------------------------------------------------------


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("not even that")


RAISED = [
    ValueError("too bad"),
    ValueError(),
    KeyError("k"),
    Unprintable(),
    StopIteration(3),
    StopAsyncIteration(),
    SystemExit(3),
    KeyboardInterrupt(),
    GeneratorExit(),
    asyncio.CancelledError("mine"),
    TimeoutError("slow"),
    BaseExceptionGroup("many", [ValueError("one"), KeyboardInterrupt()]),
    RecursionError(),
    MemoryError(),
]


@pytest.mark.parametrize("error", RAISED, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("how", ["plain", "async", "late"])
def test_any_exception_of_a_tool_becomes_an_error_result_and_the_rest_continues(error: BaseException, how: str) -> None:
    def plain() -> None:
        raise error

    async def immediately() -> None:
        raise error

    async def late() -> None:
        await asyncio.sleep(0)
        raise error

    function = {"plain": plain, "async": immediately, "late": late}[how]
    first, second = ran(Scheduler([tool(function, name="raises"), speak]), ("raises", {}), ("speak", {})).results
    assert first.is_error and not first.synthetic and text_of(first)
    if not isinstance(error, asyncio.CancelledError | StopIteration | StopAsyncIteration):
        assert type(error).__name__ in text_of(first)
    if isinstance(error, asyncio.CancelledError):
        assert text_of(first) == "The tool was cancelled; not by the user."
    assert not second.is_error


def test_a_handler_that_does_not_match_its_schema_is_reported() -> None:
    made = Tool(ToolDefinition("f"), lambda a: a)
    for arguments in ({}, {"b": 1}, {"a": 1, "self": 2}):
        [text] = ran(Scheduler([made]), ("f", arguments)).texts
        assert "TypeError" in text


# -- time --------------------------------------------------------------------------------------------------------------


def test_a_tool_that_exceeds_its_timeout_is_stopped_and_the_model_gets_the_reason() -> None:
    stopped: list[str] = []

    async def endless() -> None:
        try:
            await asyncio.sleep(1000)
        finally:
            stopped.append("cleaned up")

    notebook = ran(Scheduler([tool(endless, timeout=0.01), speak], limits=BRIEF), ("endless", {}), ("speak", {}))
    assert stopped and "did not finish within 0.01 seconds and was stopped" in notebook.texts[0]
    assert [each.is_error for each in notebook.results] == [True, False]


def test_the_timeout_of_the_scheduler_applies_to_tools_without_one() -> None:
    async def endless() -> None:
        await asyncio.sleep(1000)

    [text] = ran(Scheduler([endless], limits=ToolLimits(timeout=0.01)), ("endless", {})).texts
    assert "0.01 seconds" in text


def test_a_timeout_may_be_infinite() -> None:
    assert ran(Scheduler([tool(speak, timeout=float("inf"))]), ("speak", {})).texts == ["none"]


def test_a_thread_that_hangs_is_abandoned_and_its_late_result_dropped() -> None:
    release = threading.Event()

    def hang() -> str:
        release.wait(HANGS)
        return "late"

    async def work() -> Notebook:
        notebook = Notebook(calls_of(("hang", {}), ("speak", {})))
        async with Scheduler([tool(hang, timeout=0.01), speak], limits=BRIEF) as scheduler:
            await scheduler.run(notebook.calls, notebook, notebook.emit)
            release.set()
            await asyncio.to_thread(join_tools)
            await asyncio.sleep(0)  # its value has reached the loop
        return notebook

    notebook = run(work)
    complete(notebook)
    assert "could not be stopped" in notebook.texts[0] and notebook.texts[1] == "none"


def test_a_tool_that_returns_after_being_stopped_has_its_result() -> None:
    async def stubborn() -> str:
        try:
            await asyncio.sleep(1000)
        except asyncio.CancelledError:
            return "done anyway"
        return "never"

    def slow() -> str:
        time.sleep(0.1)
        return "done late"

    tools = [tool(stubborn, timeout=0.01), tool(slow, timeout=0.01)]
    notebook = ran(Scheduler(tools, limits=ToolLimits(grace=HANGS)), ("stubborn", {}), ("slow", {}))
    assert notebook.texts == ["done anyway", "done late"] and not any(each.is_error for each in notebook.results)


# -- the journal and emit ----------------------------------------------------------------------------------------------


class Full(Exception):
    """The disk is full."""


@settings(max_examples=30)
@given(st.integers(0, 9))
def test_errors_of_the_journal_are_raised_after_everything_is_stopped(at: int) -> None:
    ended: list[str] = []

    async def watched() -> str:
        try:
            await asyncio.sleep(0.001)
            return "x"
        finally:
            ended.append("x")

    class Broken(Notebook):
        async def _write(self) -> None:
            if len(self.events) == at:
                raise Full("no space left")
            await super()._write()

    async def work() -> None:
        notebook = Broken(calls_of(*[("watched", {})] * 5))
        with pytest.raises(Full):
            await Scheduler([watched], limits=BRIEF).run(notebook.calls, notebook)
        assert len(ended) == len(notebook.begun)

    run(work)


def test_errors_of_emit_are_raised_after_the_results_are_written() -> None:
    notebook = Notebook(calls_of(("speak", {}), ("speak", {})))

    def emit(state: Any) -> None:
        raise Full("no window")

    async def work() -> None:
        with pytest.raises(Full):
            await Scheduler([speak]).run(notebook.calls, notebook, emit)

    run(work)
    assert len(notebook.results) == 2
