"""The log in tables: everything that the two databases do alike, which is all but connections, locks and transactions.

A transaction that writes locks the row of its session first (SQLite locks the whole file), and so appends to one
session stand in a line. The number of the last entry is in that row: what somebody else has written shows there.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol, Self, TypeVar

import msgspec

from ..errors import ConflictError, SessionError
from .entries import AnyEntry
from .rows import MAX_TIME, Row, checked_name, clean_title, entry_of, row_of
from .store import SessionInfo, Stored

T = TypeVar("T")

CHUNK = 256
"""How many entries are read at once: neither a lock nor a connection is held while the caller looks at them."""


class Doubled(SessionError):
    """A row with this name or key is there already."""


class Transaction(Protocol):
    """Statements with ``?`` for arguments."""

    def rows(self, sql: str, *arguments: Any) -> list[Any]: ...

    def run(self, sql: str, *arguments: Any) -> None: ...

    def run_many(self, sql: str, arguments: Iterable[Sequence[Any]]) -> None: ...


class Log(NamedTuple):
    """What the row of a session says that appending needs."""

    serial: int
    head: int
    changed: int
    title: str


INFO = "SELECT id, created, changed, head, title, parent, parent_entry FROM segue_sessions"


class Tables(ABC):
    """A ``Store`` over two tables."""

    blocks = True
    lock = ""
    """What a SELECT ends in that keeps others from its row."""

    # -- what a database must say ------------------------------------------------------------------------------------

    @abstractmethod
    def _reading(self) -> AbstractContextManager[Transaction]:
        """For statements that each see what was committed before them."""

    @abstractmethod
    def _writing(self) -> AbstractContextManager[Transaction]:
        """For statements that happen together or not at all. ``Doubled`` for a row that is there already."""

    @abstractmethod
    def close(self) -> None:
        """Let go of files and connections."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    # -- writing -----------------------------------------------------------------------------------------------------

    def create(self, session: str, *, time: int, title: str = "") -> None:
        """A new session without entries."""
        self._make(SessionInfo(id=session, created=time, changed=time, entries=0, title=title))

    def append(self, session: str, entries: Sequence[AnyEntry], *, after: int) -> int:
        """Add entries behind number ``after``, all or none, and give the number of the last one."""
        rows = _checked(entries)
        try:
            with self._writing() as tables:
                self._add(tables, session, rows, after)
        except Doubled:
            raise ConflictError(self._which_is_there(session, rows)) from None
        return after + len(rows)

    def restore(self, info: SessionInfo, entries: Sequence[AnyEntry]) -> int:
        """A session from elsewhere, as it was there, in one go; how many entries were not here yet."""
        rows = _checked(entries)
        name = checked_name(info.id)
        try:
            with self._writing() as tables:
                if not tables.rows("SELECT 1 FROM segue_sessions WHERE id = ?", name):
                    _insert(tables, info)
                return self._add(tables, name, rows, 0, info.changed)
        except (ConflictError, Doubled):
            raise ConflictError(f"there is a session {name} already, with other entries; nothing was written") from None

    def fork(self, session: str, at: int, new: str, *, time: int) -> None:
        """A new session that begins with the first ``at`` entries of another."""
        checked_name(new)
        try:
            with self._writing() as tables:
                log = self._locked(tables, session)
                if not 0 <= at <= log.head:
                    raise SessionError(f"session {session} cannot be forked at {at}: it has {log.head} entries")
                serial = _insert(
                    tables,
                    SessionInfo(
                        id=new,
                        created=time,
                        changed=time,
                        entries=at,
                        title=log.title,
                        parent=session,
                        parent_entry=at,
                    ),
                )
                tables.run(
                    "INSERT INTO segue_entries (session, number, key, kind, body) "
                    "SELECT ?, number, key, kind, body FROM segue_entries "
                    "WHERE session = ? AND number <= ?",
                    serial,
                    log.serial,
                    at,
                )
                tables.run("UPDATE segue_sessions SET head = ? WHERE serial = ?", at, serial)
        except Doubled:
            raise _is_there(new) from None

    def rename(self, session: str, title: str) -> None:
        """Give a session another title."""
        with self._writing() as tables:
            log = self._locked(tables, session)
            tables.run("UPDATE segue_sessions SET title = ? WHERE serial = ?", clean_title(title), log.serial)

    def delete(self, session: str) -> None:
        """Remove a session and its log."""
        with self._writing() as tables:
            log = self._locked(tables, session)
            tables.run("DELETE FROM segue_entries WHERE session = ?", log.serial)
            tables.run("DELETE FROM segue_sessions WHERE serial = ?", log.serial)

    # -- reading -----------------------------------------------------------------------------------------------------

    def read(self, session: str, after: int = 0) -> Iterator[Stored]:
        """The entries behind number ``after``, in order, up to the last one that is there now."""
        found = self._rows("SELECT serial, head FROM segue_sessions WHERE id = ?", checked_name(session))
        if not found:
            raise _is_not_there(session)
        serial, head = fitting(found[0], tuple[int, int])
        return self._entries(session, serial, max(after, 0), head)

    def head(self, session: str) -> int:
        """The number of the last entry, 0 if there is none."""
        return self.info(session).entries

    def info(self, session: str) -> SessionInfo:
        """One session."""
        found = self._rows(f"{INFO} WHERE id = ?", checked_name(session))
        if not found:
            raise _is_not_there(session)
        return _info(found[0])

    def sessions(self) -> list[SessionInfo]:
        """All sessions, the last changed first."""
        return [_info(row) for row in self._rows(f"{INFO} ORDER BY changed DESC, serial DESC")]

    # -- parts of these ----------------------------------------------------------------------------------------------

    def _rows(self, sql: str, *arguments: Any) -> list[Any]:
        with self._reading() as tables:
            return tables.rows(sql, *arguments)

    def _entries(self, session: str, serial: int, after: int, until: int) -> Iterator[Stored]:
        while after < until:
            upto = min(after + CHUNK, until)
            chunk = self._rows(
                "SELECT number, body FROM segue_entries WHERE session = ? AND number > ? AND number <= ? "
                "ORDER BY number",
                serial,
                after,
                upto,
            )
            if len(chunk) < upto - after:
                raise SessionError(f"session {session} was deleted while it was being read")
            for number, body in fitting(chunk, list[tuple[int, bytes]]):
                yield Stored(number, entry_of(body, session, number))
            after = upto

    def _make(self, info: SessionInfo) -> None:
        checked_name(info.id)
        try:
            with self._writing() as tables:
                _insert(tables, info)
        except Doubled:
            raise _is_there(info.id) from None

    def _locked(self, tables: Transaction, session: str) -> Log:
        found = tables.rows(
            f"SELECT serial, head, changed, title FROM segue_sessions WHERE id = ?{self.lock}", checked_name(session)
        )
        if not found:
            raise _is_not_there(session)
        return fitting(found[0], Log)

    def _add(
        self, tables: Transaction, session: str, rows: Sequence[Row], after: int, changed: int | None = None
    ) -> int:
        """Add what is not there yet behind ``after``, and give the number of entries that were added."""
        log = self._locked(tables, session)
        new = rows[_count_there(tables, session, log, rows, after) :]
        if not new:
            return 0
        tables.run_many(
            "INSERT INTO segue_entries (session, number, key, kind, body) VALUES (?, ?, ?, ?, ?)",
            [(log.serial, number, row.key, row.kind, row.body) for number, row in enumerate(new, log.head + 1)],
        )
        tables.run(
            "UPDATE segue_sessions SET head = ?, changed = ? WHERE serial = ?",
            log.head + len(new),
            max(log.changed, _fitting(new[-1].time if changed is None else changed)),
            log.serial,
        )
        return len(new)

    def _which_is_there(self, session: str, rows: Sequence[Row]) -> str:
        """Words for an entry that stands elsewhere in the log."""
        for row in rows:
            found = self._rows(
                "SELECT number FROM segue_entries WHERE key = ? "
                "AND session = (SELECT serial FROM segue_sessions WHERE id = ?)",
                row.key,
                session,
            )
            if found:
                key = row.key.decode(errors="replace")
                return f"session {session} has an entry with the key {key!r} already, as number {found[0][0]}"
        return f"session {session} has one of these entries already"


