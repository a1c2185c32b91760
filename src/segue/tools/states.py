"""Where a call is on its way to a result."""

from typing import ClassVar, Literal

from msgspec import Struct

from ..types import ToolCall

State = Literal["validating", "awaiting approval", "scheduled", "executing", "success", "error", "cancelled"]

ENDS: frozenset[State] = frozenset({"success", "error", "cancelled"})
"""The last states: each call reaches one of them, once."""


class CallState(Struct, frozen=True):
    """A call has come to a state; ``detail`` says why, where that needs saying."""

    type: ClassVar[Literal["call_state"]] = "call_state"
    call: ToolCall
    state: State
    detail: str = ""
