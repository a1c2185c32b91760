"""PostgreSQL only: row locks, lost connections, permissions, and addresses with passwords."""

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from support.entries import message_entry
from support.postgres import Postgres
from support.waiting import HANGS, until

from segue.errors import SessionError, SettingError
from segue.session import PostgresStore, Store, open_store, postgres as module
from segue.session.migrations import NEWEST


@pytest.fixture
def address(postgres: Postgres) -> str:
    return postgres.fresh()


def until_waiting(address: str) -> None:
    """Wait until a connection waits for a lock."""
    with psycopg.connect(address, autocommit=True) as look:
        until(lambda: look.execute("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'").fetchone())


def test_writers_of_different_sessions_do_not_wait_for_each_other(address: str) -> None:
    with PostgresStore(address) as store:
        for name in ("held", "free"):
            store.create(name, time=0)
        with psycopg.connect(address) as other:
            other.execute("SELECT 1 FROM segue_sessions WHERE id = 'held' FOR UPDATE")
            assert store.append("free", [message_entry("a")], after=0) == 1
            waiting = threading.Thread(target=store.append, args=("held", [message_entry("b")]), kwargs={"after": 0})
            waiting.start()
            until_waiting(address)
            assert waiting.is_alive()
            assert list(store.read("held")) == []  # readers do not wait
        waiting.join(HANGS)
        assert store.head("held") == 1


def test_nothing_is_acknowledged_for_a_session_that_is_being_deleted(address: str) -> None:
    with PostgresStore(address) as store, ThreadPoolExecutor(1) as thread:
        store.create("s", time=0)
        with psycopg.connect(address) as other:
            other.execute("DELETE FROM segue_sessions WHERE id = 's'")
            waiting = thread.submit(store.append, "s", [message_entry("a")], after=0)
            until_waiting(address)
        with pytest.raises(SessionError, match="there is no session s"):
            waiting.result(HANGS)
        assert store._rows("SELECT 1 FROM segue_entries") == []


def test_a_writer_waits_only_for_a_limited_time(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGCONNECT_TIMEOUT", str(HANGS))  # otherwise it would be as short
    monkeypatch.setattr(module, "LOCK_TIMEOUT", 1)
    with PostgresStore(address) as store, psycopg.connect(address) as other:
        store.create("s", time=0)
        other.execute("SELECT 1 FROM segue_sessions FOR UPDATE")
        with pytest.raises(SessionError, match="another writer has held this session for more than 1 s"):
            store.append("s", [message_entry("a")], after=0)
        other.rollback()
        assert store.append("s", [message_entry("a")], after=0) == 1


def cut_connections(address: str) -> None:
    with psycopg.connect(address, autocommit=True) as other:
        others = "pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
        other.execute(f"SELECT pg_terminate_backend(pid) FROM {others}")
        until(lambda: other.execute(f"SELECT 1 FROM {others}").fetchone() is None)


def test_a_lost_connection_is_replaced(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_IDLE", 0.0)
    with PostgresStore(address) as store:
        store.create("s", time=0)
        for number in range(3):
            cut_connections(address)
            assert store.append("s", [message_entry(f"k{number}")], after=number) == number + 1


def test_a_connection_that_breaks_in_use_is_an_error_and_the_next_call_works(address: str) -> None:
    with PostgresStore(address) as store:
        store.create("s", time=0)
        with pytest.raises(SessionError, match=r"^PostgreSQL: "), store._writing() as transaction:  # noqa: PT012
            cut_connections(address)
            transaction.rows("SELECT 1")
        assert store.append("s", [message_entry("a")], after=0) == 1


def test_many_threads_share_a_few_connections(address: str) -> None:
    with PostgresStore(address) as store:
        store.create("s", time=0)
        threads = [threading.Thread(target=lambda: [store.info("s") for _ in range(20)]) for _ in range(30)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert 1 <= len(store._connections._idle) <= module.MAX_CONNECTIONS
        assert store._connections._free._value == module.MAX_CONNECTIONS  # type: ignore[attr-defined]


def test_the_default_isolation_of_the_server_does_not_matter(address: str) -> None:
    strict = address + "%20-cdefault_transaction_isolation%3Dserializable"
    with PostgresStore(strict) as one, PostgresStore(strict) as other:
        one.create("s", time=0)
        stores: list[Store] = [one, other]
        for number in range(6):
            assert stores[number % 2].append("s", [message_entry(f"k{number}")], after=number) == number + 1


def test_a_database_of_a_newer_segue_is_refused(address: str) -> None:
    PostgresStore(address).close()
    with psycopg.connect(address) as other:
        other.execute("INSERT INTO segue_migrations VALUES (99, 'who knows')")
    with pytest.raises(SessionError, match=f"its tables have version 99, and this segue knows only {NEWEST}; update"):
        PostgresStore(address)


def test_existing_tables_need_no_permission_to_create_tables(address: str, postgres: Postgres) -> None:
    PostgresStore(address).close()
    schema = address.rpartition("%3D")[2]
    postgres.run(f"CREATE ROLE {schema}_user LOGIN")
    postgres.run(f"GRANT USAGE ON SCHEMA {schema} TO {schema}_user")
    postgres.run(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {schema}_user")
    limited = address.replace("//postgres:", f"//{schema}_user:")
    assert limited != address
    with PostgresStore(limited) as store:
        store.create("s", time=0)
        assert store.append("s", [message_entry("a")], after=0) == 1


def test_an_address_that_cannot_be_read_does_not_show_its_password() -> None:
    with pytest.raises(SessionError) as raised:
        open_store("postgresql://me:hunter2@[host/db")
    assert "hunter2" not in str(raised.value) and raised.value.__cause__ is None
    assert "cannot be read" in str(raised.value)


def test_an_unreachable_server_is_a_session_error() -> None:
    with pytest.raises(SessionError, match="PostgreSQL: connection failed") as raised:
        open_store("postgresql://me:hunter2@127.0.0.1:1/db")
    assert "hunter2" not in str(raised.value)


def test_without_psycopg_the_error_states_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(SettingError, match=r"PostgreSQL needs psycopg: pip install 'segue\[postgres\]'"):
        open_store("postgresql://localhost/x")


def test_sqlite_sessions_do_not_import_psycopg() -> None:
    code = "import sys, segue.session; segue.session.open_store(':memory:'); assert 'psycopg' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
