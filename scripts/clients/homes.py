"""Running a client: an empty home, a project with an image, its settings and variables, and a limit of time."""

import base64
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from clients.rows import NODE, Ask, Client

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "segue-clients"
SECONDS = 180
IMAGE = "dot.png"
_DOT = "iVBORw0KGgoAAAANSUhEUgAAACAAAAAgAQAAAABbAUdZAAAAD0lEQVR42mPgBwKGwUsAAFi+B4Gm3mNoAAAAAElFTkSuQmCC"


class Ended(NamedTuple):
    """How a process ended; ``status`` is ``None`` if it was stopped."""

    status: int | None
    output: str
    errors: str


def install(packages: list[str]) -> None:
    """Install the clients that are missing."""
    mark = CACHE / "installed.txt"
    wanted = "\n".join([NODE, *packages])
    if not mark.exists() or mark.read_text() != wanted:
        CACHE.mkdir(parents=True, exist_ok=True)
        command = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(CACHE), NODE, *packages]
        subprocess.run(command, check=True)
        mark.write_text(wanted)


class Home:
    """A home directory with one client in it, which is set to use the server at ``url``."""

    def __init__(self, client: Client, url: str, folder: Path | None = None) -> None:
        self.client, self.url = client, url
        self.folder = folder or Path(tempfile.mkdtemp(prefix="segue-client-"))
        self.work = self.folder / "work"
        self.work.mkdir(parents=True, exist_ok=True)
        (self.work / IMAGE).write_bytes(base64.b64decode(_DOT))
        client.prepare(self.folder, url)

    def turn(self, ask: Ask, until: Callable[[], bool] = lambda: False) -> Ended:
        """Run one turn of the client."""
        return self.run(self.client.command(ask), until)

    def run(self, command: list[str], until: Callable[[], bool] = lambda: False) -> Ended:
        """Run a command with all its children, until it ends, or is killed because ``until`` holds or time is over."""
        variables = {
            "PATH": f"{CACHE / 'node_modules' / '.bin'}:{os.environ['PATH']}",
            "HOME": str(self.folder),
            "TERM": "dumb",
            **({"PYTHONPATH": os.environ["PYTHONPATH"]} if "PYTHONPATH" in os.environ else {}),
            **self.client.variables(self.url),
        }
        with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
            process = subprocess.Popen(
                command, cwd=self.work, env=variables, stdin=subprocess.DEVNULL, stdout=output, stderr=errors,
                start_new_session=True,
            )  # fmt: skip
            status = _wait(process, until)
            output.seek(0)
            errors.seek(0)
            return Ended(status, output.read(), errors.read())


def _wait(process: "subprocess.Popen[bytes]", until: Callable[[], bool]) -> int | None:
    limit = time.monotonic() + SECONDS
    while process.poll() is None:
        if until() or time.monotonic() > limit:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return None
        time.sleep(0.05)
    return process.returncode
