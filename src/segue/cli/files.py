"""What every command does with the files it is given."""

import os
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import BinaryIO

from ..errors import FormatError
from ..types import Context, read_conversations
from .terminal import print_note


def read_bytes(path: str) -> bytes:
    """All of a file; `-` is standard input."""
    if path == "-":
        return sys.stdin.buffer.read()
    with open(path, "rb") as file:
        return file.read()


@contextmanager
def private_file(path: str) -> Iterator[BinaryIO]:
    """A file to write to, which only its owner may read. It is at ``path`` when all is written, and not before."""
    there = os.path.realpath(path)  # what a link leads to is replaced, not the link
    if os.path.exists(there) and not os.path.isfile(there):  # a pipe, or a terminal
        with open(there, "wb") as file:
            yield file
        return
    unfinished = os.path.join(os.path.dirname(there), f".{uuid.uuid4().hex}.tmp")
    try:
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from None  # the name that the user knows
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, there)
    except BaseException:
        os.unlink(unfinished)
        raise


class Conversations:
    """The conversations of a file (`-` is standard input). A bad line is told on stderr and the others go on;
    afterwards ``status`` is 2 if anything was wrong."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.name = "standard input" if path == "-" else path
        self.status = 0

    def __iter__(self) -> Iterator[Context]:
        with nullcontext(sys.stdin.buffer) if self.path == "-" else open(self.path, "rb") as file:
            for item in read_conversations(file, self.name):
                if isinstance(item, FormatError):
                    self.complain(str(item))
                else:
                    yield item

    def complain(self, text: str) -> None:
        """Tell that something is wrong; the others go on."""
        self.status = 2
        print_note(text)
