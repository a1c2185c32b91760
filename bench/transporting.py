"""What the transport adds to a call of an SDK: the first request of a conversation, one that extends it, a torn one."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from .measure import Figure
from .report import Part, Section, Table, cell

COUNT = 100
STEP = 4
"""Messages by which each request extends the one before."""

ABOUT = (
    f"A call of the provider's SDK with {COUNT + 1} messages, without network: the HTTP client answers itself. CPU "
    "time of the whole call, and beside it the same HTTP request sent through `segue.transport.client()`, minus what "
    "the client below needs: for the first request of a conversation, which is read and rendered as a whole; for one "
    f"that extends the request before by {STEP} messages; and for a first request in which a result is missing, so "
    "that its body is written again, without and with a callback that gets the report. The transport has read other "
    "answers before. Reading the short answer for the ledger is included."
)


def run() -> Iterator[Part]:
    # The current SDKs are in the environment of the tests, which contains this one; other libraries pin earlier ones.
    python = Path(sys.prefix).parent / "bin" / "python"
    command = [str(python), "-m", "bench.transport_worker"]
    found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    rows = []
    for sdk, rounds in found.items():
        whole, below = Figure.of(rounds.pop("sdk")), rounds.pop("below")
        added = [Figure.of(a - b for a, b in zip(each, below, strict=True)) for each in rounds.values()]
        rows.append((sdk, cell(whole.times(1e3), "ms"), *(cell(each.times(1e3), "ms") for each in added)))
    head = (
        "SDK",
        "a call of the SDK",
        "added to the first request",
        "to one that extends it",
        "to a torn one",
        "to a torn one with a report",
    )
    yield Table(f"A call with {COUNT + 1} messages", head, rows)


SECTION = Section("transport", "What the transport adds to a call of an SDK", run, ABOUT)
