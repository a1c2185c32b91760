"""Sessions in PostgreSQL, for many processes on many machines. Requires psycopg (the extra ``postgres``).

Writers of one session wait for the lock of its row; writers of different sessions do not wait. When an append has
returned, it is as durable as the ``synchronous_commit`` of the server guarantees: by default, on disk.
"""

import os
import re
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import TYPE_CHECKING, Any

from ..errors import SessionError, SettingError
from ..types.secret import Secrets
from ..types.text import whole_number
from .migrations import TABLE, apply_migration, pending, with_types
from .statements import Transaction
from .tables import DuplicateRow, Tables

if TYPE_CHECKING:
    from psycopg import Connection, Cursor

MAX_CONNECTIONS = 8
"""Open connections at the same time, for any number of threads: each is used only briefly."""

MAX_IDLE = 1.0
"""Seconds after which an idle connection is tested before it is used."""

LOCK_TIMEOUT = 30
"""Seconds to wait for another writer of the same session."""

MIGRATION_LOCK = 0x5E60E
"""The number of the advisory lock for migrations. It must not be used for another lock in the database."""


class Unreachable(SessionError):
    """The server cannot be reached, has closed the connection, or has undone the transaction; it may work later."""


class PostgresConnections:
    """A few connections to the database ``dsn``, which are used briefly and replaced when they were cut.

    ``held`` names what a writer waits for, in the error of one that has waited too long.
    """

    def __init__(self, dsn: str, held: str) -> None:
        self._psycopg = _psycopg()
        self._parameters = self._parse_dsn(dsn)
        self._secrets = Secrets(filter(None, (self._parameters.get("password"), os.environ.get("PGPASSWORD"))))
        self._free = threading.BoundedSemaphore(MAX_CONNECTIONS)
        self._idle: list[tuple[Connection[Any], float]] = []
        self._held = held
        self._closed = False
        self._process = os.getpid()

    def close(self) -> None:
        """Close the connections."""
        self._closed = True
        while self._idle:
            connection, _ = self._idle.pop()
            if self._process == os.getpid():
                connection.close()

    @contextmanager
    def reading(self) -> "Iterator[_Statements]":
        """For single statements, each of which sees what was committed before it."""
        with self._free, self._errors():
            connection = self._acquire()
            try:
                yield _Statements(connection.cursor(binary=True))
            finally:
                self._release(connection)

    @contextmanager
    def writing(self) -> "Iterator[_Statements]":
        """For statements that are committed together."""
        with self._free, self._errors():
            connection = self._acquire()
            try:
                with connection.transaction():
                    yield _Statements(connection.cursor(binary=True))
            finally:
                self._release(connection)

    def _acquire(self) -> "Connection[Any]":
        """A working connection. An idle one may have been cut, which is noticed only when it is used."""
        if self._process != os.getpid():
            raise SessionError("the store was opened before this process was forked; open it again here")
        while not self._closed:
            try:
                connection, since = self._idle.pop()
            except IndexError:
                return self._connect()
            try:
                if time.monotonic() - since > MAX_IDLE:
                    connection.execute("")
                return connection
            except self._psycopg.Error:
                connection.close()
        raise SessionError("the store is closed")

    def _parse_dsn(self, dsn: str) -> dict[str, Any]:
        parameters: dict[str, Any] | None = None
        # The error of the driver is not shown: it quotes the address, which may contain a password.
        with suppress(self._psycopg.Error, UnicodeError):
            parameters = self._psycopg.conninfo.conninfo_to_dict(dsn)
        if parameters is None or _is_misread(dsn):
            raise SessionError(
                "the address of the PostgreSQL server cannot be read; it is "
                "postgresql://user:password@host:port/database, where @, :, / and % in a user or password are written "
                "as %40, %3A, %2F and %25, or keywords of libpq (host=… dbname=…); a file with such a name is ./name"
            )
        return parameters

    def _connect(self) -> "Connection[Any]":
        parameters = dict(self._parameters)
        parameters.setdefault("connect_timeout", os.environ.get("PGCONNECT_TIMEOUT", LOCK_TIMEOUT))
        parameters["client_encoding"] = "utf8"
        # A pooler between this process and the server may not keep prepared statements.
        connection: Connection[Any] = self._psycopg.connect(autocommit=True, prepare_threshold=None, **parameters)
        # A writer must see what was committed while it waited for the row, whatever the server's default is.
        connection.isolation_level = self._psycopg.IsolationLevel.READ_COMMITTED
        connection.execute(f"SET lock_timeout = '{LOCK_TIMEOUT}s'")
        return connection

    def _release(self, connection: "Connection[Any]") -> None:
        idle = connection.info.transaction_status == self._psycopg.pq.TransactionStatus.IDLE
        if idle and not self._closed:
            self._idle.append((connection, time.monotonic()))
        else:
            connection.close()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        errors = self._psycopg.errors
        try:
            yield
        except errors.UniqueViolation:
            raise DuplicateRow("this row already exists") from None
        except errors.LockNotAvailable as error:
            raise SessionError(f"another writer has held {self._held} for more than {LOCK_TIMEOUT} s") from error
        except (self._psycopg.OperationalError, self._psycopg.InterfaceError) as error:
            raise Unreachable(self._shown(error)) from None
        except self._psycopg.Error as error:
            raise SessionError(self._shown(error)) from None

    def _shown(self, error: Exception) -> str:
        return f"PostgreSQL: {self._secrets.shown(' '.join(str(error).split()))}"


