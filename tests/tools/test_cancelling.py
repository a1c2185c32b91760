"""Cancelled at any point, every call of a batch has exactly one correct result, and nothing is left running."""

import asyncio
import threading
import time
from collections.abc import Sequence
from typing import Any

import anyio
import pytest
from hypothesis import given, settings, strategies as st
from support.batches import BRIEF, Notebook, calls_of, complete, run, text_of, waiting_threads
from support.providers import MODELS
from support.waiting import HANGS, join_tools

import segue
from segue.tools import Allow, Approval, ApprovalRequest, Scheduler, ToolLimits, tool
from segue.types import AssistantMessage, Context, ToolCall, UserMessage

NOT_RUN = "This call was not run: the turn was cancelled before it started."


class Effects:
    """Tools of every kind that record when they began and when they were done."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.done: list[str] = []
        self.released = threading.Event()

    async def loop(self, mark: str, steps: int) -> str:
        self.begun.append(mark)
        for _ in range(steps):
            await asyncio.sleep(0)
        self.done.append(mark)
        return f"did {mark}"

    async def clinging(self, mark: str, steps: int) -> str:
        """Ignores the first cancellation and returns."""
        self.begun.append(mark)
        try:
            await asyncio.sleep(steps / 1000)
        except asyncio.CancelledError:
            await asyncio.sleep(0.001)
        self.done.append(mark)
        return f"did {mark}"

    def thread(self, mark: str, steps: int) -> str:
        self.begun.append(mark)
        self.released.wait(steps / 1000)
        self.done.append(mark)
        return f"did {mark}"

    async def raising(self, mark: str, steps: int) -> str:
        self.begun.append(mark)
        try:
            await asyncio.sleep(steps / 1000)
        finally:
            self.done.append(mark)
            raise SystemExit(mark)

    async def approve(self, request: ApprovalRequest) -> Approval:
        await asyncio.sleep(0)
        return Allow()

    def scheduler(self, parallel: int) -> Scheduler:
        tools = [
            tool(self.loop),
            tool(self.loop, name="asks", approval=True),
            tool(self.loop, name="alone", alone=True),
            tool(self.clinging),
            tool(self.thread),
            tool(self.raising),
        ]
        return Scheduler(tools, approve=self.approve, limits=ToolLimits(parallel=parallel, grace=0.05))


KINDS = ["loop", "asks", "alone", "clinging", "thread", "raising", "unknown"]
BATCHES = st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 12)), min_size=5, max_size=5)
WAYS = st.sampled_from(["task", "twice", "scope", "timeout", "close"])


def check_results(notebook: Notebook, effects: Effects) -> None:
    """Every result is correct: a call reported as not run has not run, and the others have."""
    complete(notebook)
    for result, call in zip(notebook.results, notebook.calls, strict=True):
        mark, text = call.arguments["mark"], text_of(result)
        if "was not run" in text:
            assert mark not in effects.begun
        elif result.synthetic:
            assert call.id in notebook.begun and mark in effects.begun
        elif not result.is_error:
            assert mark in effects.done and text == f"did {mark}"
    for mark in effects.begun:
        assert f"c{mark}" in notebook.begun


def lints_clean(notebook: Notebook) -> None:
    """The history can be sent to any provider as it is."""
    origin = MODELS["anthropic-messages"]
    answer = AssistantMessage(
        content=list(notebook.calls),
        protocol=origin.protocol,
        provider=origin.provider,
        model=origin.id,
        stop_reason="toolUse",
    )
    context = Context(messages=[UserMessage("Go"), answer, *notebook.results])
    for model in MODELS.values():
        body = segue.encode(context, model).body
        assert not [each for each in segue.lint(body, model.protocol, model) if each.severity == "error"]


async def interrupted(scheduler: Scheduler, notebook: Notebook, way: str, ticks: int, pause: float) -> None:
    """Run a batch and interrupt it after ``ticks`` steps of the loop and ``pause`` seconds."""

    async def wait() -> None:
        for _ in range(ticks):
            await asyncio.sleep(0)
        if pause:
            await asyncio.sleep(pause)

    running = scheduler.run(notebook.calls, notebook, notebook.emit)
    if way == "scope":
        async with anyio.create_task_group() as group:
            group.start_soon(scheduler.run, notebook.calls, notebook, notebook.emit)
            await asyncio.sleep(0)
            await wait()
            group.cancel_scope.cancel()
        running.close()
        return
    if way == "timeout":
        try:
            async with asyncio.timeout(pause + ticks / 10_000):
                await running
        except TimeoutError:
            pass
        return
    task = asyncio.create_task(running)
    await asyncio.sleep(0)
    await wait()
    if way == "close":
        await scheduler.aclose()
    else:
        task.cancel()
    if way == "twice":
        await asyncio.sleep(0)
        task.cancel()
    await asyncio.wait([task])
    assert task.cancelled() or task.exception() is None


@settings(max_examples=settings.default.max_examples)
@given(BATCHES, WAYS, st.integers(0, 60), st.sampled_from([0, 0, 0.001, 0.005]), st.sampled_from([1, 3, 8]))
def test_cancelled_at_any_point_each_call_has_one_correct_result(
    wanted: list[tuple[str, int]], way: str, ticks: int, pause: float, parallel: int
) -> None:
    effects, before = Effects(), waiting_threads()
    notebook = Notebook(
        calls_of(*[(kind, {"mark": str(at), "steps": steps}) for at, (kind, steps) in enumerate(wanted)]),
        pause=pause / 5,
    )

    async def work() -> None:
        scheduler = effects.scheduler(parallel)
        await interrupted(scheduler, notebook, way, ticks, pause)
        await scheduler.aclose()

    run(work)  # checks that no task is left
    effects.released.set()
    join_tools()  # a thread may begin late
    check_results(notebook, effects)
    lints_clean(notebook)
    assert not set(waiting_threads()) - set(before)


def cancel_running(
    tools: list[Any], names: list[str], limits: ToolLimits = BRIEF, done: Sequence[str] = ()
) -> Notebook:
    """Cancel a batch when all calls have started, and the calls ``done`` have ended."""
    notebook = Notebook(calls_of(*[(name, {}) for name in names]))

    async def work() -> None:
        async with Scheduler(tools, limits=limits) as scheduler:
            task = asyncio.create_task(scheduler.run(notebook.calls, notebook, notebook.emit))
            while len(notebook.begun) < len(names) or not all("success" in notebook.states[call] for call in done):
                await asyncio.sleep(0.001)
            for _ in range(10):  # more steps than it takes from the start of a call to its function
                await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    run(work)
    complete(notebook)
    return notebook


def test_finished_results_are_kept_and_running_calls_are_reported_as_unknown() -> None:
    async def quick() -> str:
        return "ready"

    async def endless() -> None:
        await asyncio.sleep(1000)

    names, limits = ["endless", "quick", "endless"], ToolLimits(grace=HANGS)
    first, second, third = cancel_running([quick, endless], names, limits, done=["c1"]).results
    assert text_of(second) == "ready" and not second.is_error and not second.synthetic
    for result in (first, third):
        assert result.synthetic and result.is_error
        assert text_of(result) == "The turn was cancelled while this call ran; whether it had an effect is not known."


def test_waiting_calls_end_immediately_as_not_run() -> None:
    began: list[int] = []

    async def endless(number: int) -> None:
        began.append(number)
        await asyncio.sleep(1000)

    async def work() -> Notebook:
        notebook = Notebook(calls_of(*[("endless", {"number": number}) for number in range(4)]))
        scheduler = Scheduler([endless], limits=ToolLimits(parallel=2, grace=0.05))
        task = asyncio.create_task(scheduler.run(notebook.calls, notebook, notebook.emit))
        while len(began) < 2:
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        return notebook

    notebook = run(work)
    complete(notebook)
    assert notebook.texts[2:] == [NOT_RUN, NOT_RUN] and notebook.begun == ["c0", "c1"]


def test_a_tool_that_returns_after_the_cancellation_has_its_result_if_it_is_quick() -> None:
    async def finishes() -> str:
        try:
            await asyncio.sleep(1000)
        except asyncio.CancelledError:
            await asyncio.sleep(0.01)
            return "rolled back"
        return ""

    def slow() -> str:
        time.sleep(0.1)
        return "done"

    notebook = cancel_running([finishes, slow], ["finishes", "slow"], ToolLimits(grace=HANGS))
    assert notebook.texts == ["rolled back", "done"] and not any(each.synthetic for each in notebook.results)


def test_a_call_that_cannot_be_stopped_is_reported_and_its_late_result_dropped() -> None:
    release, over = threading.Event(), threading.Event()

    def hangs() -> str:
        release.wait(HANGS)
        over.set()
        return "late"

    notebook = cancel_running([hangs], ["hangs"])
    release.set()
    assert over.wait(HANGS)
    assert "could not be stopped and may still have an effect" in notebook.texts[0] and len(notebook.results) == 1


def test_a_coroutine_that_does_not_end_is_abandoned_and_ended_with_the_scheduler() -> None:
    cancellations: list[int] = []

    async def deaf() -> None:
        while len(cancellations) < 3:
            try:
                await asyncio.sleep(1000)
            except asyncio.CancelledError:
                cancellations.append(1)
                if len(cancellations) == 2:
                    raise

    [text] = cancel_running([deaf], ["deaf"]).texts
    assert "could not be stopped" in text and len(cancellations) == 2


def test_the_caller_is_cancelled_only_after_all_is_written_however_often_it_is_cancelled() -> None:
    async def endless() -> None:
        await asyncio.sleep(1000)

    async def work() -> Notebook:
        notebook = Notebook(calls_of(*[("endless", {})] * 3), pause=0.005)
        scheduler = Scheduler([endless], limits=BRIEF)
        task = asyncio.create_task(scheduler.run(notebook.calls, notebook, notebook.emit))
        while len(notebook.begun) < 3:
            await asyncio.sleep(0)
        while not task.done():
            task.cancel()
            await asyncio.sleep(0)
        assert task.cancelled()
        return notebook

    complete(run(work))


def test_an_error_of_the_journal_is_raised_instead_of_the_cancellation() -> None:
    class Broken(Notebook):
        async def finished(self, result: Any) -> None:
            raise OSError("no space left")

    async def endless() -> None:
        await asyncio.sleep(1000)

    async def work() -> None:
        notebook = Broken(calls_of(("endless", {})))
        task = asyncio.create_task(Scheduler([endless], limits=BRIEF).run(notebook.calls, notebook))
        while not notebook.begun:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(OSError, match="no space"):
            await task

    run(work)


def test_a_closed_scheduler_runs_nothing_and_reports_it() -> None:
    async def work() -> Notebook:
        notebook = Notebook(calls_of(("quick", {}), ("unknown", {})))
        scheduler = Scheduler([tool(lambda: "x", name="quick")])
        await scheduler.aclose()
        await scheduler.aclose()
        await scheduler.run(notebook.calls, notebook, notebook.emit)
        return notebook

    notebook = run(work)
    complete(notebook)
    assert "the session was closed" in notebook.texts[0] and not notebook.begun


def test_a_tool_may_close_the_scheduler_it_runs_in() -> None:
    async def work() -> Notebook:
        async def closes() -> str:
            await scheduler.aclose()
            return "closed"

        notebook = Notebook(calls_of(("closes", {}), ("closes", {})))
        scheduler = Scheduler([tool(closes, alone=True)], limits=BRIEF)
        await scheduler.run(notebook.calls, notebook, notebook.emit)
        return notebook

    complete(run(work))


def test_batches_within_batches_do_not_wait_for_each_other() -> None:
    async def work() -> Notebook:
        async def outer() -> str:
            inner = Notebook(calls_of(("inner", {})))
            await scheduler.run(inner.calls, inner)
            return inner.texts[0]

        scheduler = Scheduler([outer, tool(lambda: "deep", name="inner")], limits=ToolLimits(parallel=1))
        notebook = Notebook(calls_of(("outer", {}), ("outer", {})))
        await scheduler.run(notebook.calls, notebook)
        return notebook

    assert run(work).texts == ["deep", "deep"]


def test_a_scheduler_outlives_its_loops() -> None:
    scheduler = Scheduler([tool(lambda: "x", name="quick")])
    for _ in range(2):
        notebook = Notebook([ToolCall("c0", "quick", {})])
        run(lambda notebook=notebook: scheduler.run(notebook.calls, notebook))
        assert notebook.texts == ["x"]
