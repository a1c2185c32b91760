"""Processes that write to a store, for tests with many writers and with killed ones. Run as a script.

    writers.py many WHERE NAME SESSIONS ROUNDS    appends to each of SESSIONS, ROUNDS times, when it reads a line
    writers.py fork_writers                       forks a writer for each line `WHERE SESSION RUN` that it reads

The keys of entries contain the size of their batch, and the texts repeat the keys, so that a reader can check whether
batches are complete.
"""

import json
import os
import random
import sys
from contextlib import suppress

from segue.errors import ConflictError, SessionError
from segue.session import MessageAdded, Store, open_store, postgres, sqlite
from segue.types import TextContent, UserMessage


def batch_of(name: str, number: int, size: int, length: int) -> list[MessageAdded]:
    """``size`` entries, each about ``length`` characters long."""
    keys = [f"{name}:{number}:{at}:{size}" for at in range(size)]
    return [MessageAdded(key=key, time=number, message=UserMessage(key * (length // len(key) + 1))) for key in keys]


def whole_batches(store: Store, session: str) -> list[tuple[str, int]]:
    """The batches of a session in order, as (name, number). Every entry and every batch must be complete."""
    batches: list[tuple[str, int]] = []
    missing: list[str] = []
    for expected, stored in enumerate(store.read(session), 1):
        assert stored.number == expected
        key = stored.entry.key
        assert isinstance(stored.entry, MessageAdded)
        (block,) = stored.entry.message.content
        assert isinstance(block, TextContent) and not block.text.replace(key, "") and block.text
        name, number, _, size = key.split(":")
        if not missing:
            batches.append((name, int(number)))
            missing = [f"{name}:{number}:{at}:{size}" for at in range(int(size))]
        assert key == missing.pop(0), f"{key} is in the place of another entry"
    assert not missing, f"{missing} are missing"
    return batches


def many(where: str, name: str, sessions: list[str], rounds: int) -> None:
    chance = random.Random(name)
    conflicts = 0
    with open_store(where) as store:
        print("ready", flush=True)
        sys.stdin.readline()
        heads = dict.fromkeys(sessions, 0)
        for number in range(rounds):
            for session in chance.sample(sessions, len(sessions)):
                batch = batch_of(name, number, chance.randint(1, 3), 200)
                while True:
                    try:
                        heads[session] = store.append(session, batch, after=heads[session])
                        break
                    except ConflictError:
                        conflicts += 1
                        heads[session] = store.head(session)
    print(json.dumps({"conflicts": conflicts}), flush=True)


def write_until_killed(where: str, session: str, run: str) -> None:
    """Append until killed, and print the number of the last entry after each append."""
    chance = random.Random(run)
    with open_store(where) as store:
        with suppress(SessionError):  # an earlier writer has created it
            store.create(session, time=0)
        head = store.head(session)
        number = 0
        while True:
            length = chance.choice([10, 500, 30_000])
            head = store.append(session, batch_of(run, number, chance.randint(1, 5), length), after=head)
            os.write(1, f"{head}\n".encode())
            number += 1


def fork_writers() -> None:
    """Fork writers, because starting Python for each of them would be slow."""
    while line := sys.stdin.readline():
        child = os.fork()
        if not child:
            try:
                write_until_killed(*line.split())
            finally:
                os._exit(1)  # the child is killed, and never gets here
        os.write(1, f"pid {child}\n".encode())
        _, status = os.waitpid(child, 0)
        os.write(1, f"end {os.waitstatus_to_exitcode(status)}\n".encode())


if __name__ == "__main__":
    sqlite.LOCK_TIMEOUT = postgres.LOCK_TIMEOUT = 600  # on a busy machine a writer may have to wait long
    match sys.argv[1:]:
        case ["many", where, name, sessions, rounds]:
            many(where, name, sessions.split(","), int(rounds))
        case ["fork_writers"]:
            fork_writers()
