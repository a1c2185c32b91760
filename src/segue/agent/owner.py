"""The owner of a turn: which process runs it, and whether that process is still alive.

A process may only close a turn of another one that is dead. On the same machine the process is looked up. Between
machines there is a lease, which begins again with each entry that the owner writes; the owner writes an entry if it has
written none for a while. An owner that returns after its lease has expired finds that another process has written to
the log, and writes nothing.
"""

import asyncio
import os
import socket
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ..types.text import MOST_DIGITS, whole_number

LEASE = 5 * 60 * 1000
"""Milliseconds without an entry after which a turn on another machine counts as interrupted."""

RENEWAL = 60 * 1000
"""Milliseconds without an entry after which the owner renews its lease: clocks may differ by some minutes."""

PULSE = 20.0
"""Seconds between two checks whether the lease must be renewed."""

_here: set[str] = set()
"""The owners in this process that are running something."""


class Owner:
    """An owner in this process. Its name has the host, the process, the start of the process, and a random word."""

    def __init__(self) -> None:
        self._word = uuid.uuid4().hex[:8]

    @property
    def name(self) -> str:
        """Computed each time, because a forked process is another owner."""
        return f"{socket.gethostname()}/{os.getpid()}/{_birth(os.getpid()) or 0}/{self._word}"

    def begin(self) -> None:
        _here.add(self.name)

    def end(self) -> None:
        _here.discard(self.name)


@contextmanager
def pulse(renew: Callable[[], None], blocks: bool) -> Iterator[None]:
    """Call ``renew`` regularly while the block runs, in a thread if it ``blocks``."""
    loop = asyncio.get_running_loop()
    timer: asyncio.TimerHandle | None = None

    def beat() -> None:
        if blocks:
            loop.run_in_executor(None, renew).add_done_callback(lambda _: again())
        else:
            renew()
            again()

    def again() -> None:  # never two at a time
        nonlocal timer
        if timer is not None:
            timer = loop.call_later(PULSE, beat)

    timer = loop.call_later(PULSE, beat)
    try:
        yield
    finally:
        timer.cancel()
        timer = None


def is_alive(owner: str, quiet: int) -> bool:
    """Whether ``owner``, which has written nothing for ``quiet`` milliseconds, may still run a turn."""
    host, pid, birth = (*owner.split("/"), "", "", "")[:3]
    process = whole_number(pid[:MOST_DIGITS])  # no process has a number that is so long
    if host == socket.gethostname() and process is not None:
        if process == os.getpid():
            return owner in _here
        if sys.platform != "win32":  # where os.kill would end the process
            return _process_exists(process, birth)
    return quiet < LEASE


def _process_exists(pid: int, birth: str) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass  # it exists and belongs to another user
    born = _birth(pid)
    # Process ids are reused: after a while, or in a container at every start.
    return born is None or (born != "" and birth in ("", "0", born))


def _birth(pid: int) -> str | None:
    """The start time of a process in clock ticks; ``""`` for a zombie, ``None`` if unknown."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return None
    return "" if fields[0] in (b"Z", b"X") else fields[19].decode()
