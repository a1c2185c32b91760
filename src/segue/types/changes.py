"""The changes that rendering makes: one record each, so that nothing readable is lost, moved or added silently."""

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
"""Codes of changes that always lose something. ``result-orphaned`` does only if the result is dropped."""


class Change(Struct, frozen=True, omit_defaults=True):
    """One change: its code, the message (index in the input) and block that it concerns, and a readable detail.

    ``message`` is ``None`` for the system prompt and the tools.
    """

    code: ChangeCode
    message: int | None = None
    block: int | None = None
    detail: str = ""
    lossy: bool = False
