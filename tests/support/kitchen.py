"""For tests of `segue chat` and `segue run`: a stand-in on loopback, an environment without keys, and a terminal."""

import os
import re
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pexpect

from segue.catalog import Catalog
from segue.session import AnyEntry, open_store
from segue.testing import Reply, StandIn
from segue.types import ToolCall

from .waiting import HANGS

MODEL = "local/cook"
OTHER = "local/baker"
CLOSED = "http://127.0.0.1:9"
"""An address where no server listens."""
WAIT = HANGS
"""Seconds after which a test fails. Nothing should take that long."""

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[=>78]|\x1b\][^\x07]*\x07|\r")


def environment(folder: Path, url: str = CLOSED, **more: str) -> dict[str, str]:
    """An environment without keys, with an empty home and two models at ``url``. No other local server is used."""
    keys = {name for provider in Catalog.load().providers.values() for name in provider.keys}
    kept = {name: value for name, value in os.environ.items() if name not in keys and not name.startswith("SEGUE_")}
    elsewhere = "".join(f'[providers.{name}]\nbase_url = "{CLOSED}"\n' for name in ("ollama", "llamacpp", "vllm"))
    models = "".join(f'[models."{ref}"]\ncontext_window = 100000\n' for ref in (MODEL, OTHER))
    catalog = folder / "catalog.toml"
    catalog.write_text(f'[providers.local]\nbase_url = "{url}"\n{elsewhere}{models}')
    home = folder / "home"
    home.mkdir(exist_ok=True)
    own = {
        "HOME": str(home),
        "XDG_DATA_HOME": str(home / "data"),
        "SEGUE_CATALOG": str(catalog),
        "SEGUE_DEBUG": "1",
        "PROMPT_TOOLKIT_NO_CPR": "1",  # this terminal does not report the position of the cursor
        "TERM": "xterm-256color",
        "COLUMNS": "100",
    }
    return kept | own | more


def kitchen(*script: Any, port: int = 0) -> StandIn:
    """The stand-in that serves these two models."""
    return StandIn("local", protocol="openai-completions", key=None, script=script, port=port)


def calls(*named: tuple[str, dict[str, Any]]) -> Reply:
    """An answer that makes these calls."""
    return Reply([ToolCall(f"call_{at}", name, arguments) for at, (name, arguments) in enumerate(named, 1)])


def log_of(where: Path, session: str | None = None) -> list[AnyEntry]:
    """The entries of a stored session, by default of the last one."""
    with open_store(where, create=False) as store:
        return [stored.entry for stored in store.read(session or store.sessions()[0].id)]


class Terminal:
    """``segue chat`` in its own terminal."""

    def __init__(self, env: dict[str, str], *arguments: str, cwd: Path) -> None:
        command = ["-m", "segue", "chat", "--store", str(cwd / "sessions.db"), *arguments]
        self.child = pexpect.spawn(
            sys.executable, command, env=env, cwd=str(cwd), encoding="utf-8", timeout=WAIT, dimensions=(40, 100)
        )
        self.child.delaybeforesend = None

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *error: Any) -> None:
        self.end()

    def end(self) -> None:
        """Kill the chat if it is still running. pexpect's own `close` gives up after a moment on a busy machine."""
        if self.child.isalive():
            self.child.kill(signal.SIGKILL)
            self.child.wait()
        self.child.close()

    def sees(self, *texts: str) -> None:
        """Wait until these texts are printed, in this order. A space matches white space and escape codes."""
        for text in texts:
            gap = r"(?:\s|\x1b\[[0-9;?]*[ -/]*[@-~])+"
            self.child.expect(gap.join(map(re.escape, text.split())))

    def hears(self, text: str) -> None:
        """Wait for an answer, and for the end of its turn."""
        self.sees(text)
        self.child.expect(r"\d out")

    def types(self, *lines: str) -> None:
        for line in lines:
            self.child.send(f"{line}\r")

    def says(self, line: str) -> None:
        """Type a line, and wait until the chat has read it."""
        self.types(line)
        self.sees("› " + line)

    def presses(self, control: str) -> None:
        self.child.sendcontrol(control)

    def leaves(self) -> str:
        """Wait for the end, and return what was printed since the last match, without escape codes."""
        self.child.expect(pexpect.EOF)
        self.child.close()
        assert self.child.exitstatus == 0, (self.child.exitstatus, self.child.signalstatus)
        return _ESCAPES.sub("", str(self.child.before))


def texts_of(entries: Sequence[AnyEntry]) -> list[str]:
    """The types of the entries, in order."""
    return [type(entry).__name__ for entry in entries]
