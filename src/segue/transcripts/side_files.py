"""Files that a tool stores beside a conversation, and what to read instead of them."""

from .source import Source

_SIDE_FILES: tuple[tuple[frozenset[str], str], ...] = (
    (
        frozenset({"agent", "execution_status", "persistence_dir"}),
        "the state of a conversation of OpenHands; read its directory, which has the events, too",
    ),
    (
        frozenset({"agents", "workDir"}),
        "the state of a session of Kimi Code; read agents/main/wire.jsonl beside it",
    ),
    (
        frozenset({"sessionID", "messageID", "type"}),
        "a part of a message of opencode; read the directory that has session, message and part",
    ),
    (
        frozenset({"sessionID", "role", "time"}),
        "a message of opencode without its parts; read the directory that has session, message and part",
    ),
)
"""The fields by which a file is recognised, and what it is."""


def side_file(source: Source) -> str | None:
    """What a file is that belongs to a conversation of a tool, but is not one; ``None`` for every other file."""
    document = source.document
    if not isinstance(document, dict):
        return None
    return next((text for fields, text in _SIDE_FILES if fields <= document.keys()), None)
