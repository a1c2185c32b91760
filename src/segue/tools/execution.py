"""One execution of a tool: on the event loop, in a thread or in a worker process, with one way to wait and to stop.

Threads are daemons: a thread that never returns does not block the end of the program. A value that is returned after
the execution was given up is dropped.
"""

import asyncio
import inspect
import threading
from collections.abc import Awaitable, Callable
from contextvars import Context, copy_context
from typing import Any

from ..telemetry import tool_span
from ..types import ToolCall
from .arguments import CheckedArguments
from .output import STOPPED, OutputBuilder, ToolOutput
from .running_call import RunningCall, _running_call
from .tool import Tool
from .worker import Worker


class Execution:
    """Runs a tool. ``future`` gets its output and never an exception; ``stop`` asks the tool to end."""

    def __init__(self, tool: Tool, call: ToolCall, arguments: CheckedArguments, builder: OutputBuilder) -> None:
        self.future: asyncio.Future[ToolOutput] = asyncio.get_running_loop().create_future()
        self._tool, self._values, self._builder = tool, arguments.values, builder
        self._context = copy_context()
        used = ToolCall(call.id, call.name, arguments.json, call.thought_signature)
        self._context.run(_running_call.set, RunningCall(used, builder.limits))
        self._span = self._context.run(tool_span, call.name, call.id, arguments.json)
        if self._span is not None:
            self.future.add_done_callback(self._end_span)
        self._task: asyncio.Task[None] | None = None
        self._worker: Worker | None = None
        self.stopped = False
        self._start()

    @property
    def can_be_stopped(self) -> bool:
        """Whether ``stop`` can have an effect. A thread cannot be stopped."""
        return self._task is not None or self._worker is not None

    def stop(self) -> None:
        """Cancel a coroutine or kill a process. A thread continues until it returns."""
        self.stopped = True
        if self._task is not None:
            self._task.cancel()
        if self._worker is not None:
            self._worker.stop()

    def _start(self) -> None:
        if self._tool.process:
            self._worker = Worker(self._tool, self._values, self._builder)
            self._run_in_thread(self._worker.run)
        elif is_async(self._tool.handler):
            self._run_on_loop(lambda: self._tool.handler(**self._values))
        else:
            self._run_in_thread(self._call_handler)

    # -- on the event loop -------------------------------------------------------------------------------------------

    def _run_on_loop(self, begin: Callable[[], Awaitable[Any]]) -> None:
        self._task = asyncio.create_task(self._await(begin), context=self._context.copy())
        self._task.add_done_callback(self._check_task)

    def _check_task(self, task: "asyncio.Task[None]") -> None:
        if task.cancelled():  # before its first step
            self._finish(STOPPED)
        elif (error := task.exception()) is not None:
            self._finish(self._builder.from_error(error))

    async def _await(self, begin: Callable[[], Awaitable[Any]]) -> None:
        try:
            values = [await begin()]  # in a list, from which the thread pops it: no reference is left here
        except GeneratorExit:
            raise  # the coroutine is being closed
        except BaseException as error:  # noqa: BLE001, foreign code; SystemExit there must not end the event loop
            self._finish(self._builder.from_error(error))
            return
        self._task = None
        self._run_in_thread(lambda: self._build(values.pop()))

    # -- in a thread -------------------------------------------------------------------------------------------------

    def _run_in_thread(self, function: Callable[[], Any]) -> None:
        loop, context = asyncio.get_running_loop(), self._context.copy()
        thread = threading.Thread(
            target=_run_and_report,
            args=[loop, context, function, self._finish],
            name=f"segue tool {self._tool.name}",
            daemon=True,
        )
        try:
            thread.start()
        except RuntimeError as error:  # the system has no more threads
            self._finish(self._builder.from_error(error))

    def _call_handler(self) -> Any:
        """The output of the function, or the awaitable that it returned."""
        try:
            value = self._tool.handler(**self._values)
        except BaseException as error:  # noqa: BLE001, foreign code may raise anything
            return self._builder.from_error(error)
        return value if inspect.isawaitable(value) else self._build(value)

    def _build(self, value: Any) -> ToolOutput:
        try:
            return self._builder.from_value(value)
        except BaseException as error:  # noqa: BLE001, reading a foreign value may run foreign code
            return self._builder.from_error(error)

    # -- the end -----------------------------------------------------------------------------------------------------

    def _finish(self, found: Any) -> None:
        """Set the output; an awaitable that a plain function returned is awaited first."""
        if self.future.done():
            return
        if isinstance(found, ToolOutput):
            self.future.set_result(found)
        elif self.stopped:
            if inspect.iscoroutine(found):
                found.close()
            self.future.set_result(STOPPED)
        else:
            self._run_on_loop(lambda: found)

    def _end_span(self, future: "asyncio.Future[ToolOutput]") -> None:
        output = STOPPED if future.cancelled() else future.result()
        assert self._span is not None
        self._span.end("\n".join(block.text for block in output.content if block.type == "text"), output.is_error)


def _run_and_report(
    loop: asyncio.AbstractEventLoop, context: Context, function: Callable[[], Any], finish: Callable[[Any], None]
) -> None:
    found = context.run(function)
    try:
        loop.call_soon_threadsafe(finish, found)
    except RuntimeError:  # the loop is closed: there is no longer a caller
        if inspect.iscoroutine(found):
            found.close()


def is_async(handler: Callable[..., Any]) -> bool:
    """Whether calling ``handler`` returns a coroutine."""
    return inspect.iscoroutinefunction(handler) or inspect.iscoroutinefunction(type(handler).__call__)
