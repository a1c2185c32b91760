"""How figures are taken: several rounds, interleaved; medians with their quartiles. Ratios in one run are what counts.

Calls are timed by the processor time of their thread. On a busy machine the time on the wall is not even good for
ratios: a call of 1 ms fits between two interruptions, one of 10 ms does not. The collector of garbage is off while a
call runs, for everybody alike.
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
"""Seconds. Candidates that are compared with each other, and their lengths, should fall on one side of it."""


class Figure(NamedTuple):
    """What the rounds gave: the median, and the quartiles around it."""

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
        """How many times the other this is, in the median of the rounds that both took part in: this machine is not
        equally quick in all of them."""
        return statistics.median(one / another for one, another in zip(self.rounds, other.rounds, strict=True))


class Effort(NamedTuple):
    """How many rounds: ``most``, or what fits into ``seconds``, but at least ``least``; ``warm``: there is one before
    them that does not count."""

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
    """Seconds of each candidate in each round. Candidates take turns, so that noise hits all of them alike."""
    effort = effort or Effort()
    taken: dict[Name, list[float]] = {name: [] for name in candidates}
    for call in candidates.values() if effort.warm else ():
        call()
    for _ in effort.rounds():
        for name, call in candidates.items():
            taken[name].append(seconds(call, clock))
    return taken


def seconds(call: Callable[[], object], clock: Clock = time.thread_time) -> float:
    """How long one call takes. A quick one is made twice, and the second one counts: the first pays for the caches
    that whoever was measured before has filled."""
    with without_garbage():
        taken = _seconds(call, clock)
        return _seconds(call, clock) if taken < QUICK else taken


def _seconds(call: Callable[[], object], clock: Clock) -> float:
    start = clock()
    call()
    return clock() - start


@contextmanager
def without_garbage() -> Iterator[None]:
    """What was left behind before is gone, and nobody looks for more meanwhile."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


class Spent(NamedTuple):
    """What a process took, with those that it started: seconds on the wall, and of processors."""

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
    """What each command took in each round; as with calls, the second time counts of a quick one."""
    taken: dict[Name, list[Spent]] = {name: [] for name in commands}
    for command in commands.values() if effort.warm else ():
        process(command)
    for _ in effort.rounds():
        for name, command in commands.items():
            spent = process(command)
            taken[name].append(process(command) if spent.wall < QUICK else spent)
    return taken
