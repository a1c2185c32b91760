"""The events of a turn or of a whole run, handed out while it goes on in a task of its own.

A consumer that is slow or goes away does not break the turn: the log is written by the task. ``cancel()`` ends the
turn, and so does leaving ``async with`` before its end.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from ..tools.waiting import until_done
from ..types import AssistantMessage
from .events import TurnEnd, TurnEvent

Emit = Callable[[TurnEvent], None]

R = TypeVar("R")

_running: set["asyncio.Task[Any]"] = set()
"""An event loop alone does not keep a task: a turn whose consumer has gone away must not vanish."""


class EventStream(ABC, Generic[R]):
    """An async iterator of what ``run`` tells, and what it gives in the end."""

    def __init__(self, run: Callable[[Emit], Coroutine[Any, Any, R]]) -> None:
        self._run = run
        self._events: asyncio.Queue[TurnEvent | None] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None
        self._cancelled = False
        self._settled = False
        self._error: BaseException | None = None
        self._result: R | None = None

    @abstractmethod
    def _unbegun(self) -> R:
        """What comes of it when it is cancelled before it has begun."""

    @abstractmethod
    def _last(self, result: R) -> TurnEvent | None:
        """The last event, if ``run`` has not told it."""

    def __aiter__(self) -> Self:
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

    async def __aenter__(self) -> Self:
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

    async def finished(self) -> R:
        """Wait for the end; the events need not be read."""
        async for _ in self:
            pass
        assert self._result is not None
        return self._result

    def _start(self) -> None:
        if self._task is None:
            self._task = asyncio.create_task(self._ran())
            self._task.add_done_callback(self._over)
            _running.add(self._task)
            self._task.add_done_callback(_running.discard)
            if self._cancelled:
                self._task.cancel()

    async def _ran(self) -> None:
        # Kept here: a task that is cancelled in its very last step loses what it returns.
        self._result = await self._run(self._events.put_nowait)

    async def _closed(self) -> None:
        if self._task is not None:
            self.cancel()
            try:
                await until_done(self._task)
            finally:
                self._over(self._task)

    def _over(self, task: "asyncio.Task[None]") -> None:
        if self._settled:
            return
        self._settled = True
        if not task.cancelled():
            self._error = task.exception()
        elif self._result is None:  # it had not begun
            self._result = self._unbegun()
        last = None if self._result is None else self._last(self._result)
        if last is not None:
            self._events.put_nowait(last)
        self._events.put_nowait(None)

    def _complain(self) -> None:
        """Raise what went wrong, once."""
        error, self._error = self._error, None
        if error is not None:
            raise error


class TurnStream(EventStream[TurnEnd]):
    """An async iterator of what happens in a turn; the last event is ``turn_end``."""

    @property
    def end(self) -> TurnEnd | None:
        """How the turn ended, once it is over."""
        return self._result

    @property
    def message(self) -> AssistantMessage | None:
        """The final answer, once the turn is over."""
        return None if self.end is None else self.end.message

    def _unbegun(self) -> TurnEnd:
        return TurnEnd("cancelled", None)

    def _last(self, result: TurnEnd) -> TurnEvent | None:
        return result
