"""The events of a turn or of a run, streamed while it runs in its own task.

A consumer that is slow or stops reading does not break the turn: the task writes the log. ``cancel()`` ends the turn,
and so does leaving ``async with`` before its end.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from ..types import AssistantMessage
from ..waiting import until_done
from .events import Emit, TurnEnd, TurnEvent

R = TypeVar("R")

_running: set["asyncio.Task[Any]"] = set()
"""The event loop keeps only weak references to tasks; a turn without a consumer must not be collected."""


class EventStream(ABC, Generic[R]):
    """An async iterator over the events that ``run`` emits. Its return value is the result."""

    def __init__(self, run: Callable[[Emit], Coroutine[Any, Any, R]]) -> None:
        self._run = run
        self._events: asyncio.Queue[TurnEvent | None] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None
        self._cancelled = False
        self._ended = False
        self._error: BaseException | None = None
        self._result: R | None = None

    @abstractmethod
    def _not_started(self) -> R:
        """The result if it is cancelled before it has started."""

    @abstractmethod
    def _last_event(self, result: R) -> TurnEvent | None:
        """The last event, if ``run`` has not emitted it."""

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> TurnEvent:
        self._start()
        try:
            event = await self._events.get()
        except asyncio.CancelledError:  # the caller's task is cancelled, and so the turn is cancelled, too
            await self._close()
            raise
        if event is None:
            self._events.put_nowait(None)
            self._raise_error()
            raise StopAsyncIteration
        return event

    async def __aenter__(self) -> Self:
        self._start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._close()
        if error is None:
            self._raise_error()

    def cancel(self) -> None:
        """End the turn. What had arrived is stored, calls without a result get one, and ``turn_end`` is emitted."""
        if self._task is not None and not self._cancelled:  # a second time would disturb the closing of the log
            self._task.cancel()
        self._cancelled = True

    async def aclose(self) -> None:
        """End the turn if it is still running, and wait until it is closed in the log."""
        await self._close()
        self._raise_error()

    async def finished(self) -> R:
        """Wait for the end and return the result. The events need not be read."""
        async for _ in self:
            pass
        assert self._result is not None
        return self._result

    def _start(self) -> None:
        if self._task is None:
            self._task = asyncio.create_task(self._run_task())
            self._task.add_done_callback(self._end)
            _running.add(self._task)
            self._task.add_done_callback(_running.discard)
            if self._cancelled:
                self._task.cancel()

    async def _run_task(self) -> None:
        # Not returned: a task that is cancelled in its very last step loses its return value.
        self._result = await self._run(self._events.put_nowait)

    async def _close(self) -> None:
        if self._task is not None:
            self.cancel()
            try:
                await until_done(self._task)
            finally:
                self._end(self._task)

    def _end(self, task: "asyncio.Task[None]") -> None:
        if self._ended:
            return
        self._ended = True
        if not task.cancelled():
            self._error = task.exception()
        elif self._result is None:
            self._result = self._not_started()
        last = None if self._result is None else self._last_event(self._result)
        if last is not None:
            self._events.put_nowait(last)
        self._events.put_nowait(None)

    def _raise_error(self) -> None:
        """Raise the error of the task, once."""
        error, self._error = self._error, None
        if error is not None:
            raise error


class TurnStream(EventStream[TurnEnd]):
    """An async iterator over the events of a turn; the last one is ``turn_end``."""

    @property
    def end(self) -> TurnEnd | None:
        """The last event, after the turn has ended."""
        return self._result

    @property
    def message(self) -> AssistantMessage | None:
        """The final answer, after the turn has ended."""
        return None if self.end is None else self.end.message

    def _not_started(self) -> TurnEnd:
        return TurnEnd("cancelled", None)

    def _last_event(self, result: TurnEnd) -> TurnEvent | None:
        return result
