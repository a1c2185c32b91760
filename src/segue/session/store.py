"""The interface of a store of sessions. There are two: SQLite in a file, and PostgreSQL for many machines.

Appending is atomic and ordered, and guarded by the number of the last entry that the writer has seen: a second writer
gets a ``ConflictError`` instead of mixing its entries with those of the first. Acknowledged entries survive a crash.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from msgspec import Struct

from .entries import AnyEntry


class SessionInfo(Struct, frozen=True, kw_only=True, rename="camel"):
    """The summary of a session that a list shows."""

    id: str
    created: int
    changed: int
    entries: int
    title: str = ""
    # The session and the number of the entry at which this one was forked.
    parent: str | None = None
    parent_entry: int | None = None


class Stored(Struct, frozen=True):
    """An entry with its number in the log, from 1."""

    number: int
    entry: AnyEntry


class Store(Protocol):
    """Sessions and their logs. All methods may be called from any thread."""

    blocks: bool
    """Whether calls may take long enough that an event loop should not wait for them."""

    def create(self, session: str, *, time: int, title: str = "") -> None:
        """Create a session without entries; ``SessionError`` if it already exists."""

    def append(self, session: str, entries: Sequence[AnyEntry], *, after: int) -> int:
        """Add entries after number ``after``, all or none, and return the number of the last one.

        Appending the same entries again has no effect: entries that already follow ``after``, with the same keys, are
        not added. ``ConflictError`` if other entries follow ``after``, or if one of these is elsewhere in the log.
        """

    def read(self, session: str, after: int = 0) -> Iterator[Stored]:
        """The entries after number ``after``, in order. ``SessionError`` if there is no such session."""

    def head(self, session: str) -> int:
        """The number of the last entry, 0 if there is none."""

    def info(self, session: str) -> SessionInfo:
        """One session."""

    def sessions(self) -> list[SessionInfo]:
        """All sessions, the last changed first."""

    def fork(self, session: str, at: int, new: str, *, time: int) -> None:
        """Create a session that begins with the first ``at`` entries of another. Later entries are not shared."""

    def restore(self, info: SessionInfo, entries: Sequence[AnyEntry]) -> int:
        """Add a session from another store, all or nothing, and return how many entries were new.

        Its times, title and parent are kept. If the session exists and begins with the same entries, it gets the rest;
        if it has other entries, ``ConflictError``.
        """

    def rename(self, session: str, title: str) -> None:
        """Change the title of a session."""

    def delete(self, session: str) -> None:
        """Delete a session and its log. Its forks stay complete."""

    def close(self) -> None:
        """Close files and connections."""

    def __enter__(self) -> "Store": ...

    def __exit__(self, *error: Any) -> None: ...
