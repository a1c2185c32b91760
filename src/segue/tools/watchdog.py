"""Kill the processes that this one has started when it ends, even by SIGKILL. For POSIX systems.

A small shell process reads from a pipe that this process holds open. The system closes the pipe when this process
ends. The shell then kills the process groups that were named, and, where the system shows the environments of processes
(Linux), every process with a mark in its environment.
"""

import os
import subprocess
from contextlib import suppress

# Several rounds: a process that was being started during one is found in the next.
_WATCH = """
while read -r group; do groups="$groups $group"; done
for round in 1 2 3; do
    for group in $groups; do kill -s KILL -- "-$group"; done
    [ -z "$1" ] && continue
    grep -lszxF -- "$1" /proc/[0-9]*/environ | while IFS=/ read -r _ _ process _; do kill -s KILL "$process"; done
done
"""

_open_pipes: set[int] = set()
"""The ends of the pipes that this process holds open."""


def _close_after_fork() -> None:
    """Close the pipes in a forked process: they must end with this process, not with the fork."""
    while _open_pipes:
        os.close(_open_pipes.pop())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_after_fork)


class Watchdog:
    """Kills processes when this process ends: the groups that were passed to ``watch``, and all processes with ``mark``
    (``NAME=value``) in their environment."""

    def __init__(self, mark: str = "") -> None:
        reading, self._writing = os.pipe()
        try:
            self._watcher = subprocess.Popen(
                ["/bin/sh", "-c", _WATCH, "segue-watchdog", mark],
                stdin=reading,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={"PATH": os.environ.get("PATH", os.defpath)},
                cwd="/",
                start_new_session=True,  # it must survive a signal to our process group
            )
        except BaseException:
            os.close(self._writing)
            raise
        finally:
            os.close(reading)
        _open_pipes.add(self._writing)

    def watch(self, group: int) -> None:
        """Also kill this process group, whatever its environment is."""
        with suppress(BrokenPipeError):
            os.write(self._writing, f"{group}\n".encode())

    def stop(self) -> None:
        """Stop watching, because all processes have ended. Call it before the leader of a group is waited for: until
        then its process id cannot be reused."""
        if self._writing in _open_pipes:
            _open_pipes.remove(self._writing)
            self._watcher.kill()
            self._watcher.wait()
            os.close(self._writing)
