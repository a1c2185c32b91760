"""Two databases with one interface: statements with ``?``, reads at any time, and writes that are grouped.

SQLite: reads run on the event loop (some microseconds from a file that is in memory), writes on one thread, and all
that are waiting share a transaction. ``synchronous`` is NORMAL: what was acknowledged survives the death of the
process, and a power cut may lose the last answers of recall, which then count as unknown. PostgreSQL: one connection
per thread of a small pool.
"""

import asyncio
import os
import queue
import sqlite3
import threading
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from ..errors import SessionError, SettingError
from ..types.secret import Secrets
from .migrations import MIGRATIONS, TABLE, TYPES

Row = tuple[Any, ...]
Statement = tuple[str, Sequence[Any]]
LOCK_TIMEOUT = 30.0
THREADS = 4


class Database(Protocol):
    """Where the gateway keeps its tables."""

    async def read(self, sql: str, *arguments: Any) -> list[Row]:
        """The rows of a query."""

    async def write(self, *statements: Statement) -> None:
        """Run statements in one transaction, and return when they are kept."""

    async def change(self, act: "Callable[[Statements], Any]") -> Any:
        """Call ``act`` inside a transaction that no other writer interrupts, and return its result."""

    def close(self) -> None: ...


class Statements(Protocol):
    """Statements inside a transaction."""

    def rows(self, sql: str, *arguments: Any) -> list[Row]: ...

    def run(self, sql: str, *arguments: Any) -> None: ...


def open_database(location: str) -> Database:
    """Open the database at a path or a ``postgresql://`` address, and create its tables."""
    if location.startswith(("postgresql://", "postgres://")):
        return Postgres(location)
    return SQLite(location.removeprefix("sqlite:///"))


# -- SQLite ----------------------------------------------------------------------------------------------------------


class _SQLiteStatements:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def rows(self, sql: str, *arguments: Any) -> list[Row]:
        return self._connection.execute(sql, arguments).fetchall()

    def run(self, sql: str, *arguments: Any) -> None:
        self._connection.execute(sql, arguments)


class SQLite:
    """A database in a file, with one writer thread."""

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            Path(path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
            self._reader = _connect(path)
            _migrate(_SQLiteStatements(self._reader), "sqlite", path)
        except (OSError, sqlite3.Error) as error:
            raise SessionError(f"{path}: the gateway's store cannot be opened: {error}") from None
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="segue gateway store", daemon=True)
        self._thread.start()

    async def read(self, sql: str, *arguments: Any) -> list[Row]:
        try:
            return self._reader.execute(sql, arguments).fetchall()
        except sqlite3.Error as error:
            raise SessionError(f"{self.path}: {error}") from None

    async def write(self, *statements: Statement) -> None:
        def act(transaction: Statements) -> None:
            for sql, arguments in statements:
                transaction.run(sql, *arguments)

        await self.change(act)

    async def change(self, act: Callable[[Statements], Any]) -> Any:
        job = _Job(act, asyncio.get_running_loop())
        self._jobs.put(job)
        return await job.done

    def close(self) -> None:
        self._jobs.put(None)
        self._thread.join(5)
        self._reader.close()

    def _work(self) -> None:
        connection = _connect(self.path)
        statements = _SQLiteStatements(connection)
        while (job := self._jobs.get()) is not None:
            jobs = [job]
            with suppress(queue.Empty):
                while len(jobs) < 256:
                    following = self._jobs.get_nowait()
                    if following is None:
                        self._jobs.put(None)
                        break
                    jobs.append(following)
            _run_jobs(connection, statements, jobs)
        connection.close()


class _Job:
    """A change, and the future of its caller."""

    def __init__(self, act: Callable[[Statements], Any], loop: asyncio.AbstractEventLoop) -> None:
        self.act, self.loop = act, loop
        self.done: asyncio.Future[Any] = loop.create_future()

    def finish(self, result: Any, error: Exception | None) -> None:
        """Report to the caller, from the writer thread."""
        with suppress(RuntimeError):  # the loop has ended
            self.loop.call_soon_threadsafe(self._settle, result, error)

    def _settle(self, result: Any, error: Exception | None) -> None:
        if not self.done.done():
            if error is None:
                self.done.set_result(result)
            else:
                self.done.set_exception(error)


def _run_jobs(connection: sqlite3.Connection, statements: Statements, jobs: list[_Job]) -> None:
    """Run jobs in one transaction; if one of them fails, each in its own."""
    try:
        results = _in_transaction(connection, lambda: [job.act(statements) for job in jobs])
    except Exception as error:  # noqa: BLE001, reported to the caller
        if len(jobs) == 1:
            failure = SessionError(f"the gateway's store: {error}") if isinstance(error, sqlite3.Error) else error
            jobs[0].finish(None, failure)
            return
        for job in jobs:
            _run_jobs(connection, statements, [job])
        return
    for job, result in zip(jobs, results, strict=True):
        job.finish(result, None)


