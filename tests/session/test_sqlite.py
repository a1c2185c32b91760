"""SQLite only: the file, its modes, and files that are not stores."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from support.entries import message_entry

from segue.errors import SessionError
from segue.session import SQLiteStore, migrations
from segue.session.migrations import MIGRATIONS, NEWEST, Migration


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sessions.db"


def test_commits_are_on_disk_before_they_are_acknowledged(path: Path) -> None:
    with SQLiteStore(path) as store:
        (mode,), (synchronous,) = (store._rows(f"PRAGMA {name}")[0] for name in ("journal_mode", "synchronous"))
    assert (mode, synchronous) == ("wal", 2)  # FULL


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_the_file_is_private_to_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "sessions.db"
    with SQLiteStore(path) as store:
        store.create("s", time=0)
        modes = {file.name: file.stat().st_mode & 0o777 for file in path.parent.iterdir()}
    assert set(modes) == {"sessions.db", "sessions.db-wal", "sessions.db-shm"}
    assert set(modes.values()) == {0o600}
    assert path.parent.stat().st_mode & 0o077 == 0


def test_a_store_in_memory_is_private() -> None:
    with SQLiteStore(":memory:") as one, SQLiteStore(":memory:") as other:
        one.create("s", time=0)
        assert other.sessions() == []
        assert not one.blocks


def test_a_file_that_is_not_a_database_is_refused(path: Path) -> None:
    path.write_text("This is a letter, and a rather long one, to be sure." * 20)
    with pytest.raises(SessionError, match=r"sessions\.db: this is not a store of sessions"):
        SQLiteStore(path)


def test_a_store_that_cannot_be_created_is_a_session_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SessionError, match="no store can be created there"):
        SQLiteStore(tmp_path / "file" / "sessions.db")


def test_a_store_of_a_newer_segue_is_refused(path: Path) -> None:
    SQLiteStore(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("INSERT INTO segue_migrations VALUES (99, 'who knows')")
    connection.close()
    with pytest.raises(SessionError, match=f"its tables have version 99, and this segue knows only {NEWEST}; update"):
        SQLiteStore(path)


def test_a_later_migration_is_applied_once_and_keeps_the_data(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with SQLiteStore(path) as store:
        store.create("s", time=0)
        store.append("s", [message_entry("a")], after=0)
    migration = Migration(NEWEST + 1, "a reason", ("ALTER TABLE segue_sessions ADD COLUMN more text",))
    monkeypatch.setattr(migrations, "MIGRATIONS", (*MIGRATIONS, migration))
    monkeypatch.setattr(migrations, "NEWEST", NEWEST + 1)
    for _ in range(2):
        with SQLiteStore(path) as store:
            assert [stored.entry for stored in store.read("s")] == [message_entry("a")]
            applied = store._rows("SELECT number FROM segue_migrations ORDER BY number")
            assert applied == [(number,) for number in range(1, NEWEST + 2)]
            assert store._rows("SELECT more FROM segue_sessions") == [(None,)]


def test_a_migration_that_fails_leaves_the_store_unchanged(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    SQLiteStore(path).close()
    migration = Migration(NEWEST + 1, "a bad one", ("CREATE TABLE segue_more (x {integer})", "NONSENSE"))
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "MIGRATIONS", (*MIGRATIONS, migration))
        with pytest.raises(SessionError, match="syntax error"):
            SQLiteStore(path)
    with SQLiteStore(path) as store:
        assert store._rows("SELECT name FROM sqlite_master WHERE name = 'segue_more'") == []


def test_the_migrations_are_numbered_without_gaps() -> None:
    assert [migration.number for migration in MIGRATIONS] == list(range(1, len(MIGRATIONS) + 1))
    assert all(migration.why for migration in MIGRATIONS)


def test_a_damaged_entry_is_named(path: Path) -> None:
    with SQLiteStore(path) as store:
        store.create("s", time=0)
        store.append("s", [message_entry("a"), message_entry("b")], after=0)
        with store._writing() as transaction:
            transaction.run("UPDATE segue_entries SET body = ? WHERE number = 2", b'{"entry":"mess')
        with pytest.raises(SessionError, match="entry 2 of session s cannot be read: not JSON: the text ends"):
            list(store.read("s"))


def test_a_failure_during_an_append_writes_nothing(path: Path) -> None:
    with SQLiteStore(path) as store:
        store.create("s", time=0)
        with store._writing() as transaction:
            transaction.run(
                "CREATE TRIGGER stop BEFORE INSERT ON segue_entries WHEN NEW.number = 3 "
                "BEGIN SELECT RAISE(FAIL, 'the disk is gone'); END"
            )
        with pytest.raises(SessionError):
            store.append("s", [message_entry(key) for key in "abcd"], after=0)
        assert list(store.read("s")) == []
        assert store.append("s", [message_entry("x")], after=0) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_store_does_not_outlive_a_fork(path: Path) -> None:
    code = f"""
import os
from segue.errors import SessionError
from segue.session import SQLiteStore
store = SQLiteStore({str(path)!r})
if os.fork() == 0:
    try:
        store.sessions()
    except SessionError as error:
        os._exit(7 if "opened before this process was forked" in str(error) else 1)
    os._exit(2)
assert os.waitstatus_to_exitcode(os.wait()[1]) == 7
assert store.sessions() == []
"""
    subprocess.run([sys.executable, "-c", code], check=True)
