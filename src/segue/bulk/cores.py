"""All cores of one machine: tasks run in processes, and only a few of them are in memory at a time.

Tasks and results are small. A task says where its rows are (``lines.py``), so that the process that works on them reads
them itself: copying rows through the main process costs more than a second core gains.
"""

import gc
import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from threading import Thread
from time import sleep
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

AHEAD = 3
"""Tasks per process that wait or whose results wait."""
PARENT_CHECK = 1.0
"""Seconds between two checks whether the main process still exists."""


def count_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def on_all_cores(
    work: Callable[[T], R], tasks: Iterable[T], *, workers: int | None = None, in_order: bool = True
) -> Iterator[R]:
    """Call ``work`` with every task, in processes, and yield the results: in the order of the tasks, or as they come.

    With one core, no process is started.
    """
    workers = workers or count_cores()
    if workers == 1:
        yield from map(work, tasks)
        return
    from concurrent.futures import ProcessPoolExecutor

    pool = ProcessPoolExecutor(workers, initializer=_prepare_worker)
    try:
        waiting: deque[Future[R]] = deque()
        for task in tasks:
            waiting.append(pool.submit(work, task))
            if len(waiting) >= AHEAD * workers:
                yield _next(waiting, in_order)
        while waiting:
            yield _next(waiting, in_order)
    finally:
        pool.shutdown(cancel_futures=True)


def _next(waiting: "deque[Future[R]]", in_order: bool) -> R:
    future = waiting[0]
    if not in_order:
        done = wait(waiting, return_when=FIRST_COMPLETED).done
        future = next(each for each in waiting if each in done)
    waiting.remove(future)
    return future.result()


def _prepare_worker() -> None:
    """Leave Ctrl-C to the main process, and end when it ends, even if it is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.freeze()  # what the main process had is never garbage
    Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        sleep(PARENT_CHECK)
    os._exit(1)