def fitting(row: Any, kind: type[T]) -> T:
    """What a database gave, as the types that were put there; a ``SessionError`` if something else is there."""
    try:
        return msgspec.convert(row, kind)
    except msgspec.ValidationError as error:
        raise SessionError(f"the tables of the store are damaged: {error}") from None


def _checked(entries: Sequence[AnyEntry]) -> list[Row]:
    rows = [row_of(entry) for entry in entries]
    if len({row.key for row in rows}) < len(rows):
        raise SessionError("two of these entries have the same key; a key is what tells an entry from all others")
    return rows


def _insert(tables: Transaction, info: SessionInfo) -> int:
    tables.run(
        "INSERT INTO segue_sessions (id, created, changed, head, title, parent, parent_entry) "
        "VALUES (?, ?, ?, 0, ?, ?, ?)",
        info.id,
        _fitting(info.created),
        _fitting(info.changed),
        clean_title(info.title),
        None if info.parent is None else clean_title(info.parent),
        None if info.parent_entry is None else _fitting(info.parent_entry),
    )
    serial: int = tables.rows("SELECT serial FROM segue_sessions WHERE id = ?", info.id)[0][0]
    return serial


def _count_there(tables: Transaction, session: str, log: Log, rows: Sequence[Row], after: int) -> int:
    """How many of ``rows`` stand behind ``after`` already. ``ConflictError`` if anything else does."""
    if not 0 <= after <= log.head:
        raise ConflictError(f"session {session} has {log.head} entries; nothing can be added behind number {after}")
    there = tables.rows(
        "SELECT key, body FROM segue_entries WHERE session = ? AND number > ? AND number <= ? ORDER BY number",
        log.serial,
        after,
        after + len(rows),
    )
    if any((key, body) != (row.key, row.body) for (key, body), row in zip(there, rows, strict=False)):
        raise ConflictError(
            f"session {session} has gone on to entry {log.head}, and this writer has seen {after} of them; "
            "nothing was written, open it again to see the rest"
        )
    return len(there)


def _fitting(number: int) -> int:
    """A time from elsewhere may be any number; a column has 64 bits."""
    return max(-MAX_TIME, min(number, MAX_TIME))


def _info(row: Sequence[Any]) -> SessionInfo:
    return fitting(dict(zip(SessionInfo.__struct_encode_fields__, row, strict=True)), SessionInfo)


def _is_there(session: str) -> SessionError:
    return SessionError(f"there is a session {session} already")


def _is_not_there(session: str) -> SessionError:
    return SessionError(f"there is no session {session}")
