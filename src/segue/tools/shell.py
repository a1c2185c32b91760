"""A tool that runs commands. It asks before it does, and nothing that a command starts outlives the call."""

import asyncio
import os
import shutil
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from msgspec import Struct

from ..errors import SettingError
from ..types import TextContent, ToolResultMessage
from .command_output import CommandOutput
from .environment import without_secrets
from .limits import ToolLimits
from .posix import check_posix
from .processes import Command
from .running_call import running_call
from .tool import Tool, tool

_PLAIN = {"TERM": "dumb", "NO_COLOR": "1", "PAGER": "cat", "GIT_TERMINAL_PROMPT": "0"}
"""Nobody sits at a terminal: no colours, no pages to turn, no questions."""
_PART = 1 << 16
_ROUNDS = 32  # more than a pipe holds


def shell_tool(
    root: str | os.PathLike[str],
    *,
    approval: bool = True,
    timeout: float = 120,
    longest: float = 600,
    env: Mapping[str, str] | None = None,
) -> Tool:
    """The tool ``shell``, which runs commands in ``root``: that is where they start, not where they must stay.

    ``approval=False`` runs them unasked. ``timeout``: seconds for a command whose call names none; ``longest``: the
    most that a call may name. ``env``: the environment; without it that of this process, less its secrets.
    """
    check_posix("commands (the tool shell)", hasattr(os, "killpg"))
    folder = os.path.realpath(root)
    if not os.path.isdir(folder):
        raise SettingError(f"the root of the tools is no directory: {folder}")
    if not 0 < timeout <= longest:
        raise SettingError(f"the timeout of the shell is above 0 and at most {longest:g} seconds, not {timeout:g}")
    made = Shell(folder, timeout, longest, None if env is None else dict(env))
    # It ends a command by itself, and tells what was printed until then; the scheduler need not.
    return tool(made.shell, approval=approval, alone=True, timeout=longest + 30)


class Shell(Struct, frozen=True):
    """The function behind the tool."""

    folder: str
    usual: float
    longest: float
    environment: dict[str, str] | None

    async def shell(self, command: str, timeout: float | None = None) -> ToolResultMessage:
        """Run a shell command in the root folder and read what it prints.

        There is no terminal and nobody to type. What is left running in the background is ended with the command.

        Args:
            command: The command line.
            timeout: Seconds after which the command is ended, where the usual time does not fit.
        """
        seconds = self.usual if timeout is None else timeout
        if not 0 < seconds <= self.longest:
            raise ValueError(f"timeout must be above 0 and at most {self.longest:g} seconds")
        now = running_call()
        with CommandOutput(ToolLimits() if now is None else now.limits) as spool:
            notes, failed = await self._run(command, seconds, spool)
            printed = await asyncio.to_thread(spool.text)
        text = "\n".join(filter(None, [printed.rstrip("\n"), *(f"[{note}]" for note in notes)]))
        return ToolResultMessage("", "shell", [TextContent(text)], is_error=failed)

    async def _run(self, command: str, seconds: float, spool: CommandOutput) -> tuple[list[str], bool]:
        """Run a command to its end. What is to be told beside its output, and whether it failed."""
        words = [shutil.which("bash") or "/bin/sh", "-c", command]
        late = left = False
        async with _into(spool) as output:
            try:
                started = Command(words, self.folder, self._environment(), output)
            finally:
                os.close(output)
            try:
                async with asyncio.timeout(seconds):
                    await started.ended()
                left = await started.leaves_something()
            except TimeoutError:
                late = True
            finally:
                status = await started.end()
        if late:
            return [f"not done after {seconds:g} seconds: the command was ended"], True
        notes = ["what still ran in the background was ended"] if left else []
        return [*notes, *_told(status)], status != 0

    def _environment(self) -> dict[str, str]:
        return {**without_secrets(), **_PLAIN} if self.environment is None else {**_PLAIN, **self.environment}


@asynccontextmanager
async def _into(spool: CommandOutput) -> AsyncIterator[int]:
    """A pipe that leads into ``spool``: the end to write to, which the caller closes."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    loop = asyncio.get_running_loop()

    def take() -> bool:
        try:
            data = os.read(reading, _PART)
        except BlockingIOError:
            return False
        if not data:
            loop.remove_reader(reading)
        spool.write(data)
        return bool(data)

    loop.add_reader(reading, take)
    try:
        yield writing
        for _ in range(_ROUNDS):  # all that could write has ended: what the pipe holds now is the rest
            if not take():
                break
    finally:
        loop.remove_reader(reading)
        os.close(reading)


def _told(status: int) -> list[str]:
    """An exit status in words; none for success."""
    if status < 0:
        names = {number.value: number.name for number in signal.Signals}
        return [f"ended by signal {names.get(-status, -status)}"]
    return [f"exit status {status}"] if status else []
