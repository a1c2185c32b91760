"""Sessions in one SQLite file: no server, any number of processes of one machine, one writer at a time.

``synchronous`` is FULL. With NORMAL a commit survives the end of the process but not that of the machine, and what was
acknowledged must survive both: a call is run because the log says that it was started, and after a power cut the log
must still say so. An fsync an append is the price, some hundred microseconds on a good disk.

A file that is removed or replaced while it is open still takes what is written, and nobody finds it again. So the names
of the store's files are looked up before an append is acknowledged.
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
from .migrations import TABLE, missing, spelled
from .tables import Doubled, Tables, fitting

PATIENCE = 30.0
"""Seconds to wait for other processes that write."""

MEMORY = ":memory:"

PARTS = ("", "-wal", "-shm")
"""What the names of a store's files end in, behind its path."""


class ExposedStoreWarning(UserWarning):
    """A file with sessions that other users of this machine may read or change."""


class SQLiteStore(Tables):
    """A store in the file ``path``, which is made if it is not there; ``:memory:`` is one that nobody else sees."""

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
            self._files = _files_of(self.path)
            _warn_if_exposed(self.path)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None and self._process == os.getpid():
                connection.close()

    @contextmanager
    def _reading(self) -> "Iterator[_Statements]":
        with self._lock, self._errors():
            yield _Statements(self._opened())

    @contextmanager
    def _writing(self) -> "Iterator[_Statements]":
        with self._lock, self._errors():
            connection = self._opened()
            self._check_names()
            # At once for writing: a transaction that begins by reading cannot wait when it turns to writing.
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield _Statements(connection)
                connection.execute("COMMIT")
                self._check_names()
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            raise SessionError(f"{self.path}: the store is closed")
        if self._process != os.getpid():
            # SQLite's locks belong to the process: a copy of it would undo them unawares.
            raise SessionError(f"{self.path}: the store was opened before this process was forked; open it again here")
        return self._connection

    def _check_names(self) -> None:
        """A ``SessionError`` if the path leads to another file than the one that is open, or to none."""
        for name, known in self._files.items():
            if _identity(name) != known:
                raise SessionError(
                    f"{name}: the file was removed or replaced while it was in use; what is written to it is lost, "
                    "open the store again"
                )

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.IntegrityError:
            raise Doubled(f"{self.path}: there is such a row already") from None
        except sqlite3.Error as error:
            raise SessionError(f"{self.path}: {_in_words(error)}") from error
        except (UnicodeError, OverflowError) as error:  # what SQLite reads from a damaged file, in Python's words
            raise SessionError(f"{self.path}: the file is damaged ({type(error).__name__}: {error})") from None

    def _migrate(self) -> None:
        if not missing(self._done(), self.path):
            return
        with self._writing() as tables:
            tables.run(spelled(TABLE, "sqlite"))
            for step in missing(self._done(), self.path):  # another process may have been quicker
                for statement in step.statements:
                    tables.run(spelled(statement, "sqlite"))
                tables.run("INSERT INTO segue_migrations (number, why) VALUES (?, ?)", step.number, step.why)

    def _done(self) -> int:
        if not self._rows("SELECT 1 FROM sqlite_master WHERE name = 'segue_migrations'"):
            return 0
        return fitting(self._rows("SELECT coalesce(max(number), 0) FROM segue_migrations")[0], tuple[int])[0]


class _Statements:
    """Statements on the one connection."""

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
        _make_private(path)
    connection = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
    try:
        _set_up(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _set_up(connection: sqlite3.Connection) -> None:
    deadline = time.monotonic() + PATIENCE
    while connection.execute("PRAGMA journal_mode").fetchone()[0] not in ("wal", "memory"):
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            break  # or where the file system has no shared memory, another mode: slower, and as safe
        except sqlite3.OperationalError as error:
            # Two processes that open a new file at once stand in each other's way, and SQLite does not wait here.
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA fullfsync = ON")  # on macOS, fsync alone leaves data in the drive


def _make_private(path: str) -> None:
    """Conversations are nobody else's business: the file is made for its owner alone, and SQLite's others follow it."""
    try:
        Path(path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise SessionError(f"{path}: no store can be made there: {error.strerror}") from None


def _warn_if_exposed(path: str) -> None:
    if path == MEMORY or os.name != "posix":
        return
    mode = stat.S_IMODE(os.stat(path).st_mode)
    if mode & 0o077:
        may = "read and change" if mode & 0o022 else "read"
        advice = f"make it yours alone: chmod 600 {path}"
        text = f"{path}: other users of this machine may {may} these sessions (mode {mode:04o}); {advice}"
        warnings.warn(text, ExposedStoreWarning, stacklevel=3)


def _files_of(path: str) -> dict[str, tuple[int, int]]:
    """The files of a store that are there now, each by its full name: the working directory may change."""
    if path == MEMORY:
        return {}
    named = {name: _identity(name) for name in (os.path.abspath(path) + part for part in PARTS)}
    return {name: identity for name, identity in named.items() if identity is not None}


def _identity(name: str) -> tuple[int, int] | None:
    """Which file a name leads to. An open file keeps its number: no other one can have it."""
    try:
        found = os.stat(name)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _in_words(error: sqlite3.Error) -> str:
    text = str(error)
    if "locked" in text:
        return f"other processes have been writing to the file for more than {PATIENCE:.0f} s"
    if "not a database" in text:
        return "this is no store of sessions"
    return text
