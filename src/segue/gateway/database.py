"""Two databases with one interface: statements with ``?``, reads at any time, and writes in their order.

SQLite: reads and small writes run on the event loop, which takes some microseconds: a file in memory is read or
appended to. Waking a thread would take ten times as long. Other writes, and those that find the file locked, run on one
thread, and all that are waiting share a transaction. ``synchronous`` is NORMAL: what was acknowledged survives the
death of the process, and a power cut may lose the last answers of recall, which then count as unknown. PostgreSQL:
calls run on a few threads, each with a connection of its own.
"""

import asyncio
import logging
import os
import queue
import sqlite3
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, Protocol

from ..errors import SessionError
from ..session import MAX_CONNECTIONS, PostgresConnections, Unreachable, is_postgres
from .migrations import MIGRATIONS, TABLE, TYPES, Migration

logger = logging.getLogger("segue.gateway")
Row = tuple[Any, ...]
Statement = tuple[str, Sequence[Any]]
LOCK_TIMEOUT = 30.0
AWAY_TIMEOUT = 30.0
"""Seconds that a call waits for a PostgreSQL server that cannot be reached: it may be restarting."""
FIRST_PAUSE = 0.05
SMALL = 64 * 1024
"""Bytes of a write on the event loop, at most."""
MOST_SMALL = 100
"""After so many transactions on the event loop the thread has one: it empties the log of SQLite when that is long."""
POSTGRESQL = "the PostgreSQL database"


class Database(Protocol):
    """Where the gateway keeps its tables."""

    async def read(self, sql: str, *arguments: Any) -> list[Row]:
        """The rows of a query."""

    async def write(self, *statements: Statement) -> None:
        """Run statements in one transaction, and return when they are kept."""

    async def change(self, act: "Callable[[Statements], Any]") -> Any:
        """Call ``act`` inside a transaction, and return its result."""

    def close(self) -> None: ...


class Statements(Protocol):
    """Statements inside a transaction."""

    def rows(self, sql: str, *arguments: Any) -> list[Row]: ...

    def run(self, sql: str, *arguments: Any) -> None: ...

    def lock(self, name: str) -> None:
        """Wait until no other transaction holds the lock ``name``, and hold it to the end of this one."""


def open_database(location: str) -> Database:
    """Open the database at a path or a ``postgresql://`` address, and create its tables."""
    if is_postgres(location):
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

    def lock(self, name: str) -> None:
        """Every transaction has the lock of the whole file."""


