"""A batch: all calls of one answer, from their validation to their results.

One coroutine emits all states and writes all results. It prepares the calls and runs them in groups. A result is
written as soon as it exists, whichever calls still run, and the end of a call is emitted only after that: a crash
loses nothing that was reported.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Protocol

from ..types import TextContent, ToolCall, ToolResultMessage
from ..waiting import outcome, until_done
from . import call_texts
from .batch_call import BatchCall, Final
from .preparation import Preparation
from .states import CallState, State
from .supervise import supervise

if TYPE_CHECKING:
    from .scheduler import Scheduler


class Journal(Protocol):
    """The only writer of calls and results; implemented by the turn."""

    async def started(self, call: ToolCall) -> None:
        """Awaited before a call executes: from then on its outcome counts as unknown."""

    async def finished(self, result: ToolResultMessage) -> None:
        """Awaited once for each call, when it has its result. The end of the call is emitted when this has returned."""


class Batch:
    """The calls of one answer, while they run."""

    def __init__(
        self, scheduler: "Scheduler", calls: Sequence[ToolCall], journal: Journal, emit: Callable[[CallState], None]
    ) -> None:
        self.scheduler, self.journal, self.emit = scheduler, journal, emit
        self.items = [BatchCall(call, scheduler.limits) for call in calls]
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._closing: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._preparation = Preparation(scheduler, self._closing, self._emit)
        self._emit_error: Exception | None = None
        """The first exception that ``emit`` raised. It is raised again when everything is written."""

    async def run(self) -> None:
        """Run all calls to their ends. On a cancellation every call gets its result before that is raised."""
        try:
            await self._run()
        except asyncio.CancelledError:
            await outcome(asyncio.ensure_future(self._finish_cancelled()))
            raise
        except BaseException:  # the journal failed
            await until_done(asyncio.ensure_future(self._stop_and_wait()))
            raise
        finally:
            self.over.set_result(None)
        if self._emit_error is not None:
            raise self._emit_error

    def stop(self) -> None:
        """Cancel the running calls and do not run the others, because the scheduler is closed."""
        if not self._closing.done():
            self._closing.set_result(None)
        _cancel_tasks(self.items)

    async def _run(self) -> None:
        for item in self.items:
            self._preparation.check(item)
        await self._write()
        for item in self.items:
            if item.final is None:
                await self._preparation.approve(item)
                await self._write()
        for group in _groups([item for item in self.items if item.final is None]):
            await self._run_group(group)

    # -- running -----------------------------------------------------------------------------------------------------

    async def _run_group(self, group: list[BatchCall]) -> None:
        """Run a group, started in order, with as many calls at a time as the limits allow."""
        waiting, running = deque(group), list[BatchCall]()
        while waiting or running:
            while waiting and len(running) < self.scheduler.limits.parallel:
                item = waiting.popleft()
                await self._start(item)
                running += [item] if item.is_running else []
            running = await self._wait_for_one(running)

    async def _start(self, item: BatchCall) -> None:
        if self._preparation.is_closed(item):
            return
        await outcome(asyncio.ensure_future(self.journal.started(item.call)))
        self._emit(item, "executing")
        item.task = asyncio.create_task(supervise(item, self.scheduler.abandon))

    async def _wait_for_one(self, running: list[BatchCall]) -> list[BatchCall]:
        """Wait until one of the calls has ended, and write the results. Returns the calls that still run."""
        tasks = [item.task for item in running if item.task is not None]
        if tasks:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        _collect(running)
        await self._write()
        return [item for item in running if item.is_running]

    # -- after a cancellation or an error ----------------------------------------------------------------------------

    async def _finish_cancelled(self) -> None:
        """Write the results that exist, cancel the calls that wait, then stop the running ones and write theirs."""
        running = [item for item in self.items if item.is_running]
        _collect(running)
        for item in self.items:
            if item.task is None and item.final is None:
                item.cancel(call_texts.CANCELLED)
        _cancel_tasks(running)
        await self._write()
        while running:
            running = await self._wait_for_one(running)

    async def _stop_and_wait(self) -> None:
        tasks = _cancel_tasks(self.items)
        if tasks:
            await asyncio.wait(tasks)

    # -- writing and reporting ---------------------------------------------------------------------------------------

    async def _write(self) -> None:
        """Write the results that are not written yet."""
        for item in self.items:
            if item.final is not None and not item.is_written:
                item.is_written = True  # the write completes even if this task is cancelled meanwhile
                await outcome(asyncio.ensure_future(self._record(item, item.final)))

    async def _record(self, item: BatchCall, final: Final) -> None:
        """Write a result, then emit the end of its call."""
        await self.journal.finished(final.result)
        text = next((block.text for block in final.result.content if isinstance(block, TextContent)), "")
        self._emit(item, final.state, "" if final.state == "success" else text)

    def _emit(self, item: BatchCall, state: State, detail: str = "") -> None:
        try:
            self.emit(CallState(item.call, state, detail))
        except Exception as error:  # noqa: BLE001, foreign code; the results are written first
            self._emit_error = self._emit_error or error


def _collect(running: list[BatchCall]) -> None:
    """Read the results of the tasks that have ended."""
    for item in running:
        if item.task is None or item.final is not None or not item.task.done():
            continue
        if item.task.cancelled():  # before its first step
            item.cancel(call_texts.CANCELLED)
        else:
            item.final = item.task.result()


def _cancel_tasks(items: list[BatchCall]) -> "list[asyncio.Task[Final]]":
    tasks = [item.task for item in items if item.task is not None]
    for task in tasks:
        task.cancel()
    return tasks


def _groups(items: list[BatchCall]) -> list[list[BatchCall]]:
    """Neighbouring calls that may run at the same time; a call that must run alone is a group of its own."""
    found: list[list[BatchCall]] = []
    for alone, group in groupby(items, lambda item: item.tool is not None and item.tool.alone):
        members = list(group)
        found += [[item] for item in members] if alone else [members]
    return found
