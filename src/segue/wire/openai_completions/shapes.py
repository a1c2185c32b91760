"""The messages of a request, as they are written."""

from typing import Any

from msgspec import UNSET, Struct, UnsetType

from ..common.chat import Call, Result, Said


class Answer(Struct, gc=False, tag_field="role", tag="assistant"):
    content: str | UnsetType | None
    tool_calls: list[Call | dict[str, Any]] | UnsetType = UNSET
    # Reasoning, in the fields that `reasoning.py` knows.
    reasoning_content: str | UnsetType = UNSET
    reasoning: str | UnsetType = UNSET
    reasoning_text: str | UnsetType = UNSET
    reasoning_details: list[Any] | UnsetType = UNSET


Turn = Said | Answer | Result


def last_words(turns: list[Turn]) -> int | None:
    """Where the user spoke last."""
    for at in reversed(range(len(turns))):
        turn = turns[at]
        if type(turn) is Said and turn.role == "user":
            return at
    return None
