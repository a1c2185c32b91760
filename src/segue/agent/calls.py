"""What runs the calls of an answer: a ``tools.Scheduler``, also made from plain functions, or any other runner."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Protocol

from ..tools import CallState, Journal, Scheduler, Tool
from ..types import TextContent, ToolCall, ToolDefinition, ToolResultMessage


class Runner(Protocol):
    """Runs the calls of one answer."""

    async def run(self, calls: Sequence[ToolCall], journal: Journal, emit: Callable[[CallState], None]) -> None:
        """Run all of them; report to the journal when each starts and its result, one for each call."""


Tools = Runner | Mapping[str, Tool | Callable[..., Any]] | None
"""A runner, functions by the names of their tools, or nothing."""


@asynccontextmanager
async def runner_of(tools: Tools, definitions: Sequence[ToolDefinition]) -> AsyncIterator[Runner]:
    """The runner for a turn. A scheduler that is made here is closed after the turn."""
    if tools is not None and not isinstance(tools, Mapping):
        yield tools
        return
    scheduler = Scheduler(_tools(tools or {}, definitions))
    try:
        yield scheduler
    finally:
        await scheduler.aclose()


def _tools(functions: Mapping[str, Tool | Callable[..., Any]], definitions: Sequence[ToolDefinition]) -> list[Tool]:
    """Functions as tools, with the definitions that the model sees; without one, any arguments are accepted."""
    defined = {each.name: each for each in definitions}
    return [
        each if isinstance(each, Tool) else Tool(defined.get(name) or ToolDefinition(name), each)
        for name, each in functions.items()
    ]


def failed_result(call: ToolCall, text: str) -> ToolResultMessage:
    """The result of a call that failed."""
    return ToolResultMessage(call.id, call.name, [TextContent(text)], is_error=True)
