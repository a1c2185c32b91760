"""Sessions in one SQLite file: no server, any number of processes on one machine, one writer at a time.

``synchronous`` is FULL. With NORMAL a commit survives a crash of the process, but not of the machine. Acknowledged
entries must survive both: a call runs because the log has its start, and after a power cut the log must still have it.
The price is one fsync per append, some hundred microseconds on a good disk.

If the file is removed or replaced while it is open, writes still succeed, but they are lost. So the names of the
store's files are checked before an append is acknowledged.
"""

import os
import sqlite3
import stat
import threading
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import SessionError
from .migrations import TABLE, apply_migration, pending, with_types
from .statements import convert_row
from .tables import DuplicateRow, Tables

LOCK_TIMEOUT = 30.0
"""Seconds to wait for other processes that write."""

MEMORY = ":memory:"

SUFFIXES = ("", "-wal", "-shm")
"""The files of a store: its path with these suffixes."""


class ExposedStoreWarning(UserWarning):
    """Warns that other users of this machine may read or change a file with sessions."""


class SQLiteStore(Tables):
    """A store in the file ``path``, which is created if necessary; ``:memory:`` is a store in memory."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self.blocks = self.path != MEMORY
        self._lock = threading.RLock()
        self._process = os.getpid()
        self._connection: sqlite3.Connection | None = None
        self._files: dict[str, tuple[int, int]] = {}
        with self._errors():
            self._connection = _connect(self.path)
        try:
            self._migrate()
            self._files = _existing_files(self.path)
            _warn_if_exposed(self.path)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None and self._process == os.getpid():
                connection.close()

    @contextmanager
    def _reading(self) -> "Iterator[_Statements]":
        with self._lock, self._errors():
            yield _Statements(self._open_connection())

    @contextmanager
    def _writing(self) -> "Iterator[_Statements]":
        with self._lock, self._errors():
            connection = self._open_connection()
            self._check_files()
            # A transaction that begins by reading could not wait for the lock when it starts to write.
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield _Statements(connection)
                connection.execute("COMMIT")
                self._check_files()
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def _open_connection(self) -> sqlite3.Connection:
        if self._connection is None:
            raise SessionError(f"{self.path}: the store is closed")
        if self._process != os.getpid():
            # The locks of SQLite belong to the process: a fork would release them.
            raise SessionError(f"{self.path}: the store was opened before this process was forked; open it again here")
        return self._connection

    def _check_files(self) -> None:
        """Raise a ``SessionError`` if the open file is no longer the one at its path."""
        for name, known in self._files.items():
            if _identity(name) != known:
                raise SessionError(
                    f"{name}: the file was removed or replaced while it was in use; writes to it are lost, "
                    "open the store again"
                )

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.IntegrityError:
            raise DuplicateRow(f"{self.path}: this row already exists") from None
        except sqlite3.Error as error:
            raise SessionError(f"{self.path}: {_describe(error)}") from error
        except (UnicodeError, OverflowError) as error:  # Python cannot convert what a damaged file holds
            raise SessionError(f"{self.path}: the file is damaged ({type(error).__name__}: {error})") from None

    def _migrate(self) -> None:
        if not pending(self._applied(), self.path):
            return
        with self._writing() as transaction:
            transaction.run(with_types(TABLE, "sqlite"))
            for migration in pending(self._applied(), self.path):  # another process may have been faster
                apply_migration(transaction, migration, "sqlite")

    def _applied(self) -> int:
        """The number of the last migration."""
        if not self._rows("SELECT 1 FROM sqlite_master WHERE name = 'segue_migrations'"):
            return 0
        return convert_row(self._rows("SELECT coalesce(max(number), 0) FROM segue_migrations")[0], tuple[int])[0]


class _Statements:
    """Statements on the connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def rows(self, sql: str, *arguments: Any) -> list[Any]:
        return self._connection.execute(sql, arguments).fetchall()

    def run(self, sql: str, *arguments: Any) -> None:
        self._connection.execute(sql, arguments)

    def run_many(self, sql: str, arguments: Iterable[Sequence[Any]]) -> None:
        self._connection.executemany(sql, arguments)


def _connect(path: str) -> sqlite3.Connection:
    if path != MEMORY and not os.path.exists(path):
        _create_private(path)
    connection = sqlite3.connect(path, timeout=LOCK_TIMEOUT, isolation_level=None, check_same_thread=False)
    try:
        _set_up(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _set_up(connection: sqlite3.Connection) -> None:
    deadline = time.monotonic() + LOCK_TIMEOUT
    while connection.execute("PRAGMA journal_mode").fetchone()[0] not in ("wal", "memory"):
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            break  # without shared memory in the file system, another mode stays: slower, but as safe
        except sqlite3.OperationalError as error:
            # Two processes that open a new file at the same time block each other, and SQLite does not wait here.
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA fullfsync = ON")  # on macOS, fsync alone leaves data in the drive


def _create_private(path: str) -> None:
    """Create the file with access for its owner only. SQLite gives its other files the same mode."""
    try:
        Path(path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise SessionError(f"{path}: no store can be created there: {error.strerror}") from None


def _warn_if_exposed(path: str) -> None:
    if path == MEMORY or os.name != "posix":
        return
    mode = stat.S_IMODE(os.stat(path).st_mode)
    if mode & 0o077:
        access = "read and change" if mode & 0o022 else "read"
        advice = f"make it private: chmod 600 {path}"
        text = f"{path}: other users of this machine may {access} these sessions (mode {mode:04o}); {advice}"
        warnings.warn(text, ExposedStoreWarning, stacklevel=3)


def _existing_files(path: str) -> dict[str, tuple[int, int]]:
    """The existing files of a store by their absolute paths, because the working directory may change."""
    if path == MEMORY:
        return {}
    files = {name: _identity(name) for name in (os.path.abspath(path) + suffix for suffix in SUFFIXES)}
    return {name: identity for name, identity in files.items() if identity is not None}


def _identity(name: str) -> tuple[int, int] | None:
    """The device and inode of a file. No other file can have them while it is open."""
    try:
        found = os.stat(name)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _describe(error: sqlite3.Error) -> str:
    text = str(error)
    if "locked" in text:
        return f"other processes have been writing to the file for more than {LOCK_TIMEOUT:.0f} s"
    if "not a database" in text:
        return "this is not a store of sessions"
    return text
