"""Rows per second of `segue bulk convert`, beside loops over other converters; one core and two; memory."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from .bulk import peak_memory
from .conversations import tool_history
from .measure import Effort, Figure, Spent, process
from .peers.chat_messages import chat_messages, chat_tools
from .peers.encoders import ANTHROPIC
from .report import Part, Section, Table, cell, number, ratio

START, FEW, SOME, MANY = 100, 10_000, 40_000, 100_000
LENGTHS = (1, 4, 4, 5, 8)
BESIDE_PEERS = Effort(3, 60, least=1, warm=False)
ON_CORES = Effort(5, 60, least=1, warm=False)
Command = Callable[[Path], list[str]]
"""The command that writes its result to a place that does not exist yet."""

ABOUT = (
    "Rows of JSONL with `messages` and `tools` in the form of chat completions, converted to request bodies for "
    "Claude. The alternatives read and write with msgspec, and convert without repairing anything. `segue bulk` "
    "also repairs, counts, finds duplicates, and can continue after a kill."
)


def run() -> Iterator[Part]:
    with TemporaryDirectory() as folder:
        files = {count: corpus(Path(folder) / f"{count}.jsonl", count) for count in (START, FEW, SOME, MANY)}
        yield beside_peers(files, Path(folder))
        yield on_cores(files[SOME], Path(folder))
        yield memory(files, Path(folder))


def corpus(path: Path, count: int) -> Path:
    """Write rows with conversations of 1 to 8 messages. All are different, and complete."""
    made = [tool_history(length) for length in LENGTHS]
    rows = [{"messages": chat_messages(each), "tools": chat_tools(each.tools)} for each in made]
    with path.open("wb") as file:
        for at in range(count):
            row = rows[at % len(rows)]
            system, asked, *rest = row["messages"]
            messages = [system, asked | {"content": f"{at}: {asked['content']}"}, *rest]
            file.write(msgspec.json.encode({"id": at} | row | {"messages": messages}) + b"\n")
    return path


def segue(path: Path, workers: int) -> Command:
    call = [sys.executable, "-m", "segue", "bulk", "convert", str(path), "--to", ANTHROPIC.ref]
    return lambda out: [*call, "--workers", str(workers), "--out", str(out)]


def peer(converter: str, way: str, path: Path) -> Command:
    return lambda out: [sys.executable, "-m", "bench.corpora_worker", converter, way, str(path), str(out)]


def spent(commands: Sequence[Command], folder: Path) -> Spent:
    """The time until all of these commands, started together, have ended."""
    outs = [folder / f"out{at}" for at in range(len(commands))]
    try:
        return together([command(out) for command, out in zip(commands, outs, strict=True)])
    finally:
        for out in outs:
            shutil.rmtree(out) if out.is_dir() else out.unlink(missing_ok=True)


def together(commands: Sequence[list[str]]) -> Spent:
    if len(commands) == 1:
        return process(commands[0])
    begun, before = time.perf_counter(), os.times()
    started = [subprocess.Popen(each, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for each in commands]
    assert [each.wait() for each in started] == [0] * len(started)
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return Spent(time.perf_counter() - begun, used)


def in_rounds(candidates: Mapping[str, Sequence[Command]], folder: Path, effort: Effort) -> dict[str, list[Spent]]:
    """The time of each candidate in each round; candidates take turns."""
    taken: dict[str, list[Spent]] = {name: [] for name in candidates}
    for _ in effort.rounds():
        for name, commands in candidates.items():
            taken[name].append(spent(commands, folder))
    return taken


# -- beside peers -----------------------------------------------------------------------------------------------------


def beside_peers(files: dict[int, Path], folder: Path) -> Table:
    named: dict[str, Callable[[Path], Command]] = {
        "segue bulk convert, one process": lambda path: segue(path, 1),
        "segue bulk convert, two processes": lambda path: segue(path, 2),
        f"a loop over litellm {version('litellm')}": lambda path: peer("litellm", "loop", path),
        f"a loop over LangChain {version('langchain-anthropic')}": lambda path: peer("langchain", "loop", path),
        f"datasets {version('datasets')}, map with litellm": lambda path: peer("litellm", "datasets", path),
    }
    starts = in_rounds({name: [make(files[START])] for name, make in named.items()}, folder, BESIDE_PEERS)
    taken = in_rounds({name: [make(files[FEW])] for name, make in named.items()}, folder, BESIDE_PEERS)
    first, *_ = named
    wall = {name: per_row(taken[name], starts[name], "wall") for name in named}
    used = {name: per_row(taken[name], starts[name], "processor") for name in named}
    rows = [
        (
            name,
            cell(Figure.of(1 / value for value in wall[name].rounds), "a second"),
            cell(used[name].times(1e6), "µs"),
            ratio(used[name], used[first], "the first"),
            cell(Figure.of(each.wall for each in starts[name]), "s"),
        )
        for name in named
    ]
    return Table(
        f"{FEW:,} rows, {files[FEW].stat().st_size / 1e6:,.0f} MB, to {ANTHROPIC.ref}",
        ("", "rows", "CPU time per row", "ratio of CPU time", f"the whole command with {START} rows"),
        rows,
        ("Rows per second (of wall-clock time) and CPU time are without the start of Python and imports.",),
    )


def per_row(taken: list[Spent], starts: list[Spent], clock: str) -> Figure:
    """Seconds per row, without what a run with few rows takes."""
    start = Figure.of(getattr(each, clock) for each in starts).median
    return Figure.of((getattr(each, clock) - start) / (FEW - START) for each in taken)


# -- cores and memory -------------------------------------------------------------------------------------------------


def on_cores(path: Path, folder: Path) -> Table:
    halves = split(path, folder)
    candidates = {
        "one process": [segue(path, 1)],
        "two processes": [segue(path, 2)],
        "two separate commands, each with one process and half of the rows": [segue(half, 1) for half in halves],
    }
    taken = in_rounds(candidates, folder, ON_CORES)
    wall = {name: Figure.of(each.wall for each in rounds) for name, rounds in taken.items()}
    one = wall["one process"]
    rows = [
        (
            name,
            cell(Figure.of(SOME / each for each in wall[name].rounds), "a second"),
            cell(wall[name], "s"),
            cell(Figure.of(each.processor / each.wall for each in taken[name]), "cores"),
            ratio(one, wall[name]),
            f"{number(min(one.rounds) / min(wall[name].rounds))} ×",
        )
        for name in candidates
    ]
    return Table(
        f"{SOME:,} rows, {path.stat().st_size / 1e6:,.0f} MB: whole commands, wall-clock time",
        ("", "rows", "time", "busy", "faster than one process", "best rounds"),
        rows,
        (
            "The last line is for comparison: nothing is shared there. Busy: CPU time of all processes "
            "divided by wall-clock time.",
        ),
    )


def split(path: Path, folder: Path) -> list[Path]:
    halves = [folder / "first.jsonl", folder / "second.jsonl"]
    with path.open("rb") as lines:
        for half in halves:
            with half.open("wb") as file:
                file.writelines(islice(lines, SOME // 2))
    return halves


def memory(files: dict[int, Path], folder: Path) -> Table:
    def peak(path: Path) -> int:
        out = folder / "out"
        try:
            return peak_memory(segue(path, 2)(out))
        finally:
            shutil.rmtree(out)

    return Table(
        "The same command with two processes, peak resident memory of all its processes together",
        ("rows", "file", "memory"),
        [
            (f"{count:,}", f"{number(files[count].stat().st_size / 1e6)} MB", f"{number(peak(files[count]) / 1e6)} MB")
            for count in (FEW, MANY)
        ],
        ("Measured with `ps` every 20 ms; pages that processes share are counted for each of them.",),
    )


SECTION = Section("corpora", "Corpora: rows of files", run, ABOUT)
