"""On a system that is not POSIX, everything works except the tools for files and commands, which report why."""

import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from segue import SettingError, file_tools, shell_tool
from segue.cli import main

WITHOUT = """
import asyncio, importlib, os, pkgutil, sys, tempfile
# Modules that check the system themselves.
import http.server, multiprocessing, sqlite3, ssl, subprocess
import anyio, httpx2, mcp, msgspec, prompt_toolkit, psycopg, rich.console

POSIX_ONLY = '''
    fchmod fchown fork forkpty getegid geteuid getgid getgroups getpgid getpgrp getsid getuid initgroups
    killpg lchown mkfifo nice openpty register_at_fork setgid setpgid setsid setuid uname wait wait3 wait4 waitid
    O_CLOEXEC O_DIRECTORY O_NOCTTY O_NOFOLLOW O_NONBLOCK pidfd_open sched_getaffinity
'''.split()
for name in POSIX_ONLY:
    if hasattr(os, name):
        delattr(os, name)
os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks = set(), set(), set()
for name in ("fcntl", "grp", "pty", "pwd", "resource", "termios", "tty", "syslog"):
    sys.modules[name] = None

import segue

for name in segue.__all__:
    getattr(segue, name)
ROOMS = "types projection catalog wire render client session router compaction tools agent testing"
for room in ROOMS.split():
    package = importlib.import_module(f"segue.{room}")
    for found in pkgutil.walk_packages(package.__path__, f"segue.{room}."):
        importlib.import_module(found.name)

from segue.session import open_store
from segue.testing import Reply, StandIn


@segue.tool
def weather(city: str) -> str:
    '''The weather.'''
    return "mild, " * 20_000


async def talk(folder):
    with StandIn("anthropic", script=[Reply([segue.ToolCall("", "weather", {"city": "Paris"})]), "Mild."]) as server:
        here = segue.Connection(base_url=server.url, api_key=server.key)
        with open_store(os.path.join(folder, "sessions.db")) as store:
            settings = segue.Settings(tool_limits=segue.ToolLimits(directory=folder))
            model = "anthropic/claude-sonnet-5"
            async with segue.Agent(model, [weather], store=store, connection=here, settings=settings) as agent:
                assert (await agent.run("Weather?")).text == "Mild."


with tempfile.TemporaryDirectory() as folder:
    asyncio.run(talk(folder))
    for make in (segue.file_tools, segue.shell_tool):
        try:
            make(folder)
        except segue.SettingError as error:
            print(error)
"""


def test_everything_else_works_without_posix() -> None:
    """In a process without the POSIX functions: every module is imported, and an agent with a tool uses a store."""
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    output = done.stdout.splitlines()
    assert len(output) == 2 and all("need a POSIX system (Linux, macOS)" in line for line in output)


@pytest.mark.parametrize(
    ("make", "lacks"), [(file_tools, "dir_fd"), (file_tools, "name"), (shell_tool, "killpg"), (shell_tool, "name")]
)
def test_each_posix_tool_reports_what_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[str], object], lacks: str
) -> None:
    with monkeypatch.context() as patch:
        if lacks == "name":
            patch.setattr("os.name", "nt")
        elif lacks == "killpg":
            patch.delattr("os.killpg")
        else:
            patch.setattr("os.supports_dir_fd", set())
        with pytest.raises(
            SettingError, match=r"need a POSIX system \(Linux, macOS\); on this system, use your own tools"
        ):
            make(str(tmp_path))


def test_the_command_line_works_without_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from support.kitchen import MODEL, environment, kitchen

    with kitchen("Soup.") as server:
        for name, value in environment(tmp_path, server.url).items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr("os.supports_dir_fd", set())
        monkeypatch.delattr("os.killpg")
        where = ["--store", str(tmp_path / "sessions.db"), "--root", str(tmp_path)]
        assert main(["run", "What is there?", "--model", MODEL, *where]) == 0
    output = capsys.readouterr()
    assert "Soup." in output.out and output.err.count("need a POSIX system") == 2
    assert all("tools" not in body for body in server.requests)


def test_the_classifiers_do_not_claim_more() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    systems = [each for each in project["classifiers"] if each.startswith("Operating System")]
    assert systems and all("POSIX" in each for each in systems)
