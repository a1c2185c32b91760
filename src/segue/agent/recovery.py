"""What a crash in mid-turn leaves: calls that had not started, and calls whose outcome nobody knows."""

from collections.abc import Sequence

from msgspec import Struct

from ..types import TextContent, ToolCall, ToolResultMessage
from .state import State

NOT_STARTED = "This call was not run: the session was interrupted before it started."
UNKNOWN = "The session was interrupted while this call ran; whether it had an effect is not known."


class Interruption(Struct, frozen=True):
    """A turn that was broken off."""

    not_started: list[ToolCall]
    unknown: list[ToolCall]
    owner: str
    """Who ran the turn: host, process, and a word."""


def interruption(state: State) -> Interruption | None:
    """What the log says was broken off, if anything."""
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
    """For each call, and whether it was started, a result that tells the model the truth; a real one that arrives
    later still wins over it."""
    return [
        ToolResultMessage(
            call.id, call.name, [TextContent(unknown if started else not_started)], is_error=True, synthetic=True
        )
        for call, started in waiting
    ]
