"""Functions for worker processes, which must find them by their module."""

import os
import time
from pathlib import Path


def die() -> None:
    """Take the process along."""
    os.kill(os.getpid(), 9)


def nap(wait: float) -> str:
    """Sleep in a process."""
    time.sleep(wait)
    return f"slept {wait}"


def hang(note: str) -> None:
    """Write down which process this is, and hang."""
    Path(note).write_text(str(os.getpid()))
    time.sleep(3600)
