"""The events of a turn, handed out while it runs in a task of its own.

A consumer that is slow or goes away does not break the turn: the log is written by the task. ``cancel()`` ends the
turn, and so does leaving ``async with`` before its end.
"""

import asyncio
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any

from ..types import AssistantMessage
from .events import TurnEnd, TurnEvent
from .waiting import until_done

Tell = Callable[[TurnEvent], None]

_running: set["asyncio.Task[TurnEnd]"] = set()
"""An event loop alone does not keep a task: a turn whose consumer has gone away must not vanish."""


class TurnStream:
    """An async iterator of what happens in a turn; the last event is ``turn_end``."""

    def __init__(self, run: Callable[[Tell], Coroutine[Any, Any, TurnEnd]]) -> None:
        self._run = run
        self._events: asyncio.Queue[TurnEvent | None] = asyncio.Queue()
        self._task: asyncio.Task[TurnEnd] | None = None
        self._cancelled = False
        self._settled = False
        self._error: BaseException | None = None
        self.end: TurnEnd | None = None

    @property
    def message(self) -> AssistantMessage | None:
        """The final answer, once the turn is over."""
        return None if self.end is None else self.end.message

    def __aiter__(self) -> "TurnStream":
        return self

    async def __anext__(self) -> TurnEvent:
        self._start()
        try:
            event = await self._events.get()
        except asyncio.CancelledError:  # the caller's task is cancelled: the turn goes with it
            await self._closed()
            raise
        if event is None:
            self._events.put_nowait(None)
            self._complain()
            raise StopAsyncIteration
        return event

    async def __aenter__(self) -> "TurnStream":
        self._start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._closed()
        if error is None:
            self._complain()

    def cancel(self) -> None:
        """End the turn: what had arrived is stored, calls that have no result get one, and ``turn_end`` says so."""
        if self._task is not None and not self._cancelled:  # a second time would disturb the closing of the log
            self._task.cancel()
        self._cancelled = True

    async def aclose(self) -> None:
        """End the turn, if it still runs, and wait until the log is closed."""
        await self._closed()
        self._complain()

    async def finished(self) -> TurnEnd:
        """Wait for the end of the turn; its events need not be read."""
        async for _ in self:
            pass
        assert self.end is not None
        return self.end

    def _start(self) -> None:
        if self._task is None:
            self._task = asyncio.create_task(self._run(self._events.put_nowait))
            self._task.add_done_callback(self._over)
            _running.add(self._task)
            self._task.add_done_callback(_running.discard)
            if self._cancelled:
                self._task.cancel()

    async def _closed(self) -> None:
        if self._task is not None:
            self.cancel()
            try:
                await until_done(self._task)
            finally:
                self._over(self._task)

    def _over(self, task: "asyncio.Task[TurnEnd]") -> None:
        if self._settled:
            return
        self._settled = True
        if task.cancelled():  # before the turn had begun
            self.end = TurnEnd("cancelled", None)
        elif (error := task.exception()) is not None:
            self._error = error
        else:
            self.end = task.result()
        if self.end is not None:
            self._events.put_nowait(self.end)
        self._events.put_nowait(None)

    def _complain(self) -> None:
        """Raise what went wrong, once."""
        error, self._error = self._error, None
        if error is not None:
            raise error
