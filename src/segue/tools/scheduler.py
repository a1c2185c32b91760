"""The scheduler: the one way to run tools. It holds the tools of a session; a ``Batch`` runs the calls of an answer."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType

from ..errors import SettingError
from ..types import ToolCall, ToolDefinition
from .approval import Approve
from .arguments import ArgumentChecker
from .batch import Batch, Journal as Journal
from .execution import Execution
from .limits import ToolLimits
from .states import CallState
from .tool import Tool, ToolLike, as_tool


def _ignore(state: CallState) -> None:
    """The default for ``emit``."""


class Scheduler:
    """Runs the calls of answers. A session has one for its whole life.

    ``approve`` is called before a tool with ``approval`` runs; without it such calls are denied.
    """

    def __init__(
        self, tools: Iterable[ToolLike] = (), *, approve: Approve | None = None, limits: ToolLimits | None = None
    ) -> None:
        self.tools: dict[str, Tool] = {}
        self.approve = approve
        self.limits = limits or ToolLimits()
        self.always: set[str] = set()
        """Names of the tools that are allowed without asking again."""
        self.closed = False
        self._checkers: dict[str, ArgumentChecker] = {}
        self._batches: set[Batch] = set()
        self._abandoned: set[Execution] = set()
        for tool in map(as_tool, tools):
            if tool.name in self.tools:
                raise SettingError(f"two tools are called {tool.name!r}: give one of them another name")
            self.tools[tool.name] = tool
            self.checker(tool)

    @property
    def definitions(self) -> list[ToolDefinition]:
        """The definitions of the tools, as a model gets them."""
        return [tool.definition for tool in self.tools.values()]

    async def run(
        self, calls: Sequence[ToolCall], journal: Journal, emit: Callable[[CallState], None] = _ignore
    ) -> None:
        """Run the calls of an answer as one batch. ``journal`` gets one result for each call as soon as it exists.

        When the task is cancelled, waiting calls are not run, running ones are stopped, and every call still gets its
        result before the cancellation is raised. An error of a tool becomes a result; only errors of ``journal`` and
        ``emit`` are raised.
        """
        batch = Batch(self, calls, journal, emit)
        self._batches.add(batch)
        try:
            await batch.run()
        finally:
            self._batches.discard(batch)

    async def aclose(self) -> None:
        """End everything that still runs. Later calls are not run."""
        self.closed = True
        for batch in self._batches:
            batch.stop()
        if self._batches:  # with a timeout, because a tool may be the caller
            await asyncio.wait([batch.over for batch in self._batches], timeout=2 * self.limits.grace)
        left = [execution for execution in self._abandoned if execution.can_be_stopped]
        for execution in left:
            execution.stop()
        if left:
            await asyncio.wait([execution.future for execution in left], timeout=self.limits.grace)

    async def __aenter__(self) -> "Scheduler":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def checker(self, tool: Tool) -> ArgumentChecker:
        """The checker for the arguments of a tool; ``SettingError`` if its schema is invalid."""
        known = self._checkers.get(tool.name)
        if known is None or known.tool is not tool:
            known = self._checkers[tool.name] = ArgumentChecker(tool)
        return known

    def abandon(self, execution: Execution) -> None:
        """Give up a tool that does not end. Its output is dropped if it ends later."""
        self._abandoned.add(execution)
        execution.future.add_done_callback(lambda _: self._abandoned.discard(execution))
