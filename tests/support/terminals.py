"""Hostile text, documents that contain it, and a pseudo-terminal that records what is printed."""

import fcntl
import os
import re
import struct
import sys
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from segue.cli import main, terminal
from segue.cli.printable import mask
from support.hostile import places, replaced
from support.waiting import HANGS

WORD = "EVIL"
EVIL = (
    f"{WORD}\x1b]0;owned\x07\x1b]8;;http://x\x1b\\\x1b[5;7;9m\x1b[2J\x1b[7;77H\x1bc\x1bP0q\x9b2J\x90q\x9c\x07\x08\x7f"
    "\u202e\u2066\u2069\u200e\u200f\u061c\u2028\u2029\x85\u200b\u200d\u2060\ufeff\u00ad\u3164\U000e0041\U000e0100\r"
    "\x0b\x0c[red]x[/red]"
)
"""Control characters and sequences (C0, C1), direction marks, invisible characters, a carriage return, markup."""

_OURS = re.compile(r"\x1b\[(?:0|[1-3]|3[1-6]|9[0-7])?(?:;(?:[1-3]|3[1-6]|9[0-7]))*m|\r(?=\n)")
"""The sequences that commands print: styles and colours. None of them is in ``EVIL``."""


def leaks(shown: str) -> list[str]:
    """The unsafe characters in an output, apart from the sequences that commands print."""
    left = _OURS.sub("", shown)
    safe = mask(left)
    return [
        f"{a!r} after {left[max(at - 20, 0) : at]!r}"
        for at, (a, b) in enumerate(zip(left, safe, strict=True))
        if a != b
    ]


def poisoned(document: Any, evil: str = EVIL) -> Iterator[tuple[str, Any]]:
    """Copies of the document, each with hostile text at another place: as a string, a key, a new key, or any value.

    Of places with the same shape, one is enough.
    """
    for _, path in places([document]):
        value = _at(document, path)
        where = ".".join(map(str, path)) or "."
        if isinstance(value, str):
            yield where, replaced(document, path, evil)
        elif isinstance(value, dict):
            yield f"{where} more", replaced(document, path, {**value, evil: evil})
            for key in value:
                renamed = {(evil if each == key else each): inner for each, inner in value.items()}
                yield f"{where} key {key}", replaced(document, path, renamed)
        else:
            yield f"{where} text", replaced(document, path, evil)


def _at(document: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        document = document[key]
    return document


@contextmanager
def pseudo_terminal() -> Iterator[list[str]]:
    """Make standard output and error a terminal. After the context, the list has what was written to it."""
    leader, follower = os.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
    read: list[bytes] = []
    shown: list[str] = []

    def drain() -> None:
        while True:
            try:
                data = os.read(leader, 65_536)
            except OSError:  # on Linux, the other end is closed
                return
            if not data:
                return
            read.append(data)

    reader = threading.Thread(target=drain)
    reader.start()
    before = sys.stdout, sys.stderr
    patience, terminal.PATIENCE = terminal.PATIENCE, HANGS  # what is shown while a command is slow has its own test
    sys.stdout = os.fdopen(follower, "w", encoding="utf-8")
    sys.stderr = os.fdopen(os.dup(follower), "w", encoding="utf-8", errors="backslashreplace")
    try:
        yield shown
    finally:
        ours = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = before
        terminal.PATIENCE = patience
        for file in ours:
            file.close()
        reader.join()
        os.close(leader)
        shown.append(b"".join(read).decode())


def on_terminal(*arguments: str) -> tuple[int, str]:
    """Run a command in a terminal, and return its exit status and output."""
    with pseudo_terminal() as shown:
        try:
            status = main(list(arguments))
        except SystemExit as left:
            status = int(left.code or 0)
    return status, shown[0]