class PostgresStore(Tables):
    """A store in the database ``dsn``: a ``postgresql://`` URL, or keywords of libpq (``host=… dbname=…``)."""

    lock_clause = " FOR UPDATE"

    def __init__(self, dsn: str) -> None:
        self._connections = PostgresConnections(dsn, "this session")
        try:
            self._migrate()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the connections."""
        self._connections.close()

    def _reading(self) -> AbstractContextManager[Transaction]:
        return self._connections.reading()

    def _writing(self) -> AbstractContextManager[Transaction]:
        return self._connections.writing()

    def _migrate(self) -> None:
        store = "the PostgreSQL database"
        with self._reading() as transaction:
            if not pending(_applied(transaction), store):
                return  # without a migration, no permission to create tables is needed
        with self._writing() as transaction:
            transaction.run("SELECT pg_advisory_xact_lock(?)", MIGRATION_LOCK)
            transaction.run(with_types(TABLE, "postgresql"))
            for migration in pending(_applied(transaction), store):
                apply_migration(transaction, migration, "postgresql")


def _applied(transaction: Transaction) -> int:
    """The number of the last migration."""
    if transaction.rows("SELECT to_regclass('segue_migrations') IS NULL")[0][0]:
        return 0
    return transaction.rows("SELECT max(number) FROM segue_migrations")[0][0] or 0


def _is_misread(dsn: str) -> bool:
    """Whether an unescaped character ends the password too early. The rest of it would be read as a host or a port,
    which errors quote."""
    _, found, rest = dsn.partition("://")
    if not found:
        return False
    authority, _, path = re.sub(r"[?#].*", "", rest, flags=re.DOTALL).partition("/")
    user, _, hosts = authority.rpartition("@")
    ports = [host.rpartition("]")[2].rpartition(":")[2] for host in hosts.split(",") if ":" in host.rpartition("]")[2]]
    return (
        "@" in user
        or (not user and "@" in path)
        or not all(not port or whole_number(port) is not None for port in ports)
    )


class _Statements:
    """Statements on one connection."""

    def __init__(self, cursor: "Cursor[Any]") -> None:
        self._cursor = cursor

    def rows(self, sql: str, *arguments: Any) -> list[Any]:
        return self._cursor.execute(_with_psycopg_placeholders(sql), arguments).fetchall()

    def run(self, sql: str, *arguments: Any) -> None:
        self._cursor.execute(_with_psycopg_placeholders(sql), arguments)

    def run_many(self, sql: str, arguments: Iterable[Sequence[Any]]) -> None:
        self._cursor.executemany(_with_psycopg_placeholders(sql), arguments)


def _with_psycopg_placeholders(sql: str) -> str:
    """Replace the placeholders. The statements of this room use ``?`` for nothing else."""
    return sql.replace("?", "%s")


def _psycopg() -> Any:
    try:
        import psycopg
    except ImportError:
        raise SettingError("PostgreSQL needs psycopg: pip install 'segue[postgres]'") from None
    return psycopg
