"""How figures are measured: several interleaved rounds, medians with quartiles. Only ratios within one run are exact.

Calls are measured in processor time of their thread. On a busy machine, wall time is not even good for ratios: a call
of 1 ms fits between two interruptions, one of 10 ms does not. The garbage collector is off while a call runs, for all
candidates.
"""

import gc
import os
import statistics
import subprocess
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple, Self, TypeVar

Name = TypeVar("Name", bound=Hashable)
Clock = Callable[[], float]
QUICK = 0.3
"""Seconds. Candidates that are compared with each other should be on the same side of it, at all lengths."""


class Figure(NamedTuple):
    """The result of all rounds: the median and the quartiles."""

    median: float
    low: float
    high: float
    rounds: tuple[float, ...]

    @classmethod
    def of(cls, taken: Iterable[float]) -> Self:
        values = tuple(taken)
        low, median, high = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3
        return cls(median, low, high, values)

    def times(self, factor: float) -> "Figure":
        return Figure.of(value * factor for value in self.rounds)

    def over(self, other: "Figure") -> float:
        """The ratio to the other figure: the median over the rounds of both, because the speed of the machine differs
        from round to round."""
        return statistics.median(one / another for one, another in zip(self.rounds, other.rounds, strict=True))


class Effort(NamedTuple):
    """The number of rounds: ``most``, or as many as fit into ``seconds``, but at least ``least``; ``warm``: one round
    before them does not count."""

    most: int = 15
    seconds: float = 10.0
    least: int = 3
    warm: bool = True

    def rounds(self) -> Iterator[int]:
        end = time.perf_counter() + self.seconds
        for number in range(self.most):
            if number >= self.least and time.perf_counter() > end:
                return
            yield number


def measured(
    candidates: Mapping[Name, Callable[[], object]], effort: Effort | None = None, clock: Clock = time.thread_time
) -> dict[Name, Figure]:
    """Seconds per call of each candidate."""
    return {name: Figure.of(times) for name, times in by_round(candidates, effort, clock).items()}


def by_round(
    candidates: Mapping[Name, Callable[[], object]], effort: Effort | None = None, clock: Clock = time.thread_time
) -> dict[Name, list[float]]:
    """Seconds of each candidate in each round. Candidates take turns, so that noise affects all of them equally."""
    effort = effort or Effort()
    taken: dict[Name, list[float]] = {name: [] for name in candidates}
    for call in candidates.values() if effort.warm else ():
        call()
    for _ in effort.rounds():
        for name, call in candidates.items():
            taken[name].append(seconds(call, clock))
    return taken


def seconds(call: Callable[[], object], clock: Clock = time.thread_time) -> float:
    """The seconds of one call. A fast call is made twice, and the second one counts: during the first, the caches still
    have the data of the candidate before."""
    with without_garbage():
        taken = _seconds(call, clock)
        return _seconds(call, clock) if taken < QUICK else taken


def _seconds(call: Callable[[], object], clock: Clock) -> float:
    start = clock()
    call()
    return clock() - start


@contextmanager
def without_garbage() -> Iterator[None]:
    """Collect garbage first, and keep the collector off meanwhile."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


class Spent(NamedTuple):
    """The time of a process and its children: wall time and processor time in seconds."""

    wall: float
    processor: float


def process(command: Sequence[str]) -> Spent:
    """Run a command to its end, without its output."""
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as child:
        said = child.stderr.read() if child.stderr else b""
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        wall = time.perf_counter() - start
    if child.returncode:
        raise RuntimeError(f"{command} ended with {child.returncode}: {said.decode(errors='replace')[-2000:]}")
    return Spent(wall, usage.ru_utime + usage.ru_stime)


def processes(commands: Mapping[Name, Sequence[str]], effort: Effort) -> dict[Name, list[Spent]]:
    """The time of each command in each round; like with calls, the second run of a fast one counts."""
    taken: dict[Name, list[Spent]] = {name: [] for name in commands}
    for command in commands.values() if effort.warm else ():
        process(command)
    for _ in effort.rounds():
        for name, command in commands.items():
            spent = process(command)
            taken[name].append(process(command) if spent.wall < QUICK else spent)
    return taken