class SQLite:
    """A database in a file, with one writer thread."""

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            Path(path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
            self._reader = _connect(path)
            _in_transaction(self._reader, lambda: _migrate(_SQLiteStatements(self._reader), "sqlite", path))
            self._writer = _connect(path)
            self._writer.execute("PRAGMA busy_timeout = 0")  # the thread waits
            self._writer.execute("PRAGMA wal_autocheckpoint = 0")  # it takes long, so the thread does it
        except (OSError, sqlite3.Error) as error:
            raise SessionError(f"{path}: the gateway's store cannot be opened: {error}") from None
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._unfinished: set[_Job] = set()
        self._writing = threading.Lock()
        self._closed = False
        self._small = 0  # transactions on the event loop since the last one on the thread
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

        if not self._is_small(statements) or not self._write_here(act):
            await self.change(act)

    def _is_small(self, statements: Sequence[Statement]) -> bool:
        """Whether to try a write on the event loop: not while the thread has work, so that their order is kept."""
        return not self._unfinished and self._small < MOST_SMALL and _size(statements) <= SMALL

    def _write_here(self, act: Callable[[Statements], None]) -> bool:
        """Write on the event loop, unless another one does. Return whether it was possible."""
        if not self._writing.acquire(blocking=False):
            return False
        self._small += 1
        try:
            _in_transaction(self._writer, lambda: act(_SQLiteStatements(self._writer)))
        except Exception:  # noqa: BLE001, the file is locked, or the thread reports what is wrong
            return False
        finally:
            self._writing.release()
        return True

    async def change(self, act: Callable[[Statements], Any]) -> Any:
        if self._closed:
            raise SessionError(f"{self.path}: the gateway's store is closed")
        job = _Job(act, asyncio.get_running_loop())
        self._unfinished.add(job)
        self._small = 0
        self._jobs.put(job)
        return await job.done

    def close(self) -> None:
        self._closed = True
        self._jobs.put(None)
        self._thread.join(5)
        self._writer.close()
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
            self._unfinished.difference_update(jobs)
        connection.close()


class _Job:
    """A change, the future of its caller, and what it has led to."""

    def __init__(self, act: Callable[[Statements], Any], loop: asyncio.AbstractEventLoop) -> None:
        self.act, self.loop = act, loop
        self.done: asyncio.Future[Any] = loop.create_future()
        self.result: Any = None
        self.error: Exception | None = None

    def report(self) -> None:
        """Give the result or the error to the caller. Called on its event loop."""
        if self.done.done():
            return
        if self.error is None:
            self.done.set_result(self.result)
        else:
            self.done.set_exception(self.error)


def _report(jobs: list[_Job]) -> None:
    """Report jobs to their callers, from the writer thread: once for each event loop, because it costs a wake-up."""
    waiting: dict[asyncio.AbstractEventLoop, list[_Job]] = {}
    for job in jobs:
        waiting.setdefault(job.loop, []).append(job)
    for loop, own in waiting.items():
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(_report_each, own)


def _report_each(jobs: list[_Job]) -> None:
    for job in jobs:
        job.report()


def _run_jobs(connection: sqlite3.Connection, statements: Statements, jobs: list[_Job]) -> None:
    """Run jobs in one transaction; if one of them fails, each in its own."""
    try:
        results = _in_transaction(connection, lambda: [job.act(statements) for job in jobs])
    except Exception as error:  # noqa: BLE001, reported to the caller
        if len(jobs) > 1:
            for job in jobs:
                _run_jobs(connection, statements, [job])
            return
        jobs[0].error = SessionError(f"the gateway's store: {error}") if isinstance(error, sqlite3.Error) else error
    else:
        for job, result in zip(jobs, results, strict=True):
            job.result = result
    _report(jobs)


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


def _size(statements: Sequence[Statement]) -> int:
    """About how many bytes statements write."""
    return sum(len(each) for _, arguments in statements for each in arguments if isinstance(each, str | bytes))


def _connect(path: str) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=LOCK_TIMEOUT, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    return connection


# -- PostgreSQL ------------------------------------------------------------------------------------------------------


class _PostgresStatements:
    def __init__(self, transaction: Any) -> None:
        self.rows, self.run = transaction.rows, transaction.run

    def lock(self, name: str) -> None:
        number = int.from_bytes(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest(), signed=True)
        self.run("SELECT pg_advisory_xact_lock(?)", number)


class Postgres:
    """A database for several replicas. While the server is away, calls wait for it and are repeated.

    A connection may break after a transaction was committed and before this is known; the transaction is then run
    again. So statements must be such that a second run does no harm.
    """

    def __init__(self, dsn: str) -> None:
        self._connections = PostgresConnections(dsn, "a row of the gateway")
        self._threads = ThreadPoolExecutor(MAX_CONNECTIONS, "segue gateway store")
        self._closing = threading.Event()
        try:
            self._create()
        except BaseException:
            self.close()
            raise

    def _create(self) -> None:
        with self._connections.reading() as look:
            exists = not look.rows("SELECT to_regclass('segue_gateway_migrations') IS NULL")[0][0]
            if exists and not _pending(_PostgresStatements(look), POSTGRESQL):
                return  # without a migration, no permission to create tables is needed
        with self._connections.writing() as found:
            transaction = _PostgresStatements(found)
            transaction.lock("segue gateway migrations")
            _migrate(transaction, "postgresql", POSTGRESQL)

    async def read(self, sql: str, *arguments: Any) -> list[Row]:
        def act() -> list[Row]:
            with self._connections.reading() as look:
                found: list[Row] = look.rows(sql, *arguments)
                return found

        found: list[Row] = await self._in_thread(act)
        return found

    async def write(self, *statements: Statement) -> None:
        def act(transaction: Statements) -> None:
            for sql, arguments in statements:
                transaction.run(sql, *arguments)

        await self.change(act)

    async def change(self, act: Callable[[Statements], Any]) -> Any:
        def transact() -> Any:
            with self._connections.writing() as transaction:
                return act(_PostgresStatements(transaction))

        return await self._in_thread(transact)

    def close(self) -> None:
        self._closing.set()
        self._threads.shutdown(wait=True, cancel_futures=True)
        self._connections.close()

    async def _in_thread(self, act: Callable[[], Any]) -> Any:
        last = time.monotonic() + AWAY_TIMEOUT
        work = asyncio.get_running_loop().run_in_executor(self._threads, self._patiently, act, last)
        return await asyncio.shield(work)

    def _patiently(self, act: Callable[[], Any], last: float) -> Any:
        """Call ``act``, again and again while the server is away, but not after ``last``."""
        pause = FIRST_PAUSE
        while True:
            try:
                return act()
            except Unreachable:
                if time.monotonic() + pause > last or self._closing.wait(pause):
                    raise
            pause = min(2 * pause, 1.0)


# -- tables ----------------------------------------------------------------------------------------------------------


def _pending(transaction: Statements, name: str) -> list[Migration]:
    """The migrations that were not applied yet."""
    applied = transaction.rows("SELECT max(number) FROM segue_gateway_migrations")[0][0] or 0
    if applied > MIGRATIONS[-1].number:
        raise SessionError(f"{name}: a newer segue has written the gateway's tables; update segue to use them")
    return [migration for migration in MIGRATIONS if migration.number > applied]


def _migrate(transaction: Statements, database: str, name: str) -> None:
    names = TYPES[database]
    transaction.run(TABLE.format_map(names))
    for migration in _pending(transaction, name):
        for statement in migration.statements:
            transaction.run(statement.format_map(names))
        transaction.run(
            "INSERT INTO segue_gateway_migrations (number, why) VALUES (?, ?)", migration.number, migration.why
        )


async def within(seconds: float, work: Awaitable[Any]) -> bool:
    """Whether ``work`` was done within ``seconds``. What a database has begun it completes in any case."""
    try:
        async with asyncio.timeout(seconds):
            await work
    except Exception as error:  # noqa: BLE001, the caller knows what it means
        logger.debug("not done within %g seconds: %r", seconds, error)
        return False
    return True
