"""A journal that checks what is written to it, and helpers to run batches and inspect their results."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import psutil

from segue.tools import CallState, Scheduler, ToolLimits
from segue.types import TextContent, ToolCall, ToolResultMessage

from .waiting import HANGS

GENEROUS = HANGS
"""Seconds after which a test counts as hanging."""
BRIEF = ToolLimits(grace=0.05)
ORDER = ["validating", "awaiting approval", "scheduled", "executing", "success", "error", "cancelled"]
FINAL_STATES = {"success", "error", "cancelled"}


class Notebook:
    """Keeps what is written, and fails on what must never be written."""

    def __init__(self, calls: list[ToolCall], pause: float = 0) -> None:
        self.calls = calls
        self.pause = pause
        self.begun: list[str] = []
        self.written: list[ToolResultMessage] = []
        """The results in the order of completion."""
        self.events: list[str] = []
        self.states: dict[str, list[str]] = {call.id: [] for call in calls}
        self._writing = False

    async def started(self, call: ToolCall) -> None:
        assert call.id not in self.begun
        await self._write()
        self.begun.append(call.id)
        self.events.append(f"started {call.id}")

    async def finished(self, result: ToolResultMessage) -> None:
        assert result.tool_call_id in self.states
        assert result.tool_call_id not in [each.tool_call_id for each in self.written], "a second result"
        await self._write()
        self.written.append(result)
        self.events.append(f"finished {result.tool_call_id}")

    async def _write(self) -> None:
        assert not self._writing, "two at a time"
        self._writing = True
        await asyncio.sleep(self.pause)
        self._writing = False

    def emit(self, state: CallState) -> None:
        emitted = self.states[state.call.id]
        assert not emitted or ORDER.index(emitted[-1]) < ORDER.index(state.state)
        assert not set(emitted) & FINAL_STATES, "a state after the last one"
        if state.state in FINAL_STATES:
            written = [each.tool_call_id for each in self.written]
            assert state.call.id in written, "its end is reported before its result is written"
        emitted.append(state.state)

    @property
    def results(self) -> list[ToolResultMessage]:
        """The results in the order of the calls."""
        order = [call.id for call in self.calls]
        return sorted(self.written, key=lambda result: order.index(result.tool_call_id))

    @property
    def texts(self) -> list[str]:
        return [text_of(result) for result in self.results]


def text_of(result: ToolResultMessage) -> str:
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))


def calls_of(*wanted: tuple[str, dict[str, Any]]) -> list[ToolCall]:
    return [ToolCall(f"c{at}", name, arguments) for at, (name, arguments) in enumerate(wanted)]


def complete(notebook: Notebook) -> None:
    """Check that every call has one result with its name, and one end."""
    assert [(each.tool_call_id, each.tool_name) for each in notebook.results] == [
        (call.id, call.name) for call in notebook.calls
    ]
    for result in notebook.results:
        assert result.content and (text_of(result) or len(result.content) > 0)
        emitted = notebook.states[result.tool_call_id]
        assert emitted[0] == "validating" and emitted[-1] in FINAL_STATES
        assert (emitted[-1] == "success") == (not result.is_error)
        assert (emitted[-1] == "cancelled") == result.synthetic


def run(work: Callable[[], Awaitable[Any]]) -> Any:
    """Run it in its own event loop, in which no task may be left."""

    async def watched() -> Any:
        async with asyncio.timeout(GENEROUS):
            value = await work()
        left = asyncio.all_tasks() - {asyncio.current_task()}
        assert not left, left
        return value

    return asyncio.run(watched())


def ran(scheduler: Scheduler, *wanted: tuple[str, dict[str, Any]]) -> Notebook:
    """Run one batch to its end."""
    notebook = Notebook(calls_of(*wanted))

    async def work() -> None:
        async with scheduler:
            await scheduler.run(notebook.calls, notebook, notebook.emit)

    run(work)
    complete(notebook)
    return notebook


def processes() -> set[int]:
    """Child processes of this one, and their children."""
    return {each.pid for each in psutil.Process().children(recursive=True)}


def waiting_threads() -> list[threading.Thread]:
    """Threads that would keep the program from ending."""
    return [each for each in threading.enumerate() if not each.daemon and each is not threading.main_thread()]
