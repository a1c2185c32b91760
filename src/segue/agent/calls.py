"""How calls are run: by whatever is passed in. Plain functions will do; a scheduler plugs in at the same place."""

import asyncio
import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol

import anyio.to_thread
from msgspec.structs import replace

from ..types import TextContent, ToolCall, ToolResultMessage
from ..types.value import encode

Started = Callable[[ToolCall], Awaitable[None]]
"""To be awaited before a call runs: from then on its outcome counts as unknown until its result is there."""


class Runner(Protocol):
    """Runs the calls of one answer."""

    def run(self, calls: Sequence[ToolCall], started: Started) -> AsyncGenerator[ToolResultMessage, None]:
        """One result for each call, as they come: each is in the log before the next one is asked for."""


class PlainFunctions:
    """Plain functions by the names of their tools, sync or async, called one after the other with the arguments."""

    def __init__(self, functions: Mapping[str, Callable[..., Any]]) -> None:
        self.functions = functions

    async def run(self, calls: Sequence[ToolCall], started: Started) -> AsyncGenerator[ToolResultMessage, None]:
        for call in calls:
            function = self.functions.get(call.name)
            if function is None:
                yield failed_result(call, f"there is no tool called {call.name}")
                continue
            await started(call)
            try:
                result = _result(call, await _called(function, call.arguments))
            except asyncio.CancelledError as error:
                task = asyncio.current_task()
                if task is None or task.cancelling():
                    raise
                result = failed_result(call, f"the tool was cancelled {error}".strip())  # by itself, not by us
            except Exception as error:  # noqa: BLE001, a tool may fail in any way; the model is told
                result = failed_result(call, f"{type(error).__name__}: {error}")
            yield result


def plain(run: "Runner | Mapping[str, Callable[..., Any]] | None") -> Runner:
    """What runs calls, from what a caller may pass."""
    if run is None or isinstance(run, Mapping):
        return PlainFunctions(run or {})
    return run


def failed_result(call: ToolCall, text: str) -> ToolResultMessage:
    """The result of a call that did not work."""
    return ToolResultMessage(call.id, call.name, [TextContent(text)], is_error=True)


async def _called(function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    if inspect.iscoroutinefunction(function):
        return await function(**arguments)
    value = await anyio.to_thread.run_sync(lambda: function(**arguments))
    return await value if inspect.isawaitable(value) else value


def _result(call: ToolCall, value: Any) -> ToolResultMessage:
    if isinstance(value, ToolResultMessage):  # a function does not know which call it answers
        return replace(value, tool_call_id=call.id, tool_name=call.name)
    text = value if isinstance(value, str) else encode(value).decode()
    return ToolResultMessage(call.id, call.name, [TextContent(text)])
