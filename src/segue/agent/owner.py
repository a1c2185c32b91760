"""Who runs a turn, and whether they still do: another process must not take a turn from one that lives.

A process of the same machine is looked for. Between machines there is a lease: it begins with each entry that the owner
writes, and the owner writes one when it has written nothing for a while. A turn may be taken when its lease has ended;
an owner that comes back after that finds the log written by another, and writes nothing.
"""

import asyncio
import os
import socket
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

LEASE = 5 * 60 * 1000
"""Milliseconds without an entry after which a turn that runs on another machine counts as broken off."""

RENEWAL = 60 * 1000
"""Milliseconds without an entry after which the owner of a turn renews its lease: clocks may differ by some minutes."""

PULSE = 20.0
"""Seconds between two looks at whether the lease must be renewed."""

_here: set[str] = set()
"""The owners in this process that run something at this moment."""


class Owner:
    """Someone in this process who may run turns: the host, the process, when that began, and a word of its own."""

    def __init__(self) -> None:
        self._word = uuid.uuid4().hex[:8]

    @property
    def name(self) -> str:
        """Made anew each time: a process that was forked is another one."""
        return f"{socket.gethostname()}/{os.getpid()}/{_birth(os.getpid()) or 0}/{self._word}"

    def begins(self) -> None:
        _here.add(self.name)

    def ends(self) -> None:
        _here.discard(self.name)


@contextmanager
def pulse(renew: Callable[[], None], blocks: bool) -> Iterator[None]:
    """Call ``renew`` every now and then while the block runs; in a thread, if it may take a while."""
    loop = asyncio.get_running_loop()
    timer: asyncio.TimerHandle | None = None

    def beat() -> None:
        if blocks:
            loop.run_in_executor(None, renew).add_done_callback(lambda _: again())
        else:
            renew()
            again()

    def again() -> None:  # one at a time: the next one is due when this one is done
        nonlocal timer
        if timer is not None:
            timer = loop.call_later(PULSE, beat)

    timer = loop.call_later(PULSE, beat)
    try:
        yield
    finally:
        timer.cancel()
        timer = None


def lives(owner: str, quiet: int) -> bool:
    """Whether ``owner``, who has written nothing for ``quiet`` milliseconds, may still run a turn."""
    host, pid, birth = (*owner.split("/"), "", "", "")[:3]
    if host == socket.gethostname() and pid.isdigit():
        if int(pid) == os.getpid():
            return owner in _here
        if sys.platform != "win32":  # where this question would be a signal
            return _is_there(int(pid), birth)
    return quiet < LEASE


def _is_there(pid: int, birth: str) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass  # somebody else's
    born = _birth(pid)
    # A number is given to another process sooner or later, in a container at every start.
    return born is None or (born != "" and birth in ("", "0", born))


def _birth(pid: int) -> str | None:
    """When a process began, in the system's own count; empty if it is dead and not buried, ``None`` if nobody says."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return None
    return "" if fields[0] in (b"Z", b"X") else fields[19].decode()
