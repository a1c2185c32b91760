"""Sessions in PostgreSQL: for many processes on many machines. Needs psycopg (the extra ``postgres``).

Writers of one session wait for each other at its row; writers of different sessions do not meet. When an append has
returned, the server has it as durably as its own ``synchronous_commit`` says, which by default is on disk.
"""

import os
import re
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from ..errors import SessionError, SettingError
from ..types.secret import Secrets
from .migrations import TABLE, missing, spelled
from .tables import Doubled, Tables

if TYPE_CHECKING:
    from psycopg import Connection, Cursor

CONNECTIONS = 8
"""At most this many at once, for any number of threads: each is needed for moments only."""

FRESH = 1.0
"""Seconds after which a connection that lay idle is tried before it is used."""

PATIENCE = 30
"""Seconds to wait for another writer of the same session."""

MIGRATING = 0x5E60E
"""The advisory lock that two processes need to make the tables; any number that nobody else takes."""


class PostgresStore(Tables):
    """A store in the database that ``dsn`` names: a ``postgresql://`` URL, or words as libpq takes them."""

    lock = " FOR UPDATE"

    def __init__(self, dsn: str) -> None:
        self._psycopg = _psycopg()
        self._named = self._read_address(dsn)
        self._secrets = Secrets(filter(None, (self._named.get("password"), os.environ.get("PGPASSWORD"))))
        self._free = threading.BoundedSemaphore(CONNECTIONS)
        self._idle: list[tuple[Connection[Any], float]] = []
        self._closed = False
        self._process = os.getpid()
        try:
            self._migrate()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the connections."""
        self._closed = True
        while self._idle:
            connection, _ = self._idle.pop()
            if self._process == os.getpid():
                connection.close()

    @contextmanager
    def _reading(self) -> "Iterator[_Statements]":
        with self._free, self._errors():
            connection = self._connected()
            try:
                yield _Statements(connection.cursor(binary=True))
            finally:
                self._give_back(connection)

    @contextmanager
    def _writing(self) -> "Iterator[_Statements]":
        with self._free, self._errors():
            connection = self._connected()
            try:
                with connection.transaction():
                    yield _Statements(connection.cursor(binary=True))
            finally:
                self._give_back(connection)

    # -- connections -------------------------------------------------------------------------------------------------

    def _connected(self) -> "Connection[Any]":
        """A connection that answers: one that lay idle may have been cut, which shows only when it is used."""
        if self._process != os.getpid():
            raise SessionError("the store was opened before this process was forked; open it again here")
        while not self._closed:
            try:
                connection, since = self._idle.pop()
            except IndexError:
                return self._connect()
            try:
                if time.monotonic() - since > FRESH:
                    connection.execute("")
                return connection
            except self._psycopg.Error:
                connection.close()
        raise SessionError("the store is closed")

    def _read_address(self, dsn: str) -> dict[str, Any]:
        named: dict[str, Any] | None = None
        # The driver quotes what it cannot read, and there may be a password in it.
        with suppress(self._psycopg.Error, UnicodeError):
            named = self._psycopg.conninfo.conninfo_to_dict(dsn)
        if named is None or _is_torn(dsn):
            raise SessionError(
                "the address of the PostgreSQL server cannot be read; it is "
                "postgresql://user:password@host:port/database, where @, :, / and % in a user or password are written "
                "as %40, %3A, %2F and %25, or words of libpq (host=… dbname=…); a file of such a name is ./name"
            )
        return named

    def _connect(self) -> "Connection[Any]":
        named = dict(self._named)
        named.setdefault("connect_timeout", os.environ.get("PGCONNECT_TIMEOUT", PATIENCE))
        named["client_encoding"] = "utf8"
        # Poolers between us and the server may not keep prepared statements.
        connection: Connection[Any] = self._psycopg.connect(autocommit=True, prepare_threshold=None, **named)
        # A writer must see what was committed while it waited for the row, whatever the server's default is.
        connection.isolation_level = self._psycopg.IsolationLevel.READ_COMMITTED
        connection.execute(f"SET lock_timeout = '{PATIENCE}s'")
        return connection

    def _give_back(self, connection: "Connection[Any]") -> None:
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
            raise Doubled("there is such a row already") from None
        except errors.LockNotAvailable as error:
            raise SessionError(f"another writer has held this session for more than {PATIENCE} s") from error
        except self._psycopg.Error as error:
            raise SessionError(f"PostgreSQL: {self._secrets.shown(' '.join(str(error).split()))}") from None

    # -- tables ------------------------------------------------------------------------------------------------------

    def _migrate(self) -> None:
        where = "the PostgreSQL database"
        with self._reading() as tables:
            if not missing(_done(tables), where):
                return  # nothing to make, and so no right to make tables is needed
        with self._writing() as tables:
            tables.run("SELECT pg_advisory_xact_lock(?)", MIGRATING)
            tables.run(spelled(TABLE, "postgresql"))
            for step in missing(_done(tables), where):
                for statement in step.statements:
                    tables.run(spelled(statement, "postgresql"))
                tables.run("INSERT INTO segue_migrations (number, why) VALUES (?, ?)", step.number, step.why)


def _done(tables: "_Statements") -> int:
    if tables.rows("SELECT to_regclass('segue_migrations') IS NULL")[0][0]:
        return 0
    return tables.rows("SELECT max(number) FROM segue_migrations")[0][0] or 0


def _is_torn(dsn: str) -> bool:
    """Whether a character of the password ends it too early, so that the rest of it is taken for a host or a port,
    which errors quote."""
    _, found, rest = dsn.partition("://")
    if not found:
        return False
    authority, _, path = re.sub(r"[?#].*", "", rest, flags=re.DOTALL).partition("/")
    user, _, hosts = authority.rpartition("@")
    ports = [host.rpartition("]")[2].rpartition(":")[2] for host in hosts.split(",") if ":" in host.rpartition("]")[2]]
    return "@" in user or (not user and "@" in path) or not all(port.isdigit() or not port for port in ports)


class _Statements:
    """Statements on one connection."""

    def __init__(self, cursor: "Cursor[Any]") -> None:
        self._cursor = cursor

    def rows(self, sql: str, *arguments: Any) -> list[Any]:
        return self._cursor.execute(_own(sql), arguments).fetchall()

    def run(self, sql: str, *arguments: Any) -> None:
        self._cursor.execute(_own(sql), arguments)

    def run_many(self, sql: str, arguments: Iterable[Sequence[Any]]) -> None:
        self._cursor.executemany(_own(sql), arguments)


def _own(sql: str) -> str:
    """Our statements have no question marks but those for arguments, and are nobody's but ours."""
    return sql.replace("?", "%s")


def _psycopg() -> Any:
    try:
        import psycopg
    except ImportError:
        raise SettingError("PostgreSQL needs psycopg: pip install 'segue[postgres]'") from None
    return psycopg
