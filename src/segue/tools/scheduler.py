"""The one way to run tools: a scheduler has the tools of a session and what was allowed; a batch does the rest."""

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


def _quiet(state: CallState) -> None:
    """Tells nobody."""


class Scheduler:
    """Runs the calls of answers; one for a session, alive as long as it.

    ``approve`` is asked before a tool with ``approval`` runs; without it such calls are denied.
    """

    def __init__(
        self, tools: Iterable[ToolLike] = (), *, approve: Approve | None = None, limits: ToolLimits | None = None
    ) -> None:
        self.tools: dict[str, Tool] = {}
        self.approve = approve
        self.limits = limits or ToolLimits()
        self.always: set[str] = set()
        """The tools that need not be asked about any more."""
        self.closed = False
        self._arguments: dict[str, ArgumentChecker] = {}
        self._batches: set[Batch] = set()
        self._abandoned: set[Execution] = set()
        for made in map(as_tool, tools):
            if made.name in self.tools:
                raise SettingError(f"two tools are called {made.name!r}: give one of them another name")
            self.tools[made.name] = made
            self.arguments(made)

    @property
    def definitions(self) -> list[ToolDefinition]:
        """What a model is told of the tools."""
        return [each.definition for each in self.tools.values()]

    async def run(
        self, calls: Sequence[ToolCall], journal: Journal, emit: Callable[[CallState], None] = _quiet
    ) -> None:
        """Run the calls of an answer as one batch; ``journal`` gets one result for each, as soon as it is there.

        When the task is cancelled, what waits is not run, what runs is stopped, and every call still gets its result
        before the cancellation goes on. Whatever tools do, nothing is raised but what the journal raises.
        """
        batch = Batch(self, calls, journal, emit)
        self._batches.add(batch)
        try:
            await batch.run()
        finally:
            self._batches.discard(batch)

    async def aclose(self) -> None:
        """End everything that still runs. Calls that come later are not run."""
        self.closed = True
        for batch in self._batches:
            batch.stop()
        if self._batches:  # not for ever: a tool may be the one who closes
            await asyncio.wait([batch.over for batch in self._batches], timeout=2 * self.limits.grace)
        left = [work for work in self._abandoned if work.can_be_stopped]
        for work in left:
            work.stop()
        if left:
            await asyncio.wait([work.future for work in left], timeout=self.limits.grace)

    async def __aenter__(self) -> "Scheduler":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def arguments(self, tool: Tool) -> ArgumentChecker:
        """What checks the arguments of a tool; a ``SettingError`` if its schema is none."""
        known = self._arguments.get(tool.name)
        if known is None or known.tool is not tool:
            known = self._arguments[tool.name] = ArgumentChecker(tool)
        return known

    def abandon(self, work: Execution) -> None:
        """Give up a tool that does not end; if it still does some day, nobody listens."""
        self._abandoned.add(work)
        work.future.add_done_callback(lambda _: self._abandoned.discard(work))