def _in_transaction(connection: sqlite3.Connection, act: Callable[[], Any]) -> Any:
    connection.execute("BEGIN IMMEDIATE")
    try:
        result = act()
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return result


def _connect(path: str) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=LOCK_TIMEOUT, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    return connection


# -- PostgreSQL ------------------------------------------------------------------------------------------------------


class _PostgresStatements:
    def __init__(self, cursor: Any) -> None:
        self._cursor = cursor

    def rows(self, sql: str, *arguments: Any) -> list[Row]:
        found: list[Row] = self._cursor.execute(sql.replace("?", "%s"), arguments).fetchall()
        return found

    def run(self, sql: str, *arguments: Any) -> None:
        self._cursor.execute(sql.replace("?", "%s"), arguments)


class Postgres:
    """A database for several replicas. A connection that was cut is opened again."""

    def __init__(self, dsn: str) -> None:
        try:
            import psycopg
        except ImportError:
            raise SettingError("PostgreSQL needs psycopg: pip install 'segue[postgres]'") from None
        self._psycopg: Any = psycopg
        self._dsn = dsn
        self._secrets = Secrets()
        with suppress(psycopg.Error):
            self._secrets.add(str(psycopg.conninfo.conninfo_to_dict(dsn).get("password") or ""))
        self._local = threading.local()
        self._open: list[Any] = []
        self._pool = ThreadPoolExecutor(THREADS, "segue gateway store")
        self._pool.submit(self._run, self._create).result()

    def _create(self, transaction: Statements) -> None:
        transaction.rows("SELECT pg_advisory_xact_lock(?)", 0x5E60F)
        _migrate(transaction, "postgresql", "the PostgreSQL database")

    async def read(self, sql: str, *arguments: Any) -> list[Row]:
        found: list[Row] = await self.change(lambda transaction: transaction.rows(sql, *arguments))
        return found

    async def write(self, *statements: Statement) -> None:
        def act(transaction: Statements) -> None:
            for sql, arguments in statements:
                transaction.run(sql, *arguments)

        await self.change(act)

    async def change(self, act: Callable[[Statements], Any]) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._run, act)

    def close(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)
        for connection in self._open:
            with suppress(Exception):
                connection.close()

    def _run(self, act: Callable[[Statements], Any]) -> Any:
        for last in (False, True):
            connection = getattr(self._local, "connection", None)
            try:
                if connection is None or connection.closed:
                    connection = self._connect()
                with connection.transaction():
                    return act(_PostgresStatements(connection.cursor()))
            except (self._psycopg.OperationalError, self._psycopg.InterfaceError) as error:
                self._local.connection = None
                if last:
                    text = self._secrets.shown(" ".join(str(error).split()))
                    raise SessionError(f"PostgreSQL: {text}") from None
            except self._psycopg.Error as error:
                raise SessionError(f"PostgreSQL: {self._secrets.shown(' '.join(str(error).split()))}") from None
        raise AssertionError

    def _connect(self) -> Any:
        connection = self._psycopg.connect(self._dsn, autocommit=True, prepare_threshold=None, connect_timeout=10)
        connection.isolation_level = self._psycopg.IsolationLevel.READ_COMMITTED
        self._local.connection = connection
        self._open.append(connection)
        return connection


# -- tables ----------------------------------------------------------------------------------------------------------


def _migrate(transaction: Statements, database: str, name: str) -> None:
    names = TYPES[database]
    if database == "sqlite":
        transaction.run("BEGIN IMMEDIATE")
    transaction.run(TABLE.format_map(names))
    applied = transaction.rows("SELECT max(number) FROM segue_gateway_migrations")[0][0] or 0
    if applied > MIGRATIONS[-1].number:
        raise SessionError(f"{name}: a newer segue has written the gateway's tables; update segue to use them")
    for migration in MIGRATIONS:
        if migration.number > applied:
            for statement in migration.statements:
                transaction.run(statement.format_map(names))
            transaction.run(
                "INSERT INTO segue_gateway_migrations (number, why) VALUES (?, ?)", migration.number, migration.why
            )
    if database == "sqlite":
        transaction.run("COMMIT")


async def within(seconds: float, work: Awaitable[Any]) -> bool:
    """Whether ``work`` was done within ``seconds``; it continues otherwise."""
    task = asyncio.ensure_future(work)
    done, _ = await asyncio.wait([task], timeout=seconds)
    if not done:
        task.add_done_callback(lambda late: late.cancelled() or late.exception())
        return False
    return task.exception() is None
