"""Damaged files only raise errors of segue: a store with flipped bytes, an export that was cut."""

import os
import random
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st
from support.entries import message_entry
from support.providers import MODELS

from segue.agent.check import check_session
from segue.errors import SegueError, SessionError
from segue.session import SessionInfo, SQLiteStore, Store, export_session, import_session

FLIPS = 2000 if os.environ.get("SEGUE_SOAK") else 150
MODEL = MODELS["anthropic-messages"]


def create_store(path: Path) -> bytes:
    """A store with two sessions, as the bytes of one file."""
    with SQLiteStore(path) as store:
        for name in ("one", "two"):
            store.create(name, time=1, title="A title ü")
            store.append(name, [message_entry(f"{name}-{at}") for at in range(20)], after=0)
        store.fork("one", 3, "fork", time=2)
    return path.read_bytes()


USES: list[Callable[[Store], Any]] = [
    lambda store: store.sessions(),
    lambda store: store.info("one"),
    lambda store: list(store.read("one")),
    lambda store: store.head("two"),
    lambda store: store.append("one", [message_entry("new")], after=20),
    lambda store: store.append("one", [message_entry("one-1")], after=20),
    lambda store: store.create("one", time=1),
    lambda store: store.create("three", time=1),
    lambda store: store.fork("two", 5, "four", time=3),
    lambda store: store.restore(SessionInfo(id="five", created=1, changed=1, entries=1), [message_entry("x")]),
    lambda store: list(export_session(store, "two")),
    lambda store: check_session(store, "one", MODEL),
    lambda store: store.rename("two", "Another"),
    lambda store: store.delete("two"),
]


def use(path: Path) -> int:
    """Do everything that a store can do, and return how often that raised a ``SessionError``."""
    try:
        store = SQLiteStore(path)
    except SessionError:
        return 1
    failed = 0
    with store:
        for each in USES:
            try:
                each(store)
            except SessionError:
                failed += 1
    return failed


@pytest.mark.filterwarnings("ignore::segue.session.ExposedStoreWarning")
def test_flipped_bytes_all_over_a_store_are_session_errors(tmp_path: Path) -> None:
    whole = create_store(tmp_path / "whole.db")
    assert use(tmp_path / "whole.db") == 2, "creating an existing session or key fails in an intact store, too"
    chance = random.Random(6)
    # The first page has the schema; half of the flips are there.
    places = [chance.randrange(4096 if at % 2 else len(whole)) for at in range(FLIPS)]
    failed = 0
    for number, place in enumerate(places):
        damaged = bytearray(whole)
        damaged[place] ^= chance.choice([1, 0x20, 0x80, 0xFF])
        path = tmp_path / f"{number}.db"
        path.write_bytes(damaged)
        failed += use(path) > 2
        for file in tmp_path.glob(f"{number}.db*"):
            file.unlink()
    assert failed > FLIPS // 20, "many flips were noticed"


ODD: list[Any] = [None, -1, 2**63 - 1, 1.5, "text", b"\xff\xfe", b"", "", b"{}"]
COLUMNS = [
    *[("segue_sessions", column) for column in ("created", "changed", "head", "title", "parent", "parent_entry")],
    *[("segue_entries", column) for column in ("number", "key", "kind", "body")],
    ("segue_migrations", "number"),
]


@pytest.mark.parametrize("column", COLUMNS, ids=".".join)
@pytest.mark.parametrize("value", ODD, ids=repr)
def test_values_of_another_type_in_a_column_are_session_errors(
    tmp_path: Path, column: tuple[str, str], value: Any
) -> None:
    """SQLite holds any value in any column."""
    create_store(tmp_path / "s.db")
    with SQLiteStore(tmp_path / "s.db") as store, warnings.catch_warnings():
        try:
            with store._writing() as transaction:
                transaction.run(f"UPDATE {column[0]} SET {column[1]} = ? WHERE rowid = 1", value)
        except SessionError:
            return  # the table itself refuses it
    use(tmp_path / "s.db")


