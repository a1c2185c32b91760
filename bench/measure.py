"""How figures are taken: several rounds, interleaved, medians; ratios to a peer in the same run are what counts.

Calls are timed by the processor time of their thread. On a busy machine the time on the wall is not even good for
ratios: a call of 1 ms fits between two interruptions, one of 10 ms does not.
"""

import gc
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping

ROUNDS = 15


def medians(
    candidates: Mapping[str, Callable[[], object]],
    rounds: int = ROUNDS,
    clock: Callable[[], float] = time.thread_time,
) -> dict[str, float]:
    """Seconds per call of each candidate. Candidates take turns, so that noise hits all of them alike."""
    taken: dict[str, list[float]] = {name: [] for name in candidates}
    for call in candidates.values():
        call()  # warm up
    for _ in range(rounds):
        for name, call in candidates.items():
            gc.collect()
            gc.disable()
            start = clock()
            call()
            taken[name].append(clock() - start)
            gc.enable()
    return {name: statistics.median(times) for name, times in taken.items()}


def import_times(modules: list[str], rounds: int = ROUNDS) -> dict[str, float]:
    """Seconds on the wall that an import adds to a bare interpreter, each in a process of its own."""

    def start(code: str) -> Callable[[], object]:
        return lambda: subprocess.run([sys.executable, "-c", code], check=True)

    bare = "pass"
    calls = {bare: start(bare)} | {name: start(f"import {name}") for name in modules}
    times = medians(calls, rounds, time.perf_counter)  # the work is done by another process
    return {name: times[name] - times[bare] for name in modules}


def table(title: str, rows: list[tuple[str, float, str]], unit: str, scale: float) -> None:
    """Print rows of (name, seconds, remark)."""
    print(f"\n{title}")
    for name, seconds, remark in rows:
        print(f"  {name:<44}{seconds * scale:>10.2f} {unit}   {remark}")
