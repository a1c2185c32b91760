"""Time and memory of `segue encode` for a file of many conversations, compared with a loop in one thread."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import sleep

from .conversations import tool_history
from .measure import Effort, Figure, Spent, process, processes
from .report import Part, Section, Table, cell, number, ratio

FEW, MANY = 4_000, 40_000
DIFFERENT = 100
MODEL = "openai/gpt-5.1"
EFFORT = Effort(5, 90, warm=False)
LOOP = """
import sys, segue
model = segue.get_model(sys.argv[2])
with open(sys.argv[1], "rb") as file:
    for line in file:
        sys.stdout.buffer.write(segue.encode(segue.Context.from_json(line), model).json() + b"\\n")
"""
ON_ONE_CORE = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})"


def run() -> Iterator[Part]:
    with TemporaryDirectory() as folder:
        files = {count: conversations(Path(folder) / f"{count}.jsonl", count) for count in (FEW, MANY)}
        commands = {
            "segue encode FILE": command(files[MANY]),
            "the same command on one core": command(files[MANY], ON_ONE_CORE),
            "a loop over segue.encode, one thread": [sys.executable, "-c", LOOP, str(files[MANY]), MODEL],
        }
        yield speed(processes(commands, EFFORT), files[MANY])
        yield memory(files)


def conversations(path: Path, count: int) -> Path:
    """Write a file of conversations with 5 to 20 messages each."""
    lines = [tool_history(5 + at % 16).to_json() + b"\n" for at in range(DIFFERENT)]
    with path.open("wb") as file:
        for at in range(count):
            file.write(lines[at % DIFFERENT])
    return path


def command(path: Path, before: str = "") -> list[str]:
    arguments = ["encode", str(path), "--to", MODEL]
    return [sys.executable, "-c", f"{before}\nimport sys; from segue.cli import main; sys.exit(main({arguments}))"]


def speed(taken: dict[str, list[Spent]], path: Path) -> Table:
    wall = {name: Figure.of(each.wall for each in rounds) for name, rounds in taken.items()}
    first, *_ = wall
    rows = [
        (
            name,
            cell(Figure.of(MANY / each.wall for each in rounds), "a second"),
            cell(wall[name], "s"),
            cell(Figure.of(each.processor / each.wall for each in rounds), "cores"),
            ratio(wall[name], wall[first], "the first"),
            f"{number(min(wall[name].rounds) / min(wall[first].rounds))} ×",
        )
        for name, rounds in taken.items()
    ]
    size = path.stat().st_size / 1e6
    return Table(
        f"{MANY:,} conversations as JSONL, {size:,.0f} MB, to {MODEL}; wall-clock time, {os.cpu_count()} cores",
        ("", "conversations", "time", "busy", "ratio", "best rounds"),
        rows,
        ("Busy: CPU time of all its processes divided by wall-clock time. All include the start of Python.",),
    )


def memory(files: dict[int, Path]) -> Table:
    peaks = {count: peak_memory(command(path)) for count, path in files.items()}
    return Table(
        "The same command, peak resident memory of all its processes together",
        ("conversations", "file", "memory"),
        [
            (f"{count:,}", f"{number(files[count].stat().st_size / 1e6)} MB", f"{number(peak / 1e6)} MB")
            for count, peak in peaks.items()
        ],
        ("Measured with `ps` every 20 ms; pages that processes share are counted for each of them.",),
    )


def peak_memory(command: list[str]) -> int:
    """The peak memory of a command and its child processes, in bytes."""
    peak, over = 0, threading.Event()

    def watch() -> None:
        nonlocal peak
        while not over.is_set():
            peak = max(peak, resident_below(os.getpid()))
            sleep(0.02)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        process(command)
    finally:
        over.set()
        watcher.join()
    return peak


def resident_below(root: int) -> int:
    """Resident bytes of all descendants of a process, without the `ps` that reports them."""
    listed = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid=,rss=,comm="], capture_output=True, text=True, check=True
    ).stdout
    rows = [line.split(None, 3) for line in listed.splitlines()]
    below, found = {root}, 0
    for pid, parent, kilobytes, name in sorted(rows, key=lambda row: int(row[0])):
        if int(parent) in below and name != "ps":
            below.add(int(pid))
            found += int(kilobytes) * 1024
    return found


SECTION = Section("jsonl", "Many conversations in a file", run)
