"""One run of a tool: on the event loop, in a thread or in a process, with one way to wait for it and to stop it.

A thread is a daemon: one that never comes back neither blocks the end of the program nor is waited for. What comes back
when nobody waits any more is dropped.
"""

import asyncio
import inspect
import threading
from collections.abc import Awaitable, Callable
from contextvars import Context, copy_context
from typing import Any

from ..types import ToolCall
from .arguments import CheckedArguments
from .limits import ToolLimits
from .output import ToolOutput, ended, raised
from .running_call import RunningCall, _running_call
from .tool import Tool
from .worker import Worker


class Execution:
    """A tool at work. ``future`` has how it ended; it never raises. ``stop`` asks it to end."""

    def __init__(
        self, tool: Tool, call: ToolCall, checked: CheckedArguments, limits: ToolLimits, note: str = ""
    ) -> None:
        self.future: asyncio.Future[ToolOutput] = asyncio.get_running_loop().create_future()
        self._tool, self._values, self._limits, self._note = tool, checked.values, limits, note
        self._context = copy_context()
        used = ToolCall(call.id, call.name, checked.json, call.thought_signature)
        self._context.run(_running_call.set, RunningCall(used, limits))
        self._task: asyncio.Task[None] | None = None
        self._worker: Worker | None = None
        self.stopped = False
        self._start()

    @property
    def can_be_stopped(self) -> bool:
        """Whether asking it to end has a chance; a thread goes on as long as it likes."""
        return self._task is not None or self._worker is not None

    def stop(self) -> None:
        """Ask it to end: a coroutine is cancelled, a process killed; a thread can only be waited for."""
        self.stopped = True
        if self._task is not None:
            self._task.cancel()
        if self._worker is not None:
            self._worker.stop()

    def _start(self) -> None:
        if self._tool.process:
            self._worker = Worker(self._tool, self._values, self._limits, self._note)
            self._in_thread(self._worker.run)
        elif is_async(self._tool.handler):
            self._on_the_loop(lambda: self._tool.handler(**self._values))
        else:
            self._in_thread(self._called)

    # -- on the event loop -------------------------------------------------------------------------------------------

    def _on_the_loop(self, begin: Callable[[], Awaitable[Any]]) -> None:
        self._task = asyncio.create_task(self._awaited(begin), context=self._context.copy())
        self._task.add_done_callback(self._broken_off)

    def _broken_off(self, task: "asyncio.Task[None]") -> None:
        if task.cancelled():  # before its first step
            self._settle(ToolOutput([], True, stopped=True))
        elif (error := task.exception()) is not None:
            self._settle(raised(error, self._limits, self._note))

    async def _awaited(self, begin: Callable[[], Awaitable[Any]]) -> None:
        try:
            held = [await begin()]  # taken out of here by the one who writes it: a flood is let go at once
        except GeneratorExit:
            raise  # it is closed from outside, or acts as if
        except BaseException as error:  # noqa: BLE001, a tool may fail in any way; not even an exit may end the loop
            self._settle(raised(error, self._limits, self._note))
            return
        self._task = None
        self._in_thread(lambda: self._ended(held.pop()))

    # -- in a thread -------------------------------------------------------------------------------------------------

    def _in_thread(self, act: Callable[[], Any]) -> None:
        loop, context = asyncio.get_running_loop(), self._context.copy()
        thread = threading.Thread(
            target=_act, args=[loop, context, act, self._settle], name=f"segue tool {self._tool.name}", daemon=True
        )
        try:
            thread.start()
        except RuntimeError as error:  # the system has no more of them
            self._settle(raised(error, self._limits, self._note))

    def _called(self) -> Any:
        """What the function gave, or an awaitable that has still to be awaited."""
        try:
            value = self._tool.handler(**self._values)
        except BaseException as error:  # noqa: BLE001, as above
            return raised(error, self._limits, self._note)
        return value if inspect.isawaitable(value) else self._ended(value)

    def _ended(self, value: Any) -> ToolOutput:
        try:
            return ended(value, self._limits, self._note)
        except BaseException as error:  # noqa: BLE001, the values of others run code of others
            return raised(error, self._limits, self._note)

    # -- the end -----------------------------------------------------------------------------------------------------

    def _settle(self, found: Any) -> None:
        if self.future.done():
            return
        if isinstance(found, ToolOutput):
            self.future.set_result(found)
        elif self.stopped:
            if inspect.iscoroutine(found):
                found.close()
            self.future.set_result(ToolOutput([], True, stopped=True))
        else:
            self._on_the_loop(lambda: found)


def _act(
    loop: asyncio.AbstractEventLoop, context: Context, act: Callable[[], Any], settle: Callable[[Any], None]
) -> None:
    found = context.run(act)
    try:
        loop.call_soon_threadsafe(settle, found)
    except RuntimeError:  # the loop is closed: nobody waits any more
        if inspect.iscoroutine(found):
            found.close()


def is_async(handler: Callable[..., Any]) -> bool:
    """Whether calling it gives a coroutine."""
    return inspect.iscoroutinefunction(handler) or inspect.iscoroutinefunction(type(handler).__call__)
