"""What a stored session costs: appending a message to it, and opening it up to the next request.

The bare reading of the file is the lower bound, and the measure: opening must not grow faster than it does.
"""

from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, thread_time

import segue
from segue.session import Said, SQLiteStore
from segue.types import Context

from .conversations import tool_history
from .measure import medians, table

LENGTHS = (100, 1_000, 10_000)
ROUNDS = 200
SESSION = "s"
MODEL = "anthropic/claude-sonnet-4-5"


def stored(path: Path, messages: int) -> SQLiteStore:
    """A store with one session of that many messages, all of it in the one file."""
    store = SQLiteStore(path)
    store.create(SESSION, time=0)
    history = tool_history(messages).messages[:messages]
    store.append(SESSION, [Said(key=f"k{at}", time=at, message=each) for at, each in enumerate(history)], after=0)
    store.close()
    return SQLiteStore(path)


def opened(path: Path) -> Context:
    with SQLiteStore(path) as store:
        return segue.Session.open(SESSION, MODEL, store=store).context


def run() -> None:
    with TemporaryDirectory() as folder:
        for messages in LENGTHS:
            path = Path(folder) / f"{messages}.db"
            store = stored(path, messages)
            print(f"\na session of {messages:,} messages, {path.stat().st_size / 1e6:.1f} MB")
            opening(path, messages)
            appending(store, messages)
            store.close()


def opening(path: Path, messages: int) -> None:
    model = segue.get_model(MODEL)
    times = medians(
        {
            "read the bytes of the file": path.read_bytes,
            "open the session": partial(opened, path),
            "open it and encode the next request": lambda: segue.encode(opened(path), model),
        },
        7,
    )
    bare = times["read the bytes of the file"]
    rows = [(name, taken / messages, f"a message, {taken / bare:.1f} × the bytes") for name, taken in times.items()]
    table("  opening", rows, "µs", 1e6)


def appending(store: SQLiteStore, messages: int) -> None:
    number = count(messages)
    message = tool_history(3).messages[1]

    def append() -> None:
        at = next(number)
        store.append(SESSION, [Said(key=f"k{at}", time=at, message=message)], after=at)

    rows = [
        (f"append a message, {what}", medians({"append": append}, ROUNDS, clock)["append"], "an append")
        for what, clock in (("processor", thread_time), ("until it is on disk", perf_counter))
    ]
    table("  appending", rows, "µs", 1e6)
