"""A store behaves like a dictionary of lists under any sequence of operations."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from conftest import SOAK
from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from msgspec.structs import replace
from support.entries import message_entry
from support.postgres import Postgres

from segue.errors import ConflictError, SessionError
from segue.session import AnyEntry, SessionInfo, Store, export_session, import_session, open_store

NAMES = st.sampled_from(["a", "b", "c", "d"])
KEYS = st.sampled_from([f"k{number}" for number in range(12)])
BATCHES = st.lists(KEYS, max_size=4, unique=True)
MEMORY = Path("/dev/shm")
"""A folder in memory, where the system has it: files there do not wait for a disk."""


class Model:
    """The expected sessions. An operation returns or raises what the store should return or raise."""

    def __init__(self) -> None:
        self.logs: dict[str, list[AnyEntry]] = {}
        self.infos: dict[str, SessionInfo] = {}
        self.order: list[str] = []

    def create(self, name: str, time: int, title: str = "", parent: str | None = None, at: int | None = None) -> None:
        if name in self.logs:
            raise SessionError
        self.logs[name] = []
        self.order.append(name)
        self.infos[name] = SessionInfo(
            id=name, created=time, changed=time, entries=0, title=title, parent=parent, parent_entry=at
        )

    def append(self, name: str, entries: list[AnyEntry], after: int) -> int:
        log = self.log(name)
        there = log[after : after + len(entries)]
        if not 0 <= after <= len(log) or there != entries[: len(there)]:
            raise ConflictError
        new = entries[len(there) :]
        if {entry.key for entry in new} & {entry.key for entry in log}:
            raise ConflictError
        log += new
        if new:
            self.change(name, entries=len(log), changed=max(self.infos[name].changed, new[-1].time))
        return after + len(entries)

    def fork(self, name: str, at: int, new: str, time: int) -> None:
        log = self.log(name)
        if not 0 <= at <= len(log):
            raise SessionError
        self.create(new, time, self.infos[name].title, name, at)
        self.logs[new] = log[:at]
        self.change(new, entries=at)

    def rename(self, name: str, title: str) -> None:
        self.log(name)
        self.change(name, title=title)

    def delete(self, name: str) -> None:
        self.log(name)
        del self.logs[name], self.infos[name]
        self.order.remove(name)

    def log(self, name: str) -> list[AnyEntry]:
        if name not in self.logs:
            raise SessionError
        return self.logs[name]

    def change(self, name: str, **fields: Any) -> None:
        self.infos[name] = replace(self.infos[name], **fields)

    def listed(self) -> list[SessionInfo]:
        return sorted(self.infos.values(), key=lambda info: (info.changed, self.order.index(info.id)), reverse=True)


class Machine(RuleBasedStateMachine):
    """Runs the same operations on a store and on the model."""

    where = ""

    @initialize()
    def begin(self) -> None:
        self.model = Model()
        self.store: Store = open_store(self.fresh())
        self.clock = 0

    def fresh(self) -> str:
        raise NotImplementedError

    def both(self, method: str, *arguments: Any, **named: Any) -> None:
        outcomes = []
        for side in (self.model, self.store):
            try:
                outcomes.append(getattr(side, method)(*arguments, **named))
            except SessionError as error:
                outcomes.append(type(error))
        assert outcomes[0] == outcomes[1]

    def now(self) -> int:
        self.clock += 1
        return self.clock

    @rule(name=NAMES, title=st.sampled_from(["", "x"]))
    def create(self, name: str, title: str) -> None:
        self.both("create", name, time=self.now(), title=title)

    @rule(name=NAMES, keys=BATCHES, behind=st.integers(0, 3), text=st.sampled_from(["x", "x", "x", "y"]))
    def append(self, name: str, keys: list[str], behind: int, text: str) -> None:
        """Mostly at the end of the log, sometimes before it."""
        after = max(len(self.model.logs.get(name, ())) - behind, 0)
        self.both("append", name, [message_entry(f"{key}{after // 5}", text, time=7) for key in keys], after=after)

    @rule(name=NAMES, behind=st.integers(0, 4), length=st.integers(1, 4))
    def repeat(self, name: str, behind: int, length: int) -> None:
        log = self.model.logs.get(name, [])
        after = max(len(log) - behind, 0)
        self.both("append", name, log[after : after + length], after=after)

    @rule(name=NAMES, new=NAMES, at=st.integers(0, 8))
    def fork(self, name: str, new: str, at: int) -> None:
        self.both("fork", name, at, new, time=self.now())

    @rule(name=NAMES, title=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=5))
    def rename(self, name: str, title: str) -> None:
        self.both("rename", name, title)

    @rule(name=NAMES)
    def delete(self, name: str) -> None:
        self.both("delete", name)

    @rule(name=NAMES)
    def export_and_import(self, name: str) -> None:
        """Importing an export adds nothing, or everything if the session was deleted in between."""
        if name in self.model.logs:
            lines = list(export_session(self.store, name))
            assert import_session(self.store, lines).added == 0
            self.store.delete(name)
            assert import_session(self.store, lines).added == len(self.model.logs[name])
            assert list(export_session(self.store, name)) == lines
            self.model.order.remove(name)
            self.model.order.append(name)

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.store = open_store(self.where)

    @invariant()
    def the_store_matches_the_model(self) -> None:
        if hasattr(self, "store"):
            assert self.store.sessions() == self.model.listed()
            for name, log in self.model.logs.items():
                assert [(stored.number, stored.entry) for stored in self.store.read(name)] == list(enumerate(log, 1))

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()


SETTINGS = settings(stateful_step_count=30, max_examples=120 if SOAK else 25)
SLOWER = settings(SETTINGS, max_examples=50 if SOAK else 15)


def test_sqlite_behaves_like_the_model() -> None:
    class SQLiteMachine(Machine):
        def fresh(self) -> str:
            self.folder = TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None)
            self.where = f"{self.folder.name}/sessions.db"
            return self.where

        def teardown(self) -> None:
            super().teardown()
            if hasattr(self, "folder"):
                self.folder.cleanup()

    run_state_machine_as_test(SQLiteMachine, settings=SETTINGS)


def test_postgresql_behaves_like_the_model(postgres: Postgres) -> None:
    class PostgresMachine(Machine):
        def fresh(self) -> str:
            self.where = postgres.fresh()
            return self.where

    run_state_machine_as_test(PostgresMachine, settings=SLOWER)
