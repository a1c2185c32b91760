"""A store over two tables: everything that the two databases have in common, except connections and transactions.

A transaction that writes locks the row of its session first (SQLite locks the whole file), so that appends to one
session run one after the other. That row has the number of the last entry, which shows what other writers have added.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Self

from ..errors import ConflictError, SessionError
from .entries import AnyEntry
from .rows import Row, check_name, clean_title, entry_of, row_of
from .statements import (
    SELECT_INFO,
    SessionRow,
    Transaction,
    as_info,
    convert_row,
    copy_entries,
    count_existing,
    insert_entries,
    insert_session,
)
from .store import SessionInfo, Stored

CHUNK = 256
"""How many entries are read at a time. No lock or connection is held while the caller handles them."""


class DuplicateRow(SessionError):
    """A row with this name or key already exists."""


class Tables(ABC):
    """A ``Store`` over two tables."""

    blocks = True
    lock_clause = ""
    """The end of a SELECT that locks the rows."""

    # -- implemented for each database -------------------------------------------------------------------------------

    @abstractmethod
    def _reading(self) -> AbstractContextManager[Transaction]:
        """For single statements, each of which sees what was committed before it."""

    @abstractmethod
    def _writing(self) -> AbstractContextManager[Transaction]:
        """For statements that are committed together. ``DuplicateRow`` for a row that already exists."""

    @abstractmethod
    def close(self) -> None:
        """Close files and connections."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    # -- writing -----------------------------------------------------------------------------------------------------

    def create(self, session: str, *, time: int, title: str = "") -> None:
        """Create a session without entries."""
        check_name(session)
        try:
            with self._writing() as transaction:
                info = SessionInfo(id=session, created=time, changed=time, entries=0, title=title)
                insert_session(transaction, info)
        except DuplicateRow:
            raise _already_exists(session) from None

    def append(self, session: str, entries: Sequence[AnyEntry], *, after: int) -> int:
        """Add entries after number ``after``, all or none, and return the number of the last one."""
        rows = _as_rows(entries)
        try:
            with self._writing() as transaction:
                self._add(transaction, session, rows, after)
        except DuplicateRow:
            raise ConflictError(self._describe_duplicate(session, rows)) from None
        return after + len(rows)

    def restore(self, info: SessionInfo, entries: Sequence[AnyEntry]) -> int:
        """Add a session from another store, all or nothing, and return how many entries were new."""
        rows = _as_rows(entries)
        name = check_name(info.id)
        try:
            with self._writing() as transaction:
                if not transaction.rows("SELECT 1 FROM segue_sessions WHERE id = ?", name):
                    insert_session(transaction, info)
                return self._add(transaction, name, rows, 0, info.changed)
        except (ConflictError, DuplicateRow):
            raise ConflictError(f"there is a session {name} already, with other entries; nothing was written") from None

    def fork(self, session: str, at: int, new: str, *, time: int) -> None:
        """Create a session that begins with the first ``at`` entries of another."""
        check_name(new)
        try:
            with self._writing() as transaction:
                source = self._lock_session(transaction, session)
                if not 0 <= at <= source.head:
                    raise SessionError(f"session {session} cannot be forked at {at}: it has {source.head} entries")
                info = SessionInfo(
                    id=new,
                    created=time,
                    changed=time,
                    entries=at,
                    title=source.title,
                    parent=session,
                    parent_entry=at,
                )
                copy_entries(transaction, source.serial, insert_session(transaction, info), at)
        except DuplicateRow:
            raise _already_exists(new) from None

    def rename(self, session: str, title: str) -> None:
        """Change the title of a session."""
        with self._writing() as transaction:
            serial = self._lock_session(transaction, session).serial
            transaction.run("UPDATE segue_sessions SET title = ? WHERE serial = ?", clean_title(title), serial)

    def delete(self, session: str) -> None:
        """Delete a session and its log."""
        with self._writing() as transaction:
            serial = self._lock_session(transaction, session).serial
            transaction.run("DELETE FROM segue_entries WHERE session = ?", serial)
            transaction.run("DELETE FROM segue_sessions WHERE serial = ?", serial)

    # -- reading -----------------------------------------------------------------------------------------------------

    def read(self, session: str, after: int = 0) -> Iterator[Stored]:
        """The entries after number ``after``, in order, up to the one that is the last now."""
        found = self._rows("SELECT serial, head FROM segue_sessions WHERE id = ?", check_name(session))
        if not found:
            raise _does_not_exist(session)
        serial, head = convert_row(found[0], tuple[int, int])
        return self._entries(session, serial, max(after, 0), head)

    def head(self, session: str) -> int:
        """The number of the last entry, 0 if there is none."""
        return self.info(session).entries

    def info(self, session: str) -> SessionInfo:
        """One session."""
        found = self._rows(f"{SELECT_INFO} WHERE id = ?", check_name(session))
        if not found:
            raise _does_not_exist(session)
        return as_info(found[0])

    def sessions(self) -> list[SessionInfo]:
        """All sessions, the last changed first."""
        return [as_info(row) for row in self._rows(f"{SELECT_INFO} ORDER BY changed DESC, serial DESC")]

    # -- helpers -----------------------------------------------------------------------------------------------------

    def _rows(self, sql: str, *arguments: Any) -> list[Any]:
        with self._reading() as transaction:
            return transaction.rows(sql, *arguments)

    def _entries(self, session: str, serial: int, after: int, until: int) -> Iterator[Stored]:
        while after < until:
            end = min(after + CHUNK, until)
            chunk = self._rows(
                "SELECT number, body FROM segue_entries WHERE session = ? AND number > ? AND number <= ? "
                "ORDER BY number",
                serial,
                after,
                end,
            )
            if len(chunk) < end - after:
                raise SessionError(f"session {session} was deleted while it was being read")
            for number, body in convert_row(chunk, list[tuple[int, bytes]]):
                yield Stored(number, entry_of(body, session, number))
            after = end

    def _lock_session(self, transaction: Transaction, session: str) -> SessionRow:
        found = transaction.rows(
            f"SELECT serial, head, changed, title FROM segue_sessions WHERE id = ?{self.lock_clause}",
            check_name(session),
        )
        if not found:
            raise _does_not_exist(session)
        return convert_row(found[0], SessionRow)

    def _add(
        self, transaction: Transaction, session: str, rows: Sequence[Row], after: int, changed: int | None = None
    ) -> int:
        """Add the rows that do not follow ``after`` yet, and return how many were added."""
        row = self._lock_session(transaction, session)
        new = rows[count_existing(transaction, session, row, rows, after) :]
        if new:
            insert_entries(transaction, row, new, new[-1].time if changed is None else changed)
        return len(new)

    def _describe_duplicate(self, session: str, rows: Sequence[Row]) -> str:
        """The message for an entry that is already elsewhere in the log."""
        for row in rows:
            found = self._rows(
                "SELECT number FROM segue_entries WHERE key = ? "
                "AND session = (SELECT serial FROM segue_sessions WHERE id = ?)",
                row.key,
                session,
            )
            if found:
                key = row.key.decode(errors="replace")
                return f"session {session} already has an entry with the key {key!r}, as number {found[0][0]}"
        return f"session {session} already has one of these entries"


def _as_rows(entries: Sequence[AnyEntry]) -> list[Row]:
    rows = [row_of(entry) for entry in entries]
    if len({row.key for row in rows}) < len(rows):
        raise SessionError("two of these entries have the same key; the key of an entry must be unique")
    return rows


def _already_exists(session: str) -> SessionError:
    return SessionError(f"there is a session {session} already")


def _does_not_exist(session: str) -> SessionError:
    return SessionError(f"there is no session {session}")
