"""Who runs a turn, and whether they still do: another process must not take a turn from one that lives."""

import os
import socket
import sys
import uuid
from pathlib import Path

LEASE = 15 * 60 * 1000
"""Milliseconds without an entry after which a turn that runs on another machine counts as broken off."""

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
