"""How calls are run: by whatever is passed in. ``tools.Scheduler`` is what runs them everywhere; plain functions become
one."""

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
"""What runs calls: a runner, plain functions by the names of their tools, or nothing."""


@asynccontextmanager
async def runner_of(given: Tools, definitions: Sequence[ToolDefinition]) -> AsyncIterator[Runner]:
    """What runs the calls of a turn. A scheduler that is made for it is closed with it."""
    if given is not None and not isinstance(given, Mapping):
        yield given
        return
    scheduler = Scheduler(_tools(given or {}, definitions))
    try:
        yield scheduler
    finally:
        await scheduler.aclose()


def _tools(functions: Mapping[str, Tool | Callable[..., Any]], definitions: Sequence[ToolDefinition]) -> list[Tool]:
    """Functions as tools, by the definitions that the model is given; one without a definition takes what comes."""
    defined = {each.name: each for each in definitions}
    return [
        each if isinstance(each, Tool) else Tool(defined.get(name) or ToolDefinition(name), each)
        for name, each in functions.items()
    ]


def failed_result(call: ToolCall, text: str) -> ToolResultMessage:
    """The result of a call that did not work."""
    return ToolResultMessage(call.id, call.name, [TextContent(text)], is_error=True)
