"""A batch of five calls, cancelled at every point: each call has one result, the next request is valid for every
protocol, and nothing is left running."""

import asyncio
import os
import time
from collections import Counter
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from msgspec import Struct
from msgspec.structs import replace
from support.hanging import die, hang, nap
from support.providers import MODELS
from support.sessions import Providers, check, entries, nothing_is_lost, run, texts
from support.waiting import HANGS, tool_threads, until_async

import segue
from segue import Agent, AgentStream, Settings
from segue.session import CallStarted, SQLiteStore, Store
from segue.testing import Reply
from segue.tools import Allow, Scheduler, Tool, ToolLimits, tool
from segue.types import ThinkingContent, ToolCall, ToolResultMessage

ONE, OTHER = "anthropic-messages", "google-generative-ai"
QUICK = ToolLimits(parallel=3, grace=0.05)
MOMENTS = [0.0, 0.001, 0.004]
NUMBERS = count(1)


async def on_the_loop(wait: float) -> str:
    """Waits without blocking."""
    await asyncio.sleep(wait)
    return f"waited {wait}"


def in_a_thread(wait: float) -> str:
    """Blocks."""
    time.sleep(wait)
    return f"blocked {wait}"


async def stubborn(wait: float) -> str:
    """Delays its cancellation."""
    try:
        await asyncio.sleep(wait)
    except asyncio.CancelledError:
        await asyncio.sleep(0.001)
        return "late"
    return f"waited {wait}"


async def fails(wait: float) -> str:
    """Raises."""
    await asyncio.sleep(wait)
    raise OSError("no such thing")


def tools() -> list[Tool]:
    return [
        tool(on_the_loop),
        tool(in_a_thread),
        tool(stubborn),
        tool(fails),
        tool(nap, process=True),
        tool(on_the_loop, name="by_itself", alone=True),
        tool(on_the_loop, name="asked_first", approval=True),
    ]


async def approve(_: Any) -> Allow:
    await asyncio.sleep(0.001)
    return Allow()


NAMES = [each.name for each in tools() if not each.process]


def batch(calls: list[tuple[str, float]]) -> Reply:
    return Reply([ThinkingContent("Five."), *[ToolCall("", name, {"wait": wait}) for name, wait in calls]])


def holds(agent: Agent, calls: int = 5) -> None:
    """Each call has one result. The history is in the order of the calls, the log in the order of completion."""
    session = agent.session
    check(session)
    nothing_is_lost(session)
    asked = [each.id for message in session.messages for each in getattr(message, "tool_calls", [])]
    answered = [message.tool_call_id for message in session.messages if isinstance(message, ToolResultMessage)]
    assert answered == asked and len(set(answered)) == len(answered) == calls
    logged = [entry.message for entry in entries(session) if hasattr(entry, "message")]
    assert sorted(each.tool_call_id for each in logged if isinstance(each, ToolResultMessage)) == sorted(asked)


def left_running() -> list[str]:
    """Threads and worker processes of tools. Threads of the executor of the event loop are not counted."""
    threads = [each.name for each in tool_threads()]
    children = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, parent = stat.read_bytes().rpartition(b")")[2].split()[:2]
            command = (stat.parent / "cmdline").read_bytes().decode(errors="replace")
            if int(parent) == os.getpid() and state not in (b"Z", b"X") and "segue.tools.worker_main" in command:
                children.append(command)
    return threads + children


async def nothing_is_left() -> None:
    """Wait for threads, which cannot be stopped."""
    await until_async(lambda: not left_running())


class Point(Struct, frozen=True):
    """When a run is cancelled: the events of the batch, the steps of the event loop, and the time before that."""

    events: int
    steps: int
    seconds: float | None
    twice: bool
    file: bool


def points(moments: list[float]) -> st.SearchStrategy[Point]:
    return st.builds(
        Point,
        events=st.integers(0, 26),
        steps=st.integers(0, 6),
        seconds=st.sampled_from([None, *moments]),
        twice=st.booleans(),
        file=st.booleans(),
    )


async def reach(point: Point, events: AgentStream) -> None:
    async for event in events:
        if event.type == "done":
            break
    for _ in range(point.events):
        if (await anext(events, None)) is None:
            break
    for _ in range(point.steps):
        await asyncio.sleep(0)
    if point.seconds is not None:
        await asyncio.sleep(point.seconds)


