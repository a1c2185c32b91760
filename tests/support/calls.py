"""Calls through a scheduler, without a model."""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from segue.tools import Allow, ApprovalRequest, Approve, Scheduler, ToolLike, ToolLimits
from segue.types import TextContent, ToolCall, ToolResultMessage


def allow(request: ApprovalRequest) -> Allow:
    return Allow()


class Written:
    """A journal in memory."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.results: list[ToolResultMessage] = []

    async def started(self, call: ToolCall) -> None:
        self.begun.append(call.id)

    async def finished(self, result: ToolResultMessage) -> None:
        self.results.append(result)

    def of(self, *calls: str) -> list[ToolResultMessage]:
        """The results of these calls; they are written in the order of completion."""
        by_call = {result.tool_call_id: result for result in self.results}
        return [by_call[call] for call in calls]


async def results_of(
    tools: Iterable[ToolLike],
    *calls: tuple[str, dict[str, Any]],
    approve: Approve | None = allow,
    limits: ToolLimits | None = None,
) -> list[ToolResultMessage]:
    """The results of a batch of calls, each passed as a name and arguments."""
    written = Written()
    async with Scheduler(tools, approve=approve, limits=limits) as scheduler:
        asked = [ToolCall(f"call{number}", name, arguments) for number, (name, arguments) in enumerate(calls)]
        await scheduler.run(asked, written)
    assert len(written.results) == len(asked)
    return written.of(*[call.id for call in asked])


def text_of(result: ToolResultMessage) -> str:
    return "".join(block.text for block in result.content if isinstance(block, TextContent))


def children() -> set[int]:
    """Child processes of this one that still run (on a system with /proc).

    A process whose first thread has ended is a zombie while other threads still run, and its sockets are still open.
    """
    found = set()
    for number in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            state, parent = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[:2]
            ended = state == "Z" and len(os.listdir(f"/proc/{number}/task")) == 1
            if parent == str(os.getpid()) and not ended:
                found.add(int(number))
    return found
