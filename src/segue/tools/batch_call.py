"""One call of a batch, and how far it has come."""

import asyncio
from typing import NamedTuple

from ..types import ToolCall, ToolResultMessage
from .arguments import CheckedArguments
from .limits import ToolLimits
from .output import OutputBuilder, ToolOutput
from .states import State
from .tool import Tool


class Final(NamedTuple):
    """The end of a call: its final state and its result."""

    state: State
    result: ToolResultMessage


class BatchCall:
    """A call of a batch: first its tool and checked arguments, then the task that runs it, then its result."""

    def __init__(self, call: ToolCall, limits: ToolLimits) -> None:
        self.call = call
        self.limits = limits
        self.tool: Tool | None = None
        self.arguments: CheckedArguments | None = None
        self.note = ""
        """A text that the model gets before the result."""
        self.task: asyncio.Task[Final] | None = None
        self.final: Final | None = None
        self.is_written = False
        """Whether the result is in the journal, or is being written there."""

    @property
    def is_running(self) -> bool:
        return self.task is not None and self.final is None

    @property
    def builder(self) -> OutputBuilder:
        return OutputBuilder(self.limits, self.note)

    def finished(self, state: State, output: ToolOutput, *, synthetic: bool = False) -> Final:
        """The end of this call with ``output``."""
        return Final(state, ToolResultMessage(self.call.id, self.call.name, output.content, output.is_error, synthetic))

    def fail(self, text: str) -> None:
        """End the call with an error, before it has run."""
        self.final = self.finished("error", OutputBuilder(self.limits).from_text(text))

    def cancel(self, text: str) -> None:
        """End the call as cancelled, before it has run."""
        self.final = self.finished("cancelled", OutputBuilder(self.limits).from_text(text), synthetic=True)
