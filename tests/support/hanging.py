"""Functions for worker processes, which import them by module."""

import os
import time
from pathlib import Path


def die() -> None:
    """Kill the process."""
    os.kill(os.getpid(), 9)


def nap(wait: float) -> str:
    """Sleep in a process."""
    time.sleep(wait)
    return f"slept {wait}"


def hang(note: str) -> None:
    """Write the id of this process to a file, and hang."""
    Path(note).write_text(str(os.getpid()))
    time.sleep(3600)
