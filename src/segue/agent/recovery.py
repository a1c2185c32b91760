"""A turn that was interrupted: its calls that had not started, and those whose outcome is unknown."""

from collections.abc import Sequence

from msgspec import Struct

from ..types import TextContent, ToolCall, ToolResultMessage
from .state import State

NOT_STARTED = "This call was not run: the session was interrupted before it started."
UNKNOWN = "The session was interrupted while this call ran; whether it had an effect is not known."


class Interruption(Struct, frozen=True):
    """A turn that was interrupted."""

    not_started: list[ToolCall]
    unknown: list[ToolCall]
    owner: str
    """The process that ran the turn: host, process id, start and a random word."""


def interruption(state: State) -> Interruption | None:
    """The turn that is open in the log, if any."""
    if state.turn is None:
        return None
    waiting = state.unanswered()
    return Interruption(
        not_started=[call for call, started in waiting if not started],
        unknown=[call for call, started in waiting if started],
        owner=state.turn.owner,
    )


def closing_results(
    waiting: Sequence[tuple[ToolCall, bool]], not_started: str = NOT_STARTED, unknown: str = UNKNOWN
) -> list[ToolResultMessage]:
    """Placeholder results for calls, each with whether it was started. A real result that arrives later replaces it."""
    return [
        ToolResultMessage(
            call.id, call.name, [TextContent(unknown if started else not_started)], is_error=True, synthetic=True
        )
        for call, started in waiting
    ]