async def cancelled(standins: Providers, store: Store, calls: list[tuple[str, float]], point: Point) -> None:
    """Run a batch, cancel it at ``point``, and continue with another family of models."""
    standins.clear()
    own = Settings(tool_limits=QUICK)
    connection = standins.connection
    async with Agent(MODELS[ONE], tools(), approve=approve, connection=connection, store=store, settings=own) as agent:
        asked = f"Go, for the {next(NUMBERS)}th time."
        standins.answer(ONE, asked, batch(calls), "Done.")
        async with agent.stream(asked) as events:
            await reach(point, events)
            events.cancel()
            if point.twice and events._task is not None:
                await asyncio.sleep(0)
                events._task.cancel()
            outcome = await events.finished()
        assert outcome.how in ("cancelled", "done")
        holds(agent)
        standins.clear()
        agent.switch(MODELS[OTHER])
        assert (await agent.run("And now?")).how == "done"
        assert len(texts(standins.sent(OTHER).messages)) == 5
        holds(agent)
    await nothing_is_left()
    assert not standins.objections()


def batches(names: list[str], moments: list[float]) -> st.SearchStrategy[list[tuple[str, float]]]:
    return st.lists(st.tuples(st.sampled_from(names), st.sampled_from(moments)), min_size=5, max_size=5)


