"""Ends processes when this one has ended, however that happens: after SIGKILL, too. For POSIX systems.

A small process waits at a pipe that this one holds open. The system closes it with the last of us, and then everything
that was started is ended: process groups that were named, and, where the system shows the environments of processes
(Linux), all that carry a mark there.
"""

import os
import subprocess
from contextlib import suppress

# Several rounds: what was being started while it looked is found in the next one.
_WATCH = """
while read -r group; do groups="$groups $group"; done
for round in 1 2 3; do
    for group in $groups; do kill -s KILL -- "-$group"; done
    [ -z "$1" ] && continue
    grep -lszxF -- "$1" /proc/[0-9]*/environ | while IFS=/ read -r _ _ process _; do kill -s KILL "$process"; done
done
"""

_held: set[int] = set()
"""The ends of the pipes that are ours."""


def _let_go() -> None:
    """A process that was forked from this one must not hold what ends with this one."""
    while _held:
        os.close(_held.pop())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)


class Watchdog:
    """What is started with ``mark`` (``NAME=value``) in its environment ends with this process; without a mark, only
    the groups that ``watch`` names."""

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
                start_new_session=True,  # what ends us as a group must not end it
            )
        except BaseException:
            os.close(self._writing)
            raise
        finally:
            os.close(reading)
        _held.add(self._writing)

    def watch(self, group: int) -> None:
        """This process group ends with us, too, whatever its environment is."""
        with suppress(BrokenPipeError):
            os.write(self._writing, f"{group}\n".encode())

    def stop(self) -> None:
        """Let go: all has ended. Called before the leader of a group is collected, while its number is its own."""
        if self._writing in _held:
            _held.remove(self._writing)
            self._watcher.kill()
            self._watcher.wait()
            os.close(self._writing)
