"""The messages of a request, as structs that are written to JSON."""

from typing import Any

from msgspec import UNSET, Struct, UnsetType

from ..common.chat import Call, Content, Result, RoleMessage


class Answer(Struct, gc=False, tag_field="role", tag="assistant"):
    content: Content | UnsetType | None
    tool_calls: list[Call | dict[str, Any]] | UnsetType = UNSET
    # The fields for reasoning that `reasoning.py` uses.
    reasoning_content: str | UnsetType = UNSET
    reasoning: str | UnsetType = UNSET
    reasoning_text: str | UnsetType = UNSET
    reasoning_details: list[Any] | UnsetType = UNSET


Turn = RoleMessage | Answer | Result


def last_user(turns: list[Turn]) -> int | None:
    """The position of the last user message."""
    for at in reversed(range(len(turns))):
        turn = turns[at]
        if type(turn) is RoleMessage and turn.role == "user":
            return at
    return None
