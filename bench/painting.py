"""How long the studio takes to show a long conversation, beside a page that has everything at once."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from .measure import Figure
from .report import Part, Section, Table, cell, ratio

MESSAGES = 10_000
ROUNDS = 3
NAMES = {"chunks": "the studio: 200 messages, the others as they come near", "at once": "all messages in the page"}


def run() -> Iterator[Part]:
    # The browser's driver and the studio are in the environment of the tests, which contains this one.
    python = Path(sys.prefix).parent / "bin" / "python"
    if shutil.which("chromium") is None or not python.exists():
        yield Table("First paint", ("", ""), [], ("Not measured: there is no chromium on this machine.",))
        return
    command = [str(python), "-m", "bench.painting_worker", str(MESSAGES), str(ROUNDS)]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    figures = {name: Figure.of(taken) for name, taken in found.items()}
    yield Table(
        f"First paint of a conversation of {MESSAGES:,} messages for two models, on the wall",
        ("", "time", "ratio"),
        [
            (text, cell(figures[name], "ms"), ratio(figures[name], figures["chunks"], "the studio"))
            for name, text in NAMES.items()
        ],
        ("From the request to the first frame with rows, with what the models get already computed.",),
    )


SECTION = Section("painting", "The studio", run)
