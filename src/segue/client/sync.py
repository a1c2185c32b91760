"""Streams for synchronous callers, driven by one event loop in a background thread."""

import asyncio
import atexit
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from functools import cache
from types import TracebackType
from typing import Any, TypeVar

from ..errors import ProviderError
from ..render import Request
from ..types import AssistantMessage
from ..types.events import Event
from .stream import Stream

T = TypeVar("T")


class _Loop:
    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="segue", daemon=True)
        self._thread.start()
        atexit.register(self._stop)

    def run(self, act: Coroutine[Any, Any, T]) -> T:
        if threading.current_thread() is self._thread:
            act.close()
            raise RuntimeError("in an async function that segue runs, use await; a synchronous call would never return")
        task, done = self._start(act)
        try:
            done.wait()
        except BaseException:  # the caller was interrupted: what runs is cancelled, and may still close files and logs
            self.call(task.cancel)
            done.wait()
            raise
        return task.result()

    def _start(self, act: Coroutine[Any, Any, T]) -> "tuple[asyncio.Task[T], threading.Event]":
        started: Future[asyncio.Task[T]] = Future()
        done = threading.Event()

        def start() -> None:
            task = self._loop.create_task(act)
            task.add_done_callback(lambda _: done.set())
            started.set_result(task)

        self._loop.call_soon_threadsafe(start)
        return started.result(), done

    def call(self, act: Any) -> None:
        self._loop.call_soon_threadsafe(act)

    def _stop(self) -> None:
        self.run(self._loop.shutdown_asyncgens())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


@cache
def _loop() -> _Loop:
    return _Loop()


def run_sync(act: Coroutine[Any, Any, T]) -> T:
    """Run ``act`` in the background event loop and return its result."""
    return _loop().run(act)


class SyncStream:
    """A ``Stream`` for synchronous callers: an iterator of events; after the last one, ``message`` and ``error``."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    @property
    def request(self) -> Request:
        """The request that was sent."""
        return self._stream.request

    @property
    def message(self) -> AssistantMessage | None:
        """The answer, once the stream has ended."""
        return self._stream.message

    @property
    def error(self) -> ProviderError | None:
        """Why the answer failed, if it did."""
        return self._stream.error

    @property
    def attempts(self) -> int:
        """How often the request was sent."""
        return self._stream.attempts

    def __iter__(self) -> "SyncStream":
        return self

    def __next__(self) -> Event:
        event = run_sync(_next(self._stream))
        if event is None:
            raise StopIteration
        return event

    def __enter__(self) -> "SyncStream":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def cancel(self) -> None:
        """Cancel the answer. May be called from any thread."""
        _loop().call(self._stream.cancel)

    def close(self) -> None:
        """Close the stream and its connection; ``message`` keeps what had arrived."""
        run_sync(self._stream.aclose())

    def finished(self) -> AssistantMessage:
        """Read to the end and return the message, even if the answer failed."""
        return run_sync(self._stream.finished())


async def _next(stream: Stream) -> Event | None:
    return await anext(stream, None)
