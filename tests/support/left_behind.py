"""A test that starts a process in every way that tests use, writes their ids to a file and never ends. Only
``tests/test_leftovers.py`` runs it, and kills it."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

from segue.tools import McpServer
from support.kitchen import Terminal, environment
from support.postgres import Postgres
from support.victim import victims

HANGS = "import time; time.sleep(3600)"
BELOW = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {HANGS!r}])"


@pytest.mark.parametrize("number", [1, 2])
def test_everything_that_can_be_started(number: int, postgres: Postgres, tmp_path: Path) -> None:
    import psutil
    import psycopg

    server = McpServer.stdio(sys.executable, str(Path(__file__).parents[1] / "tools" / "mcp_server.py"))
    with (
        psycopg.connect(postgres.uri) as connection,
        Terminal(environment(tmp_path), cwd=tmp_path) as terminal,
        victims(),
    ):
        subprocess.Popen([sys.executable, "-c", BELOW])
        subprocess.Popen([sys.executable, "-c", BELOW], start_new_session=True)
        typist = pexpect.spawn(sys.executable, ["-c", HANGS])
        terminal.sees("/help lists")
        [[folder]] = connection.execute("SHOW data_directory").fetchall()
        postmaster = int(Path(folder, "postmaster.pid").read_text().split()[0])

        async def and_a_server() -> None:
            async with server:
                started = [*psutil.Process().children(recursive=True), psutil.Process(postmaster)]
                assert typist.pid in [each.pid for each in started]
                started += psutil.Process(postmaster).children(recursive=True)
                lines = [f"{each.pid} {' '.join(each.cmdline())[:60]!r}" for each in started]
                note = Path(os.environ["NOTE"])
                note.with_suffix(f".{number}.new").write_text("\n".join(lines))
                note.with_suffix(f".{number}.new").rename(note.with_suffix(f".{number}"))
                await asyncio.Event().wait()

        asyncio.run(and_a_server())
