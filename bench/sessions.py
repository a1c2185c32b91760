"""The cost of a stored session: appending a message, and opening it until the next request.

Opening is compared with reading: the same rows of the same file through sqlite3, each decoded to an entry. If the ratio
of both is not larger in a long session than in a short one, opening does not grow faster than reading.
"""

import sqlite3
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, thread_time
from typing import Any, cast

import msgspec

import segue
from segue.session import MessageAdded, SQLiteStore
from segue.session.entries import AnyEntry

from .conversations import tool_history
from .measure import Effort, Figure, by_round, measured
from .report import Part, Section, Table, cell, ratio

LENGTHS = (100, 1_000, 10_000)
OPENING, APPENDING = Effort(25, 60, 5), Effort(200, 10, 20)
SESSION = "s"
MODEL = "anthropic/claude-sonnet-4-5"
READ, OPENED, REQUEST = "read and decode the rows", "open the session", "open it, to the bytes of the next request"
CALLED = {
    READ: "sqlite3: SELECT body FROM segue_entries …, msgspec.json.Decoder(AnyEntry).decode",
    OPENED: "Session.open(…)",
    REQUEST: "Session.open(…), then the bytes of its next request",
}
QUERY = "SELECT number, body FROM segue_entries WHERE session = 1 ORDER BY number"


def stored(path: Path, messages: int) -> Path:
    """Write a file with one session of that many messages."""
    with SQLiteStore(path) as store:
        store.create(SESSION, time=0)
        history = tool_history(messages).messages
        store.append(
            SESSION, [MessageAdded(key=f"k{at}", time=at, message=each) for at, each in enumerate(history)], after=0
        )
    return path


def read(path: Path, messages: int) -> None:
    decode = msgspec.json.Decoder(cast(Any, AnyEntry)).decode
    connection = sqlite3.connect(path)
    entries = [(number, decode(body)) for number, body in connection.execute(QUERY)]
    connection.close()
    assert len(entries) == messages


def opened(path: Path) -> segue.Session:
    with SQLiteStore(path) as store:
        return segue.Session.open(SESSION, MODEL, store=store)


def next_request(path: Path, model: segue.Model) -> bytes:
    session = opened(path)
    return session.requests.request(model).json()


def run() -> Iterator[Part]:
    with TemporaryDirectory() as folder:
        files = {messages: stored(Path(folder) / f"{messages}.db", messages) for messages in LENGTHS}
        yield from opening(files)
        yield appending(files)


def opening(files: dict[int, Path]) -> Iterator[Part]:
    model = segue.get_model(MODEL)
    calls: dict[tuple[str, int], Callable[[], object]] = {}
    for messages, path in files.items():
        calls[READ, messages] = partial(read, path, messages)
        calls[OPENED, messages] = partial(opened, path)
        calls[REQUEST, messages] = partial(next_request, path, model)
    times = by_round(calls, OPENING)
    figures = {key: Figure.of(taken).times(1e6 / key[1]) for key, taken in times.items()}
    sizes = ", ".join(f"{path.stat().st_size / 1e6:.1f}" for path in files.values())
    yield Table(
        f"Open a session, µs per message; {sizes} MB",
        ("", *(f"{messages:,} messages" for messages in LENGTHS), "ratio at the most", "called"),
        [
            (
                name,
                *(cell(figures[name, messages], "µs") for messages in LENGTHS),
                ratio(figures[name, LENGTHS[-1]], figures[READ, LENGTHS[-1]], "reading"),
                called,
            )
            for name, called in CALLED.items()
        ],
    )
    yield growing(times)


def growing(times: dict[tuple[str, int], list[float]]) -> Table:
    rows = []
    for name in (OPENED, REQUEST):
        multiples = [
            Figure.of(taken / read for taken, read in zip(times[name, messages], times[READ, messages], strict=True))
            for messages in LENGTHS
        ]
        rows.append((name, *(cell(multiple, "×") for multiple in multiples)))
    return Table(
        "As a multiple of reading the file, in the same round",
        ("", *(f"{messages:,} messages" for messages in LENGTHS)),
        rows,
        ("If opening grew faster than reading, the ratio would grow from column to column.",),
    )


def appending(files: dict[int, Path]) -> Table:
    message = tool_history(3).messages[1]
    rows = []
    for messages, path in files.items():
        with SQLiteStore(path) as store:
            numbers = count(messages)

            def append(store: SQLiteStore = store, numbers: Iterator[int] = numbers) -> None:
                at = next(numbers)
                store.append(SESSION, [MessageAdded(key=f"k{at}", time=at, message=message)], after=at)

            figures = [
                measured({"append": append}, APPENDING, clock)["append"].times(1e6)
                for clock in (thread_time, perf_counter)
            ]
        rows.append((f"{messages:,}", *(cell(figure, "µs") for figure in figures)))
    return Table(
        "Append a message of a tool call, SQLiteStore.append",
        ("messages before", "CPU", "wall clock, until it is on disk"),
        rows,
    )


SECTION = Section("store", "Stored sessions", run)
