"""What telemetry adds to a request: where it is absent, installed, imported, and exporting."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack

from .measure import Effort, Figure
from .peers.encoders import ANTHROPIC
from .provider import answering
from .report import Part, Section, Table, cell, ratio
from .telemetry_worker import MODES

REQUESTS = 100
EFFORT = Effort(21, 90, least=5)
TITLES = dict(
    zip(
        MODES,
        (
            "OpenTelemetry is not installed",
            "installed, not imported",
            "imported, no provider",
            "spans, with the OTLP exporter",
            "spans and metrics, with the OTLP exporters",
        ),
        strict=True,
    )
)
ABOUT = (
    "A request with 20 messages to a provider on loopback, with `segue.complete`. CPU time of the process, in all its "
    "threads, so that exporting is included; every case has its own process, and they take turns. Spans are exported "
    "in batches, metrics every second, to a receiver on loopback."
)


def run() -> Iterator[Part]:
    with ExitStack() as stack:
        provider, receiver = (stack.enter_context(answering(ANTHROPIC)) for _ in range(2))
        workers = {mode: stack.enter_context(started(mode, provider, receiver)) for mode in MODES}
        for worker in workers.values():
            seconds(worker)  # connects, and loads what the first request needs
        taken: dict[str, list[float]] = {mode: [] for mode in MODES}
        for _ in EFFORT.rounds():
            for mode, worker in workers.items():
                taken[mode].append(seconds(worker))
    figures = {mode: Figure.of(each).times(1e6) for mode, each in taken.items()}
    first, *_ = MODES
    yield Table(
        f"One request, {len(taken[first])} rounds of {REQUESTS} requests",
        ("", "CPU time", "ratio"),
        [
            (TITLES[mode], cell(figures[mode], "µs"), ratio(figures[mode], figures[first], "the first"))
            for mode in MODES
        ],
    )


def started(mode: str, provider: str, receiver: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "bench.telemetry_worker", mode, provider, receiver]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def seconds(worker: "subprocess.Popen[str]") -> float:
    """CPU seconds of one request, on average."""
    assert worker.stdin is not None and worker.stdout is not None
    worker.stdin.write(f"{REQUESTS}\n")
    worker.stdin.flush()
    return float(worker.stdout.readline())


SECTION = Section("telemetry", "What telemetry adds to a request", run, ABOUT)
