"""The states of a call, from its validation to its result."""

from typing import ClassVar, Literal

from msgspec import Struct

from ..types import ToolCall

State = Literal["validating", "awaiting approval", "scheduled", "executing", "success", "error", "cancelled"]

FINAL_STATES: frozenset[State] = frozenset({"success", "error", "cancelled"})
"""The final states. Each call reaches exactly one of them, once."""


class CallState(Struct, frozen=True):
    """An event: a call has reached a state. ``detail`` explains an error or a cancellation."""

    type: ClassVar[Literal["call_state"]] = "call_state"
    call: ToolCall
    state: State
    detail: str = ""
