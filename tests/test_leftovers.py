"""A test run that is killed leaves no process behind."""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from support import left_behind
from support.waiting import has_ended, until

pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc")


@pytest.mark.parametrize("workers", [0, 2])
def test_a_killed_test_run_leaves_no_process_behind(tmp_path: Path, workers: int) -> None:
    """PostgreSQL, MCP servers, terminals, forks, process groups and sessions; with and without pytest-xdist."""
    note = tmp_path / "note"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", left_behind.__file__]
    more = ["-n", str(workers)] if workers else ["-k", "1"]
    variables = {name: value for name, value in os.environ.items() if name != "SEGUE_BUSY"}  # not repeated in there
    with subprocess.Popen(
        [*command, *more, f"--basetemp={tmp_path / 'inner'}"],
        env=variables | {"NOTE": str(note)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as run:
        try:
            found = started(run, [note.with_suffix(f".{each}") for each in range(1, max(workers, 1) + 1)])
        finally:
            run.kill()
    until(lambda: all(not each.is_running() or has_ended(each.pid) for each in found))


def started(run: "subprocess.Popen[bytes]", notes: list[Path]) -> list[psutil.Process]:
    """Wait until each test of the run has written its process ids, and return all processes."""

    def have_written() -> bool:
        assert run.poll() is None, run.stdout and run.stdout.read().decode()
        return all(note.exists() for note in notes)

    until(have_written)
    found: list[psutil.Process] = []
    for line in "\n".join(note.read_text() for note in notes).splitlines():
        with suppress(psutil.NoSuchProcess):  # a worker of PostgreSQL may have ended
            found.append(psutil.Process(int(line.split()[0])))
    assert len(found) >= 10
    return found
