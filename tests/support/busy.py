"""Find the tests that use processes, threads, sockets or time, and repeat them (`scripts/busy.py`).

`SEGUE_BUSY=find` adds the name of each such test to `SEGUE_BUSY_TESTS`, a file; a number there repeats each of them so
many times, and leaves the others out. A name is that of the function: its cases are found and repeated together.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SETTING = os.environ.get("SEGUE_BUSY", "")
FOUND = Path(os.environ.get("SEGUE_BUSY_TESTS", os.devnull))
EVENTS = frozenset(
    {
        *("subprocess.Popen", "os.posix_spawn", "os.fork", "os.forkpty"),
        *("_thread.start_new_thread", "socket.__new__", "socket.connect", "time.sleep"),
    }
)
"""Audit events of Python: a test in which one of them occurs depends on more than its own computation. An event loop
opens a pair of sockets. (docs.python.org, "Audit events table", 2026-11-18)"""


def name_of(item: pytest.Item) -> str:
    """The name of a test's function, for example ``tests/test_tour.py::test_the_tour_is_complete``."""
    return item.nodeid.partition("[")[0]


class Finder:
    """Notes the names of tests in which one of the events occurs, in their fixtures as well."""

    def __init__(self) -> None:
        self._occurred = False
        self._written: set[str] = set()
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[object, ...]) -> None:
        if event in EVENTS:
            self._occurred = True

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._occurred = False
        result = yield
        name = name_of(item)
        if self._occurred and name not in self._written:
            self._written.add(name)
            with FOUND.open("a") as file:  # several processes add lines to it
                file.write(f"{name}\n")
        return result


class Repeater:
    """Repeats the tests that were found."""

    def __init__(self, rounds: int) -> None:
        self._rounds = rounds
        self._found = frozenset(FOUND.read_text().split())

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        if name_of(metafunc.definition) not in self._found:
            return
        metafunc.fixturenames.append("_round")
        metafunc.parametrize("_round", range(self._rounds), ids=[f"round{at}" for at in range(self._rounds)])

    def pytest_collection_modifyitems(self, items: list[pytest.Function]) -> None:
        """One round after the other, so that servers and stores which the tests of a file share are new in each."""
        found = [each for each in items if name_of(each) in self._found]
        items[:] = sorted(found, key=lambda item: item.callspec.params["_round"])

    @pytest.fixture
    def _round(self) -> None:
        """Which repetition a test is; tests do not use it."""


def plugin() -> Finder | Repeater | None:
    """The plugin that the environment asks for."""
    if SETTING == "find":
        return Finder()
    return Repeater(int(SETTING)) if SETTING else None
