"""A test run that is killed leaves no process behind."""

import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from support import left_behind

TIMEOUT = 300
"""Seconds after which a test counts as hanging."""
pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc")


@pytest.mark.parametrize("workers", [0, 2])
def test_a_killed_test_run_leaves_no_process_behind(tmp_path: Path, workers: int) -> None:
    """PostgreSQL, MCP servers, terminals, forks, process groups and sessions; with and without pytest-xdist."""
    note = tmp_path / "note"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", left_behind.__file__]
    more = ["-n", str(workers)] if workers else ["-k", "1"]
    run = subprocess.Popen(
        [*command, *more, f"--basetemp={tmp_path / 'inner'}"],
        env=os.environ | {"NOTE": str(note)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        numbers = started(run, [note.with_suffix(f".{each}") for each in range(1, max(workers, 1) + 1)])
    finally:
        run.kill()
        run.wait()
    assert run.stdout is not None
    run.stdout.close()
    _, alive = psutil.wait_procs([psutil.Process(each) for each in numbers if psutil.pid_exists(each)], TIMEOUT)
    assert not [each.cmdline() for each in alive if each.status() != psutil.STATUS_ZOMBIE]


def started(run: "subprocess.Popen[bytes]", notes: list[Path]) -> list[int]:
    """Wait until each test of the run has written its process ids, and return them all."""
    until = time.monotonic() + TIMEOUT
    while not all(note.exists() for note in notes):
        assert run.poll() is None, run.stdout and run.stdout.read().decode()
        assert time.monotonic() < until, "the inner run does not start"
        time.sleep(0.02)
    numbers = [int(line.split()[0]) for note in notes for line in note.read_text().splitlines()]
    assert len(numbers) >= 10
    return numbers
