"""The SQL statements that both databases share. Each function runs inside one transaction."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

import msgspec

from ..errors import ConflictError, SessionError
from .rows import MAX_TIME, Row, clean_title
from .store import SessionInfo

T = TypeVar("T")

SELECT_INFO = "SELECT id, created, changed, head, title, parent, parent_entry FROM segue_sessions"


class Transaction(Protocol):
    """Statements with ``?`` for arguments."""

    def rows(self, sql: str, *arguments: Any) -> list[Any]: ...

    def run(self, sql: str, *arguments: Any) -> None: ...

    def run_many(self, sql: str, arguments: Iterable[Sequence[Any]]) -> None: ...


class SessionRow(NamedTuple):
    """The columns of a session that appending needs."""

    serial: int
    head: int
    changed: int
    title: str


def convert_row(row: Any, kind: type[T]) -> T:
    """Convert a row to the types that were written; ``SessionError`` if the database holds something else."""
    try:
        return msgspec.convert(row, kind)
    except msgspec.ValidationError as error:
        raise SessionError(f"the tables of the store are damaged: {error}") from None


def as_info(row: Sequence[Any]) -> SessionInfo:
    """The session of a row of ``SELECT_INFO``."""
    return convert_row(dict(zip(SessionInfo.__struct_encode_fields__, row, strict=True)), SessionInfo)


def insert_session(transaction: Transaction, info: SessionInfo) -> int:
    """Insert a session without entries, and return its serial number."""
    transaction.run(
        "INSERT INTO segue_sessions (id, created, changed, head, title, parent, parent_entry) "
        "VALUES (?, ?, ?, 0, ?, ?, ?)",
        info.id,
        _clamp(info.created),
        _clamp(info.changed),
        clean_title(info.title),
        None if info.parent is None else clean_title(info.parent),
        None if info.parent_entry is None else _clamp(info.parent_entry),
    )
    serial: int = transaction.rows("SELECT serial FROM segue_sessions WHERE id = ?", info.id)[0][0]
    return serial


def insert_entries(transaction: Transaction, session: SessionRow, rows: Sequence[Row], changed: int) -> None:
    """Insert entries after the last one of a session."""
    transaction.run_many(
        "INSERT INTO segue_entries (session, number, key, kind, body) VALUES (?, ?, ?, ?, ?)",
        [(session.serial, number, row.key, row.kind, row.body) for number, row in enumerate(rows, session.head + 1)],
    )
    transaction.run(
        "UPDATE segue_sessions SET head = ?, changed = ? WHERE serial = ?",
        session.head + len(rows),
        max(session.changed, _clamp(changed)),
        session.serial,
    )


def copy_entries(transaction: Transaction, source: int, target: int, count: int) -> None:
    """Copy the first ``count`` entries of one session to a new one; both are named by their serial numbers."""
    transaction.run(
        "INSERT INTO segue_entries (session, number, key, kind, body) "
        "SELECT ?, number, key, kind, body FROM segue_entries "
        "WHERE session = ? AND number <= ?",
        target,
        source,
        count,
    )
    transaction.run("UPDATE segue_sessions SET head = ? WHERE serial = ?", count, target)


def count_existing(transaction: Transaction, name: str, session: SessionRow, rows: Sequence[Row], after: int) -> int:
    """Count how many of ``rows`` already follow ``after``. ``ConflictError`` if other entries do."""
    if not 0 <= after <= session.head:
        raise ConflictError(f"session {name} has {session.head} entries; nothing can be added after number {after}")
    existing = transaction.rows(
        "SELECT key, body FROM segue_entries WHERE session = ? AND number > ? AND number <= ? ORDER BY number",
        session.serial,
        after,
        after + len(rows),
    )
    if any((key, body) != (row.key, row.body) for (key, body), row in zip(existing, rows, strict=False)):
        raise ConflictError(
            f"session {name} now has {session.head} entries, and this writer has seen {after} of them; "
            "nothing was written, open it again to see the rest"
        )
    return len(existing)


def _clamp(number: int) -> int:
    """An imported time may be any number; a column has 64 bits."""
    return max(-MAX_TIME, min(number, MAX_TIME))
