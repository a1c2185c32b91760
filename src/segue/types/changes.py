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
    "file-omitted",
    "file-as-text",
    "url-omitted",
    "provider-content-as-text",
    "provider-content-dropped",
    "citations-dropped",
    "thinking-as-text",
    "thinking-dropped",
    "signature-dropped",
    "text-sanitized",
    "empty-dropped",
    "empty-filled",
    "arguments-adapted",
    "name-projected",
    "name-kept",
    "id-projected",
    "tool-adapted",
    "tool-duplicate",
    "tools-stubbed",
    # from encoders
    "image-moved",
    "file-moved",
    "file-renamed",
    "turns-merged",
    "blocks-reordered",
    "filler-inserted",
    "error-as-text",
    "tools-as-text",
    "system-as-text",
    "schema-adapted",
    "option-dropped",
    # from reading requests
    "field-dropped",
]

LOSSY: frozenset[ChangeCode] = frozenset(
    {
        "failed-turn-dropped",
        "failed-turn-trimmed",
        "result-duplicate",
        "image-downgraded",
        "file-omitted",
        "url-omitted",
        "provider-content-dropped",
        "citations-dropped",
        "thinking-dropped",
        "arguments-adapted",
        "tool-duplicate",
        "option-dropped",
        "field-dropped",
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
