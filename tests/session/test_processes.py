"""Eight processes write at the same time: nothing is lost or duplicated, and batches are never mixed."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from conftest import SOAK
from support import writers
from support.waiting import HANGS
from support.writers import whole_batches

from segue.session import open_store

PROCESSES = 8


def write_in_parallel(where: str, sessions: list[str], rounds: int) -> int:
    """Start all processes at the same time, and return the number of conflicts."""
    command = [sys.executable, str(Path(writers.__file__)), "many", where]
    running = [
        subprocess.Popen(
            [*command, f"w{number}", ",".join(sessions), str(rounds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(PROCESSES)
    ]
    try:
        for process in running:
            assert process.stdout is not None and process.stdout.readline() == "ready\n"
        for process in running:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        reports = [json.loads(process.communicate(timeout=HANGS)[0]) for process in running]
    finally:
        for process in running:
            process.kill()
            process.communicate()
    assert all(process.returncode == 0 for process in running)
    return sum(each["conflicts"] for each in reports)


@pytest.mark.parametrize(("sessions", "rounds"), [(1, 100 if SOAK else 25), (100, 10 if SOAK else 1)])
def test_no_entry_is_lost_or_duplicated(where: str, sessions: int, rounds: int) -> None:
    names = [f"s{number}" for number in range(sessions)]
    with open_store(where) as store:
        for name in names:
            store.create(name, time=0)
        conflicts = write_in_parallel(where, names, rounds)
        for name in names:
            batches = whole_batches(store, name)
            assert Counter(batches) == {(f"w{w}", number): 1 for w in range(PROCESSES) for number in range(rounds)}
            for w in range(PROCESSES):
                assert [number for writer, number in batches if writer == f"w{w}"] == list(range(rounds))
    assert conflicts > 0


def test_eight_processes_create_a_new_store_together(where: str) -> None:
    """One of them creates the tables, and the others wait for it."""
    command = "import sys; from segue.session import open_store, postgres, sqlite; "
    command += (
        f"sqlite.LOCK_TIMEOUT = postgres.LOCK_TIMEOUT = {HANGS}; open_store(sys.argv[1]).create(sys.argv[2], time=0)"
    )
    running = [subprocess.Popen([sys.executable, "-c", command, where, f"s{number}"]) for number in range(PROCESSES)]
    assert [process.wait(timeout=HANGS) for process in running] == [0] * PROCESSES
    with open_store(where) as store:
        assert len(store.sessions()) == PROCESSES