@given(st.data())
def test_a_damaged_export_raises_an_error_of_segue_and_nothing_is_written(data: st.DataObject) -> None:
    """Bytes are flipped, removed or inserted, anywhere."""
    with SQLiteStore(":memory:") as store:
        store.create("one", time=1, title="A title ü")
        store.append("one", [message_entry(f"one-{at}") for at in range(3)], after=0)
        whole = b"".join(export_session(store, "one"))
    damaged = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(damaged) - 1))
        how = data.draw(st.sampled_from(["flip", "cut", "put", "end"]))
        if how == "flip":
            damaged[at] ^= data.draw(st.sampled_from([1, 2, 4, 0x20, 0x80, 0xFF]))
        elif how == "cut":
            del damaged[at : at + data.draw(st.integers(1, 40))]
        elif how == "put":
            damaged[at:at] = data.draw(st.binary(max_size=8))
        else:
            del damaged[at:]
        if not damaged:
            break
    with SQLiteStore(":memory:") as store:
        try:
            session, _ = import_session(store, bytes(damaged).splitlines(keepends=True))
        except SegueError:
            assert store.sessions() == []
        else:
            assert list(export_session(store, session))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not remove files that are open")
class TestRemovedFile:
    """A store whose file is removed or replaced while it is open does not acknowledge anything."""

    @staticmethod
    def removed(path: Path) -> None:
        path.unlink()

    @staticmethod
    def moved(path: Path) -> None:
        path.rename(path.with_suffix(".old"))

    @staticmethod
    def replaced(path: Path) -> None:
        other = path.with_suffix(".new")
        create_store(other)
        other.replace(path)

    @staticmethod
    def with_its_folder(path: Path) -> None:
        path.parent.rename(path.parent.with_suffix(".old"))

    @staticmethod
    def another_folder(path: Path) -> None:
        path.parent.rename(path.parent.with_suffix(".old"))
        path.parent.mkdir()
        create_store(path)

    @staticmethod
    def its_journal(path: Path) -> None:
        path.with_name(path.name + "-wal").unlink()

    @staticmethod
    def its_index(path: Path) -> None:
        path.with_name(path.name + "-shm").unlink()

    @pytest.mark.parametrize(
        "how", ["removed", "moved", "replaced", "with_its_folder", "another_folder", "its_journal", "its_index"]
    )
    def test_writes_are_no_longer_acknowledged(self, tmp_path: Path, how: str) -> None:
        path = tmp_path / "folder" / "sessions.db"
        with SQLiteStore(path) as store:
            store.create("one", time=1)
            assert store.append("one", [message_entry("a")], after=0) == 1
            getattr(self, how)(path)
            with pytest.raises(SessionError, match="removed or replaced while it was in use"):
                store.append("one", [message_entry("b")], after=1)
            with pytest.raises(SessionError, match="removed or replaced while it was in use"):
                store.create("two", time=1)

    def test_removing_the_file_during_an_append_is_an_error(self, tmp_path: Path) -> None:
        path = tmp_path / "sessions.db"
        with SQLiteStore(path) as store:
            store.create("one", time=1)
            with pytest.raises(SessionError, match="removed or replaced"), store._writing():
                path.unlink()

    def test_a_store_still_works_when_the_working_directory_changes(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        with SQLiteStore("sessions.db") as store:
            (tmp_path / "below").mkdir()
            monkeypatch.chdir(tmp_path / "below")
            store.create("one", time=1)

    def test_another_process_may_close_the_store(self, tmp_path: Path) -> None:
        """SQLite removes its journal when the last connection is closed, and not before."""
        path = tmp_path / "sessions.db"
        with SQLiteStore(path) as store:
            store.create("one", time=1)
            for at in range(3):
                with SQLiteStore(path) as other:
                    assert other.append("one", [message_entry(f"k{at}")], after=at) == at + 1
            assert store.append("one", [message_entry("last")], after=3) == 4
