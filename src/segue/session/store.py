"""What a store of sessions must do. Two are here: SQLite in a file, and PostgreSQL for many machines.

Appending is atomic and ordered, and guarded by the number of the last entry that the writer has seen: a second writer
gets a ``ConflictError`` instead of its entries standing between those of the first. What has been acknowledged is there
after a crash.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from msgspec import Struct

from .entries import AnyEntry


class SessionInfo(Struct, frozen=True, kw_only=True, rename="camel"):
    """A session as a list shows it."""

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
        """A new session without entries; creating one that is there is an error (``SessionError``)."""

    def append(self, session: str, entries: Sequence[AnyEntry], *, after: int) -> int:
        """Add entries behind number ``after``, all or none, and give the number of the last one.

        Entries that are there already, with the same keys right behind ``after``, have no effect: writing twice is
        writing once. If anything else stands behind ``after``, or one of them elsewhere, ``ConflictError``.
        """

    def read(self, session: str, after: int = 0) -> Iterator[Stored]:
        """The entries behind number ``after``, in order. ``SessionError`` if there is no such session."""

    def head(self, session: str) -> int:
        """The number of the last entry, 0 if there is none."""

    def info(self, session: str) -> SessionInfo:
        """One session."""

    def sessions(self) -> list[SessionInfo]:
        """All sessions, the last changed first."""

    def fork(self, session: str, at: int, new: str, *, time: int) -> None:
        """A new session that begins with the first ``at`` entries of another; neither sees what the other adds."""

    def restore(self, info: SessionInfo, entries: Sequence[AnyEntry]) -> int:
        """A session from elsewhere, with its times, title and parent, all or nothing: how many entries are new here.

        What is here already has no effect, and a session that begins with the same entries gets the rest; one with
        other entries is a ``ConflictError``.
        """

    def rename(self, session: str, title: str) -> None:
        """Give a session another title."""

    def delete(self, session: str) -> None:
        """Remove a session and its log. Forks of it stay whole."""

    def close(self) -> None:
        """Let go of files and connections."""

    def __enter__(self) -> "Store": ...

    def __exit__(self, *error: Any) -> None: ...
