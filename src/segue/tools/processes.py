"""A command with all processes that it starts, which can be ended together. For POSIX systems."""

import asyncio
import os
import secrets
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

from ..types.text import whole_number
from .watchdog import Watchdog

_MARK = "SEGUE_COMMAND"
_POLL = 0.02
_CHILD_GRACE = 0.25
"""Seconds in which background processes may end by themselves after the command."""
_TERMINATE = 0.5
"""Seconds between SIGTERM and SIGKILL."""


class Command:
    """A running command. It leads its own process group, and is killed when this process ends.

    Its processes inherit a mark in the environment. So those that leave the group are found, too, where the system
    shows the environments of processes (Linux).
    """

    def __init__(self, arguments: Sequence[str], folder: str, environment: Mapping[str, str], output: int) -> None:
        mark = secrets.token_hex(16)
        self._mark = f"{_MARK}={mark}".encode()
        self._watchdog = Watchdog(f"{_MARK}={mark}")
        try:
            self._process = subprocess.Popen(
                arguments,
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

    async def wait(self) -> None:
        """Wait until the command itself has ended; processes that it started may still run."""
        while not self._has_ended():
            await asyncio.sleep(_POLL)

    async def has_lasting_children(self) -> bool:
        """Whether processes still run and do not end by themselves within a moment."""
        return await self._still_runs_after(_CHILD_GRACE)

    def is_running(self) -> bool:
        """Whether any process of the command still runs."""
        processes = self._processes()
        if processes is not None:
            return bool(processes)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, 0)
            return True
        return False

    async def end(self) -> int:
        """End all processes that are left: SIGTERM, then SIGKILL. Returns the exit status; negative for a signal."""
        try:
            if self.is_running():
                self._signal(signal.SIGTERM)
                await self._still_runs_after(_TERMINATE)
        finally:
            self._kill()
        return self._process.returncode if self._process.returncode is not None else -signal.SIGKILL

    async def _still_runs_after(self, seconds: float) -> bool:
        until = time.monotonic() + seconds
        while self.is_running():
            if time.monotonic() > until:
                return True
            await asyncio.sleep(_POLL)
        return False

    def _kill(self) -> None:
        """Kill all processes. It does not await anything, so that a cancellation cannot interrupt it."""
        for _ in range(50):  # a process that was being started in one round is found in the next
            self._signal(signal.SIGKILL)
            if not self.is_running():
                break
            time.sleep(0.001)
        self._watchdog.stop()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(1)

    def _has_ended(self) -> bool:
        """Whether the command has ended. It is not waited for yet, so that its process id cannot be reused."""
        if not hasattr(os, "waitid") or self._process.returncode is not None:
            return self._process.poll() is not None
        return os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def _signal(self, number: signal.Signals) -> None:
        if self._process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)
        for process in self._processes() or ():
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process, number)

    def _processes(self) -> list[int] | None:
        """The running processes of the command from ``/proc``; ``None`` where the system does not have it."""
        try:
            numbers = [number for name in os.listdir("/proc") if (number := whole_number(name)) is not None]
        except OSError:
            return None
        return [number for number in numbers if self._is_ours(number)] if numbers else None

    def _is_ours(self, number: int) -> bool:
        try:
            with open(f"/proc/{number}/stat", "rb") as file:
                state, _, group = file.read().rpartition(b")")[2].split()[:3]
            if state in (b"Z", b"X"):  # a zombie
                return False
            if int(group) == self._process.pid:
                return True
            with open(f"/proc/{number}/environ", "rb") as file:
                return self._mark in file.read().split(b"\0")
        except (OSError, ValueError):
            return False
