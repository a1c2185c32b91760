"""Tools for worker processes that die, hang, return too much, or leave processes behind. A worker imports them."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from segue.tools import running_call, tool


@dataclass
class Point:
    x: int
    y: int = 0


def plain(text: str) -> str:
    """Return the text."""
    return text


def add(point: Point) -> dict[str, int]:
    return {"sum": point.x + point.y}


@tool(process=True)
def own_process() -> int:
    print("this is not part of the result")
    sys.stdin.read()
    return os.getpid()


@tool(process=True)
def die(how: str) -> None:
    if how == "exit":
        os._exit(3)
    if how == "raise":
        raise SystemExit(4)
    os.kill(os.getpid(), signal.Signals[how])


@tool(process=True)
def hang(mark: str) -> None:
    Path(mark).write_text(str(os.getpid()))
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        time.sleep(1)


@tool(process=True)
def flood(megabytes: int) -> str:
    return "x" * (megabytes * 1_000_000)


@tool(process=True)
def leave_behind() -> int:
    """Start a process and do not wait for it."""
    return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"]).pid


@tool(process=True)
def knows_its_call() -> bool:
    return running_call() is not None
