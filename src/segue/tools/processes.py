"""A command and everything that it starts, as one thing that can be ended. For POSIX systems."""

import asyncio
import os
import secrets
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

from .watchdog import Watchdog

_MARK = "SEGUE_COMMAND"
_LOOK = 0.02
_MOMENT = 0.25
_POLITE = 0.5
"""Seconds between asking processes to end and ending them."""


class Command:
    """A running command: it leads a process group of its own, and ends with this process.

    What it starts carries its mark in the environment, so that what leaves the group is found, too, where the system
    shows the environments of processes (Linux).
    """

    def __init__(self, words: Sequence[str], folder: str, environment: Mapping[str, str], output: int) -> None:
        mark = secrets.token_hex(16)
        self._mark = f"{_MARK}={mark}".encode()
        self._watchdog = Watchdog(f"{_MARK}={mark}")
        try:
            self._process = subprocess.Popen(
                words,
                cwd=folder,
                env={**environment, _MARK: mark},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        except BaseException:
            self._watchdog.stop()
            raise
        self._watchdog.watch(self._process.pid)

    async def ended(self) -> None:
        """Wait until the command itself has ended; what it has started may still run."""
        while not self._has_ended():
            await asyncio.sleep(_LOOK)

    async def leaves_something(self) -> bool:
        """Whether anything still runs that does not end by itself in a moment."""
        return await self._stays(_MOMENT)

    def is_left(self) -> bool:
        """Whether anything of it still runs."""
        listed = self._listed()
        if listed is not None:
            return bool(listed)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, 0)
            return True
        return False

    async def end(self) -> int:
        """End all that is left, politely first. The exit status; a negative one is that of a signal."""
        try:
            if self.is_left():
                self._signal(signal.SIGTERM)
                await self._stays(_POLITE)
        finally:
            self._kill()
        return self._process.returncode if self._process.returncode is not None else -signal.SIGKILL

    async def _stays(self, seconds: float) -> bool:
        until = time.monotonic() + seconds
        while self.is_left():
            if time.monotonic() > until:
                return True
            await asyncio.sleep(_LOOK)
        return False

    def _kill(self) -> None:
        """End all at once, without a point at which a cancellation could come between."""
        for _ in range(50):  # what was being started while we looked is found in the next round
            self._signal(signal.SIGKILL)
            if not self.is_left():
                break
            time.sleep(0.001)
        self._watchdog.stop()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(1)

    def _has_ended(self) -> bool:
        """Looks without collecting the process: as long as it is not collected, its number cannot become another's."""
        if not hasattr(os, "waitid") or self._process.returncode is not None:
            return self._process.poll() is not None
        return os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def _signal(self, number: signal.Signals) -> None:
        if self._process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)
        for process in self._listed() or ():
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process, number)

    def _listed(self) -> list[int] | None:
        """The processes of the command that run, as the system lists them; None where it has no such list."""
        try:
            numbers = [int(name) for name in os.listdir("/proc") if name.isdigit()]
        except OSError:
            return None
        return [number for number in numbers if self._is_ours(number)] if numbers else None

    def _is_ours(self, number: int) -> bool:
        try:
            with open(f"/proc/{number}/stat", "rb") as file:
                state, _, group = file.read().rpartition(b")")[2].split()[:3]
            if state in (b"Z", b"X"):  # it has ended, and only waits to be collected
                return False
            if int(group) == self._process.pid:
                return True
            with open(f"/proc/{number}/environ", "rb") as file:
                return self._mark in file.read().split(b"\0")
        except (OSError, ValueError):
            return False
