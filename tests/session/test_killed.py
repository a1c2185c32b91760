"""A writer is killed at any instant: its session opens, and every acknowledged entry is there and complete."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import SOAK
from support import writers
from support.postgres import Postgres
from support.waiting import until_settled
from support.writers import batch_of, whole_batches

from segue.session import open_store

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is neither fork nor SIGKILL on Windows")


class WriterProcesses:
    """Starts writers and kills them."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def run_and_kill(self, where: str, session: str, run: str, chance: random.Random) -> tuple[int, int]:
        """Return the number of the last acknowledged entry, and the number of acknowledged appends."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{where} {session} {run}\n")
        self.process.stdin.flush()
        acknowledged: list[int] = []
        while not (line := self.line()).startswith("pid"):  # the child was faster than its parent
            acknowledged.append(int(line))
        pid = int(line.removeprefix("pid "))
        # Kill it while it opens the store, between two appends, or during one.
        appends = chance.choice([0, 0, 1, 2, 5, 15])
        while len(acknowledged) < appends:
            acknowledged.append(int(self.line()))
        time.sleep(chance.uniform(0, 0.004 if appends else 0.05))
        os.kill(pid, signal.SIGKILL)
        while not (line := self.line()).startswith("end"):
            acknowledged.append(int(line))
        assert line == f"end {-signal.SIGKILL}", "the writer ended before it was killed"
        return (acknowledged[-1] if acknowledged else 0), len(acknowledged)


@pytest.fixture(scope="module")
def writer_processes() -> Iterator[WriterProcesses]:
    command = [sys.executable, str(Path(writers.__file__)), "fork_writers"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield WriterProcesses(process)
        assert process.stdin is not None
        process.stdin.close()


def check(where: str, session: str, run: str, last: int, appends: int) -> None:
    """Check that the session opens, is complete, and can be continued."""
    until_settled(where)
    with open_store(where) as store:
        if session not in [info.id for info in store.sessions()]:
            assert last == 0
            return
        head = store.head(session)
        assert head >= last, "an acknowledged entry is missing"
        batches = whole_batches(store, session)
        mine = [number for name, number in batches if name == run]
        # At most one append can be written and not acknowledged.
        assert mine == list(range(len(mine))) and appends <= len(mine) <= appends + 1
        assert store.append(session, batch_of(f"{run}-after", 0, 2, 10), after=head) == head + 2


def test_sqlite_keeps_acknowledged_entries(writer_processes: WriterProcesses, tmp_path: Path) -> None:
    chance = random.Random(1)
    for run in range(500 if SOAK else 30):
        where, session = str(tmp_path / f"{run // 10}.db"), f"s{run // 5}"
        check(where, session, f"r{run}", *writer_processes.run_and_kill(where, session, f"r{run}", chance))


def test_postgresql_keeps_acknowledged_entries(writer_processes: WriterProcesses, postgres: Postgres) -> None:
    chance = random.Random(2)
    where = ""
    for run in range(100 if SOAK else 10):
        where = where if run % 5 else postgres.fresh()
        session = f"s{run // 5}"
        check(where, session, f"r{run}", *writer_processes.run_and_kill(where, session, f"r{run}", chance))
