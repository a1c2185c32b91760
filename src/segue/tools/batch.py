"""The calls of one answer on their way to their results.

One coroutine does all the reporting and writing: the calls are checked, asked about, and run in groups. A result is
written as soon as it is there, whatever its call waits for, and the end of a call is reported after that: a crash loses
nothing that was reported.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Protocol

import msgspec

from ..errors import SettingError
from ..types import TextContent, ToolCall, ToolResultMessage
from ..types.text import copy_json
from ..waiting import for_a_while, outcome, until_done
from . import words
from .approval import Allow, AllowAlways, Asked, Deny, Edit
from .arguments import Checked, Misfit
from .asking import NoAnswer, answer
from .output import Ended, told
from .states import CallState, State
from .tool import Tool
from .work import Work

if TYPE_CHECKING:
    from .scheduler import Scheduler


class Journal(Protocol):
    """The one writer of what happens; given by the turn."""

    async def started(self, call: ToolCall) -> None:
        """Awaited before a call executes: from then on its outcome counts as unknown."""

    async def finished(self, result: ToolResultMessage) -> None:
        """Awaited once for each call, when it has its result; its end is reported when this has returned."""


class Item:
    """A call, and how far it has come."""

    def __init__(self, call: ToolCall) -> None:
        self.call = call
        self.tool: Tool | None = None
        self.checked: Checked | None = None
        self.note = ""
        """What is told before its result."""
        self.task: asyncio.Task[tuple[State, ToolResultMessage]] | None = None
        self.result: ToolResultMessage | None = None
        self.end: State = "cancelled"
        self.is_written = False
        """Whether its result is in the journal, or on its way there."""

    @property
    def runs(self) -> bool:
        return self.task is not None and self.result is None

    def answered(self, ended: Ended, synthetic: bool = False) -> ToolResultMessage:
        return ToolResultMessage(self.call.id, self.call.name, ended.content, ended.is_error, synthetic)


class Batch:
    """All calls of an answer, while they run."""

    def __init__(
        self, scheduler: "Scheduler", calls: Sequence[ToolCall], journal: Journal, emit: Callable[[CallState], None]
    ) -> None:
        self.scheduler, self.limits, self.journal, self.emit = scheduler, scheduler.limits, journal, emit
        self.items = [Item(call) for call in calls]
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._closing: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._complaint: Exception | None = None
        """What the one who is told has raised: it is passed on when everything is written."""

    async def run(self) -> None:
        """Run all to the end. When it is cancelled every call gets its result before that goes on."""
        try:
            await self._run()
        except asyncio.CancelledError:
            await outcome(asyncio.ensure_future(self._cancelled()))
            raise
        except BaseException:  # the journal failed
            await until_done(asyncio.ensure_future(self._stop_running()))
            raise
        finally:
            self.over.set_result(None)
        if self._complaint is not None:
            raise self._complaint

    def stop(self) -> None:
        """The scheduler is closed: what runs is cancelled, what waits is not run."""
        if not self._closing.done():
            self._closing.set_result(None)
        self._stop(self.items)

    async def _run(self) -> None:
        for item in self.items:
            self._check(item)
        await self._write()
        for item in self.items:
            if item.result is None:
                await self._ask(item)
                await self._write()
        ready = [item for item in self.items if item.result is None]
        for group in _groups(ready):
            await self._execute(group)

    # -- before it runs ----------------------------------------------------------------------------------------------

    def _check(self, item: Item) -> None:
        self._emit(item, "validating")
        item.tool = self.scheduler.tools.get(item.call.name)
        if item.tool is None:
            self._fail(item, words.unknown(item.call.name, list(self.scheduler.tools)))
            return
        try:
            item.checked = self.scheduler.arguments(item.tool).checked(item.call.arguments)
        except Misfit as error:
            self._fail(item, words.AGAIN.format(words.MISFIT.format(error)))
        except SettingError as error:  # a tool that was added later, with a schema that is none
            self._fail(item, words.NOT_RUN.format(error))

    async def _ask(self, item: Item) -> None:
        assert item.tool is not None
        asks = self._must_ask(item.tool) and not self._is_closed(item)
        refused = await self._refused(item, item.tool) if asks else None
        if refused is not None:
            self._fail(item, refused)
        elif item.result is None:
            self._emit(item, "scheduled")

    def _must_ask(self, tool: Tool) -> bool:
        return tool.approval and tool.name not in self.scheduler.always

    async def _refused(self, item: Item, tool: Tool) -> str | None:
        """Ask a person; what the model is told if the call must not run."""
        assert item.checked is not None
        self._emit(item, "awaiting approval")
        if self.scheduler.approve is None:
            return words.NOT_RUN.format(words.NOBODY)
        call = ToolCall(item.call.id, item.call.name, copy_json(item.checked.json), item.call.thought_signature)
        try:
            given = await answer(self.scheduler.approve, Asked(call, tool), self._closing, self.limits.grace)
        except NoAnswer as error:
            return words.NOT_RUN.format(words.NOT_ASKED.format(error))
        if isinstance(given, Deny):
            return words.denied(given.reason)
        if isinstance(given, AllowAlways):
            self.scheduler.always.add(tool.name)
        elif isinstance(given, Edit):
            return self._edited(item, tool, given)
        else:
            assert isinstance(given, Allow)
        return None

    def _edited(self, item: Item, tool: Tool, given: Edit) -> str | None:
        try:
            item.checked = self.scheduler.arguments(tool).checked(given.arguments)
        except Misfit as error:
            return words.NOT_RUN.format(words.EDITED_MISFIT.format(error))
        item.note = words.EDITED.format(msgspec.json.encode(item.checked.json).decode())
        return None

    # -- while it runs -----------------------------------------------------------------------------------------------

    async def _execute(self, group: list[Item]) -> None:
        """Run a group: as many at a time as may be, each started in its turn."""
        waiting, running = deque(group), list[Item]()
        while waiting or running:
            while waiting and len(running) < self.limits.parallel:
                item = waiting.popleft()
                await self._start(item)
                running += [item] if item.runs else []
            running = await self._next_ended(running)

    async def _next_ended(self, running: list[Item]) -> list[Item]:
        """Wait until one of them has ended, and write what there is to write; those that still run."""
        tasks = [item.task for item in running if item.task is not None]
        if tasks:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        self._collect(running)
        await self._write()
        return [item for item in running if item.runs]

    async def _start(self, item: Item) -> None:
        if self._is_closed(item):
            return
        await outcome(asyncio.ensure_future(self.journal.started(item.call)))
        self._emit(item, "executing")
        item.task = asyncio.create_task(self._supervise(item))

    def _is_closed(self, item: Item) -> bool:
        if self.scheduler.closed:
            self._cancel(item, words.CLOSED)
        return self.scheduler.closed

    async def _supervise(self, item: Item) -> tuple[State, ToolResultMessage]:
        """Run one call to its end, or to the end of our patience."""
        assert item.tool is not None and item.checked is not None
        limit = self.limits.timeout if item.tool.timeout is None else item.tool.timeout
        work = Work(item.tool, item.call, item.checked, self.limits, item.note)
        cancelled = False
        try:
            await asyncio.wait([work.future], timeout=None if limit == float("inf") else limit)
        except asyncio.CancelledError:
            cancelled = True
        if not work.future.done():
            work.stop()
            cancelled |= await for_a_while(work.future, self.limits.grace)
        if not work.future.done():
            self.scheduler.abandon(work)
            return self._given_up(item, cancelled, words.CANCELLED_STILL, words.TIMEOUT_STILL.format(limit))
        ended = work.future.result()
        if ended.stopped and work.stopped:
            return self._given_up(item, cancelled, words.CANCELLED_RUNNING, words.TIMEOUT.format(limit))
        return "error" if ended.is_error else "success", item.answered(ended)

    def _given_up(self, item: Item, cancelled: bool, broken_off: str, late: str) -> tuple[State, ToolResultMessage]:
        """A call that gave no result in time: whether the user had enough of it, or the clock."""
        ended = told(broken_off if cancelled else late, self.limits, item.note)
        return "cancelled" if cancelled else "error", item.answered(ended, synthetic=cancelled)

    def _collect(self, group: list[Item]) -> None:
        """Take the results of those that have ended."""
        for item in group:
            if item.task is None or item.result is not None or not item.task.done():
                continue
            if item.task.cancelled():  # before its first step
                self._cancel(item, words.CANCELLED)
            else:
                self._end(item, *item.task.result())

    async def _write(self) -> None:
        """Write the results that are there and are not written yet."""
        for item in self.items:
            if item.result is not None and not item.is_written:
                item.is_written = True  # what is begun here is done, even if we are cancelled meanwhile
                await outcome(asyncio.ensure_future(self._record(item, item.result)))

    async def _record(self, item: Item, result: ToolResultMessage) -> None:
        """Write a result; then, and not before, the end of its call is reported."""
        await self.journal.finished(result)
        text = next((block.text for block in result.content if isinstance(block, TextContent)), "")
        self._emit(item, item.end, "" if item.end == "success" else text)

    # -- when it is broken off ---------------------------------------------------------------------------------------

    async def _cancelled(self) -> None:
        """What has ended is written; what waits is not run; what runs is stopped, and written when it has ended."""
        running = [item for item in self.items if item.runs]
        self._collect(running)
        for item in self.items:
            if item.task is None and item.result is None:
                self._cancel(item, words.CANCELLED)
        self._stop(running)
        await self._write()
        while running:
            running = await self._next_ended(running)

    async def _stop_running(self) -> None:
        tasks = self._stop(self.items)
        if tasks:
            await asyncio.wait(tasks)

    def _stop(self, items: list[Item]) -> "list[asyncio.Task[tuple[State, ToolResultMessage]]]":
        tasks = [item.task for item in items if item.task is not None]
        for task in tasks:
            task.cancel()
        return tasks

    # -- states ------------------------------------------------------------------------------------------------------

    def _emit(self, item: Item, state: State, detail: str = "") -> None:
        try:
            self.emit(CallState(item.call, state, detail))
        except Exception as error:  # noqa: BLE001, the code of others; the results come first
            self._complaint = self._complaint or error

    def _fail(self, item: Item, text: str) -> None:
        self._end(item, "error", item.answered(told(text, self.limits)))

    def _cancel(self, item: Item, text: str) -> None:
        self._end(item, "cancelled", item.answered(told(text, self.limits), synthetic=True))

    def _end(self, item: Item, state: State, result: ToolResultMessage) -> None:
        item.end, item.result = state, result


def _groups(items: list[Item]) -> list[list[Item]]:
    """Neighbours that may run beside each other, together; one that runs alone by itself, in its place."""
    found: list[list[Item]] = []
    for alone, group in groupby(items, lambda item: item.tool is not None and item.tool.alone):
        members = list(group)
        found += [[item] for item in members] if alone else [members]
    return found
