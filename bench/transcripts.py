"""Reading a large file of Claude Code, compared with decoding its JSON."""

import gc
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from segue import transcripts

from .claude_code_file import write_file
from .measure import Effort, measured
from .memory import alone
from .report import Part, Section, Table, cell, number, ratio

SIZE = 200_000_000
EFFORT = Effort(7, 40)
OWN, PLAIN = "segue.transcripts.read", "msgspec, each line decoded and dropped"


def run() -> Iterator[Part]:
    with TemporaryDirectory() as folder:
        path = write_file(Path(folder) / "session.jsonl", SIZE)
        decode = msgspec.json.Decoder().decode

        def plain() -> None:
            with path.open("rb") as file:
                for line in file:
                    decode(line)

        times = measured({OWN: lambda: transcripts.read(path), PLAIN: plain}, EFFORT)
        count = len(transcripts.read(path).messages)
        yield Table(
            f"A session of Claude Code, {number(SIZE / 1e6)} MB, {count:,} messages",
            ("", "time", "ratio"),
            [(name, cell(taken, "s"), ratio(taken, times[PLAIN], "decoding")) for name, taken in times.items()],
        )
        kept, peak = alone(memory, path)
        yield Table(
            "The same file, memory",
            ("", "memory", "ratio"),
            [
                ("the conversation that is returned", f"{number(kept / 1e6)} MB", "1.00 ×"),
                ("the peak while it is read", f"{number(peak / 1e6)} MB", f"{number(peak / kept)} × the conversation"),
            ],
            ("Measured with tracemalloc in its own process.",),
        )


def memory(path: Path) -> tuple[int, int]:
    """Bytes of the conversation, and of the peak."""
    transcripts.formats()  # so that imports are not counted
    tracemalloc.start()
    found = transcripts.read(path)
    _, peak = tracemalloc.get_traced_memory()
    log = found.log
    del found
    gc.collect()
    kept, _ = tracemalloc.get_traced_memory()
    assert log
    return kept, peak


SECTION = Section("transcripts", "Sessions of other tools", run)
