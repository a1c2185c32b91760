"""What is PostgreSQL's own: locks of one row, connections that are cut, rights, and addresses with passwords."""

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from support.entries import said
from support.postgres import Postgres
from support.waiting import HANGS, until

from segue.errors import SessionError, SettingError
from segue.session import PostgresStore, Store, open_store, postgres as own


@pytest.fixture
def place(postgres: Postgres) -> str:
    return postgres.fresh()


def until_waiting(place: str) -> None:
    """Wait until somebody waits for a lock."""
    with psycopg.connect(place, autocommit=True) as look:
        until(lambda: look.execute("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'").fetchone())


def test_writers_of_different_sessions_do_not_wait_for_each_other(place: str) -> None:
    with PostgresStore(place) as store:
        for name in ("held", "free"):
            store.create(name, time=0)
        with psycopg.connect(place) as other:
            other.execute("SELECT 1 FROM segue_sessions WHERE id = 'held' FOR UPDATE")
            assert store.append("free", [said("a")], after=0) == 1
            waiting = threading.Thread(target=store.append, args=("held", [said("b")]), kwargs={"after": 0})
            waiting.start()
            until_waiting(place)
            assert waiting.is_alive()
            assert list(store.read("held")) == []  # readers wait for nobody
        waiting.join(HANGS)
        assert store.head("held") == 1


def test_nothing_is_acknowledged_for_a_session_that_is_being_deleted(place: str) -> None:
    with PostgresStore(place) as store, ThreadPoolExecutor(1) as thread:
        store.create("s", time=0)
        with psycopg.connect(place) as other:
            other.execute("DELETE FROM segue_sessions WHERE id = 's'")
            waiting = thread.submit(store.append, "s", [said("a")], after=0)
            until_waiting(place)
        with pytest.raises(SessionError, match="there is no session s"):
            waiting.result(HANGS)
        assert store._rows("SELECT 1 FROM segue_entries") == []


def test_a_writer_does_not_wait_for_ever(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGCONNECT_TIMEOUT", str(HANGS))  # which would be as short
    monkeypatch.setattr(own, "PATIENCE", 1)
    with PostgresStore(place) as store, psycopg.connect(place) as other:
        store.create("s", time=0)
        other.execute("SELECT 1 FROM segue_sessions FOR UPDATE")
        with pytest.raises(SessionError, match="another writer has held this session for more than 1 s"):
            store.append("s", [said("a")], after=0)
        other.rollback()
        assert store.append("s", [said("a")], after=0) == 1


def cut(place: str) -> None:
    with psycopg.connect(place, autocommit=True) as other:
        others = "pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
        other.execute(f"SELECT pg_terminate_backend(pid) FROM {others}")
        until(lambda: other.execute(f"SELECT 1 FROM {others}").fetchone() is None)


def test_a_connection_that_was_cut_is_replaced(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own, "FRESH", 0.0)
    with PostgresStore(place) as store:
        store.create("s", time=0)
        for number in range(3):
            cut(place)
            assert store.append("s", [said(f"k{number}")], after=number) == number + 1


def test_a_connection_that_breaks_in_use_is_an_error_and_the_next_call_works(place: str) -> None:
    with PostgresStore(place) as store:
        store.create("s", time=0)
        with pytest.raises(SessionError, match=r"^PostgreSQL: "), store._writing() as tables:  # noqa: PT012
            cut(place)
            tables.rows("SELECT 1")
        assert store.append("s", [said("a")], after=0) == 1


def test_many_threads_share_a_few_connections(place: str) -> None:
    with PostgresStore(place) as store:
        store.create("s", time=0)
        threads = [threading.Thread(target=lambda: [store.info("s") for _ in range(20)]) for _ in range(30)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert 1 <= len(store._idle) <= own.CONNECTIONS
        assert store._free._value == own.CONNECTIONS  # type: ignore[attr-defined]


def test_the_default_isolation_of_the_server_does_not_matter(place: str) -> None:
    strict = place + "%20-cdefault_transaction_isolation%3Dserializable"
    with PostgresStore(strict) as one, PostgresStore(strict) as other:
        one.create("s", time=0)
        stores: list[Store] = [one, other]
        for number in range(6):
            assert stores[number % 2].append("s", [said(f"k{number}")], after=number) == number + 1


def test_a_database_of_a_newer_segue_is_refused(place: str) -> None:
    PostgresStore(place).close()
    with psycopg.connect(place) as other:
        other.execute("INSERT INTO segue_migrations VALUES (99, 'who knows')")
    with pytest.raises(SessionError, match="its tables are of step 99, and this segue knows 1 of them; update segue"):
        PostgresStore(place)


def test_once_the_tables_are_there_no_right_to_make_any_is_needed(place: str, postgres: Postgres) -> None:
    PostgresStore(place).close()
    schema = place.rpartition("%3D")[2]
    postgres.run(f"CREATE ROLE {schema}_user LOGIN")
    postgres.run(f"GRANT USAGE ON SCHEMA {schema} TO {schema}_user")
    postgres.run(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {schema}_user")
    limited = place.replace("//postgres:", f"//{schema}_user:")
    assert limited != place
    with PostgresStore(limited) as store:
        store.create("s", time=0)
        assert store.append("s", [said("a")], after=0) == 1


def test_an_address_that_cannot_be_read_does_not_show_its_password() -> None:
    with pytest.raises(SessionError) as raised:
        open_store("postgresql://me:hunter2@[host/db")
    assert "hunter2" not in str(raised.value) and raised.value.__cause__ is None
    assert "cannot be read" in str(raised.value)


def test_a_server_that_is_not_there() -> None:
    with pytest.raises(SessionError, match="PostgreSQL: connection failed") as raised:
        open_store("postgresql://me:hunter2@127.0.0.1:1/db")
    assert "hunter2" not in str(raised.value)


def test_without_psycopg_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(SettingError, match=r"PostgreSQL needs psycopg: pip install 'segue\[postgres\]'"):
        open_store("postgresql://localhost/x")


def test_sessions_in_sqlite_load_no_psycopg() -> None:
    code = "import sys, segue.session; segue.session.open_store(':memory:'); assert 'psycopg' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
