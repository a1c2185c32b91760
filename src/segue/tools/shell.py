"""A tool that runs shell commands. It asks for approval, and no process of a command outlives the call."""

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
from .posix import check_posix
from .processes import Command
from .running_call import current_limits
from .tool import Tool, tool

_PLAIN = {"TERM": "dumb", "NO_COLOR": "1", "PAGER": "cat", "GIT_TERMINAL_PROMPT": "0"}
"""There is no terminal: no colours, no pager, no prompts."""
_CHUNK = 1 << 16
_MAX_CHUNKS = 32  # more than a pipe holds


def shell_tool(
    root: str | os.PathLike[str],
    *,
    approval: bool = True,
    timeout: float = 120,
    longest: float = 600,
    env: Mapping[str, str] | None = None,
) -> Tool:
    """Return the tool ``shell``, which runs commands in ``root``. Commands start there, but they can leave it.

    ``approval=False`` runs them without asking. ``timeout``: seconds for a command whose call does not set a timeout;
    ``longest``: the longest timeout that a call may set. ``env``: the environment; by default that of this process
    without its secrets.
    """
    check_posix("commands (the tool shell)", hasattr(os, "killpg"))
    folder = os.path.realpath(root)
    if not os.path.isdir(folder):
        raise SettingError(f"the root of the tools is not a directory: {folder}")
    if not 0 < timeout <= longest:
        raise SettingError(f"the timeout of the shell must be above 0 and at most {longest:g} seconds, not {timeout:g}")
    shell = Shell(folder, timeout, longest, None if env is None else dict(env))
    # The tool stops a late command itself, so that the output until then is not lost; the scheduler waits longer.
    return tool(shell.shell, approval=approval, alone=True, timeout=longest + 30)


class Shell(Struct, frozen=True):
    """The function of the tool. Its docstring is the description that models get."""

    folder: str
    default_timeout: float
    longest: float
    environment: dict[str, str] | None

    async def shell(self, command: str, timeout: float | None = None) -> ToolResultMessage:
        """Run a shell command in the root folder and read what it prints.

        There is no terminal and nobody to type. What is left running in the background is ended with the command.

        Args:
            command: The command line.
            timeout: Seconds after which the command is ended, where the usual time does not fit.
        """
        seconds = self.default_timeout if timeout is None else timeout
        if not 0 < seconds <= self.longest:
            raise ValueError(f"timeout must be above 0 and at most {self.longest:g} seconds")
        with CommandOutput(current_limits()) as output:
            notes, failed = await self._run(command, seconds, output)
            printed = await asyncio.to_thread(output.text)
        text = "\n".join(filter(None, [printed.rstrip("\n"), *(f"[{note}]" for note in notes)]))
        return ToolResultMessage("", "shell", [TextContent(text)], is_error=failed)

    async def _run(self, command: str, seconds: float, output: CommandOutput) -> tuple[list[str], bool]:
        """Run a command to its end. Returns notes for the model, and whether the command failed."""
        arguments = [shutil.which("bash") or "/bin/sh", "-c", command]
        timed_out = left = False
        async with _pipe_to(output) as pipe:
            try:
                started = Command(arguments, self.folder, self._environment(), pipe)
            finally:
                os.close(pipe)
            try:
                async with asyncio.timeout(seconds):
                    await started.wait()
                left = await started.has_lasting_children()
            except TimeoutError:
                timed_out = True
            finally:
                status = await started.end()
        if timed_out:
            return [f"not done after {seconds:g} seconds: the command was ended"], True
        notes = ["what still ran in the background was ended"] if left else []
        return [*notes, *_status_note(status)], status != 0

    def _environment(self) -> dict[str, str]:
        return {**without_secrets(), **_PLAIN} if self.environment is None else {**_PLAIN, **self.environment}


@asynccontextmanager
async def _pipe_to(output: CommandOutput) -> AsyncIterator[int]:
    """A pipe whose content goes to ``output``. Yields the end for writing, which the caller closes."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    loop = asyncio.get_running_loop()

    def read_chunk() -> bool:
        try:
            data = os.read(reading, _CHUNK)
        except BlockingIOError:
            return False
        if not data:
            loop.remove_reader(reading)
        output.write(data)
        return bool(data)

    loop.add_reader(reading, read_chunk)
    try:
        yield writing
        for _ in range(_MAX_CHUNKS):  # every writer has ended: the pipe holds the rest of the output
            if not read_chunk():
                break
    finally:
        loop.remove_reader(reading)
        os.close(reading)


def _status_note(status: int) -> list[str]:
    """A note for an exit status; none for success."""
    if status < 0:
        names = {number.value: number.name for number in signal.Signals}
        return [f"ended by signal {names.get(-status, -status)}"]
    return [f"exit status {status}"] if status else []
