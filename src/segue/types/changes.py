"""What a rendering changed: one record for each change, so that nothing readable is lost, moved or invented unsaid."""

from typing import Literal

from msgspec import Struct

ChangeCode = Literal[
    # from projection
    "failed-turn-dropped",
    "failed-turn-trimmed",
    "result-synthesized",
    "result-moved",
    "result-duplicate",
    "result-orphaned",
    "call-reconstructed",
    "image-downgraded",
    "thinking-as-text",
    "thinking-dropped",
    "signature-dropped",
    "text-sanitized",
    "empty-dropped",
    "empty-filled",
    "arguments-adapted",
    "name-projected",
    "id-projected",
    "tool-duplicate",
    "tools-stubbed",
    # from encoders
    "image-moved",
    "turns-merged",
    "blocks-reordered",
    "filler-inserted",
    "error-as-text",
    "tools-as-text",
    "system-as-text",
    "schema-adapted",
    "option-dropped",
]

LOSSY: frozenset[ChangeCode] = frozenset(
    {
        "failed-turn-dropped",
        "failed-turn-trimmed",
        "result-duplicate",
        "image-downgraded",
        "thinking-dropped",
        "arguments-adapted",
        "tool-duplicate",
        "option-dropped",
    }
)
"""Codes that always lose something; a dropped orphan loses something, too."""


class Change(Struct, frozen=True, omit_defaults=True):
    """Which rule acted, on which message (its index in the input) and block, and what it did, for a person.

    ``message`` is ``None`` for the system prompt and the tools.
    """

    code: ChangeCode
    message: int | None = None
    block: int | None = None
    detail: str = ""
    lossy: bool = False