@settings(max_examples=settings.default.max_examples // 2, suppress_health_check=list(HealthCheck))
@given(calls=batches(NAMES, MOMENTS), point=points(MOMENTS))
def test_each_call_of_a_batch_cancelled_anywhere_has_one_result(
    restless: Providers, tmp_path_factory: pytest.TempPathFactory, calls: list[tuple[str, float]], point: Point
) -> None:
    place = str(tmp_path_factory.mktemp("batch") / "s.db") if point.file else ":memory:"
    with SQLiteStore(place) as store:
        run(cancelled(restless, store, calls, point))


@settings(max_examples=max(4, settings.default.max_examples // 12), suppress_health_check=list(HealthCheck))
@given(calls=batches(["nap", "on_the_loop"], [0.0, 30.0]), point=points([0.05, 0.1, 0.2, 0.4]))
def test_a_batch_of_processes_cancelled_anywhere_leaves_none_running(
    restless: Providers, calls: list[tuple[str, float]], point: Point
) -> None:
    """While they start, run, or have ended."""
    with SQLiteStore(":memory:") as store:
        run(cancelled(restless, store, calls, replace(point, events=min(point.events, 12))))


@pytest.mark.parametrize("protocol", MODELS)
@pytest.mark.parametrize("at", range(6))
def test_every_protocol_accepts_the_history_of_a_cancelled_batch(providers: Providers, protocol: str, at: int) -> None:
    """Finished results are kept, running calls are unknown, and the others were not run."""

    async def talk() -> None:
        running = asyncio.Event()
        started = 0

        async def steps(number: int) -> str:
            """The first calls end immediately, and one hangs."""
            nonlocal started
            started += 1
            if number < at:
                return f"result {number}"
            running.set()
            await asyncio.sleep(3600)
            return ""

        limits = Settings(tool_limits=ToolLimits(parallel=1, grace=HANGS))
        async with Agent(MODELS[protocol], [tool(steps)], settings=limits, connection=providers.connection) as agent:
            providers[protocol].say(Reply([ToolCall("", "steps", {"number": each}) for each in range(5)]), "Done.")
            async with agent.stream("Go.") as events:
                if at < 5:
                    async with asyncio.timeout(HANGS):
                        await running.wait()
                    events.cancel()
                assert (await events.finished()).how == ("cancelled" if at < 5 else "done")
            holds(agent)
            results = [each for each in agent.session.messages if isinstance(each, ToolResultMessage)]
            assert texts(results[:at]) == [f"result {each}" for each in range(at)]
            assert [each.synthetic for each in results] == [False] * at + [True] * (5 - at)
            assert ["not known" in text for text in texts(results[at : at + 1])] == [True] * (at < 5)
            assert all("not run" in text for text in texts(results[at + 1 :]))
            ran = [entry for entry in entries(agent.session) if isinstance(entry, CallStarted)]
            assert len(ran) == started == min(at + 1, 5)
            assert (await agent.run("Go on.")).how == "done"

    run(talk())
    assert not providers.objections()


def test_a_cancellation_ends_the_process_of_a_tool(providers: Providers, tmp_path: Path) -> None:
    async def talk() -> None:
        note = tmp_path / "pid"
        hangs = tool(hang, process=True)
        async with Agent(
            MODELS[ONE], [hangs], settings=Settings(tool_limits=QUICK), connection=providers.connection
        ) as agent:
            providers[ONE].say(Reply([ToolCall("", "hang", {"note": str(note)})]))
            async with agent.stream("Go.") as events:
                await until_async(lambda: note.exists() and note.read_text())
                events.cancel()
            holds(agent, 1)
            assert (await agent.run("Go on.")).how == "done"
        await until_async(lambda: not _is_running(int(note.read_text())))

    run(talk())


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except OSError:
        return False


async def floods() -> str:
    """Returns too much."""
    return "x" * 5_000_000


async def exits() -> None:
    """Exits the program."""
    raise SystemExit(3)


def interrupts() -> None:
    """Raises a KeyboardInterrupt in a thread."""
    raise KeyboardInterrupt


async def binary() -> bytes:
    """Returns bytes."""
    return bytes(range(256))


async def hangs() -> None:
    """Hangs and cannot be stopped."""
    with suppress(asyncio.CancelledError):
        await asyncio.sleep(3600)
    await asyncio.sleep(0.2)


@pytest.mark.parametrize("protocol", MODELS)
def test_the_run_continues_whatever_tools_do(providers: Providers, tmp_path: Path, protocol: str) -> None:
    odd = [
        tool(floods),
        tool(exits),
        tool(interrupts),
        tool(binary),
        tool(hangs, timeout=0.05),
        tool(die, process=True),
    ]
    limits = Settings(tool_limits=ToolLimits(grace=0.05, output=2_000, directory=str(tmp_path)))

    async def talk() -> None:
        async with Agent(MODELS[protocol], odd, settings=limits, connection=providers.connection) as agent:
            providers[protocol].say(Reply([ToolCall("", each.name, {}) for each in odd]), "So be it.")
            assert (await agent.run("All of them.")).text == "So be it."
            holds(agent, len(odd))
            found = dict(zip([each.name for each in odd], texts(agent.session.messages), strict=True))
            assert max(map(len, found.values())) <= 2_000
            assert (
                "left out" in found["floods"] and "SystemExit" in found["exits"] and "Keyboard" in found["interrupts"]
            )
            assert "256 bytes" in found["binary"] and "0.05 seconds" in found["hangs"] and "died" in found["die"]
        await nothing_is_left()

    run(talk())
    assert not providers.objections()


def test_tool_limits_are_the_same_in_every_mode(providers: Providers, store: Store, tmp_path: Path) -> None:
    """The same five calls have the same results in an agent, a sub-agent and a session with a scheduler."""

    async def raises() -> None:
        """Raises."""
        raise ValueError("no")

    async def long() -> str:
        """Returns a long text."""
        return "x" * 10_000

    async def picture() -> bytes:
        """Returns an image."""
        return b"\x89PNG\r\n\x1a\n" + b"\0" * 20

    made = [tool(raises), tool(long), tool(picture)]
    names = ["long", "raises", "unknown", "picture", "long"]
    asked = Reply([ToolCall(f"toolu_{at}", name, {}) for at, name in enumerate(names)])
    limits = ToolLimits(output=500, directory=str(tmp_path))

    def results(session: segue.Session) -> list[Any]:
        found = [each for each in session.messages if isinstance(each, ToolResultMessage)]
        assert [each.tool_name for each in found] == names
        return [
            (each.tool_call_id, each.is_error, texts([each])[0].split("kept in")[0], len(each.content))
            for each in found
        ]

    async def talk() -> None:
        reach = providers.connection
        async with Agent(
            MODELS[ONE], made, store=store, settings=Settings(tool_limits=limits), connection=reach
        ) as agent:
            providers[ONE].say(asked, "Done.")
            await agent.run("Go.")
            chief = Agent(MODELS[OTHER], [agent.as_tool("worker", "")], store=store, connection=reach)
            providers[OTHER].say(Reply([ToolCall("w1", "worker", {"task": "Go."})]), "Done.")
            providers[ONE].say(asked, "Done.")
            await chief.run("Go.")
            await chief.aclose()
            [name] = [info.id for info in store.sessions() if info.parent]
            scheduler = Scheduler(made, limits=limits)
            session = providers.session(MODELS[ONE], store, tools=scheduler.definitions)
            providers[ONE].say(asked, "Done.")
            await session.ask("Go.", scheduler)
            await scheduler.aclose()
            assert results(agent.session) == results(session) == results(segue.Session.open(name, store=store))
            steps = [_steps(each) for each in (agent.session, session, segue.Session.open(name, store=store))]
            assert steps[0] == steps[1] == steps[2]

    run(talk())


def _steps(session: segue.Session) -> Counter[str]:
    return Counter(type(entry).__name__ for entry in entries(session) if type(entry).__name__ != "SystemPromptSet")
