"""Reading and writing the files that commands get as arguments."""

import os
import sys
import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import BinaryIO

from ..errors import FormatError
from ..types import Context, read_conversations
from .terminal import print_note


def source_name(path: str) -> str:
    """The name of a file in messages; `-` is standard input."""
    return "standard input" if path == "-" else path


def open_input(path: str) -> AbstractContextManager[BinaryIO]:
    """Open a file for reading; `-` is standard input, which stays open."""
    return nullcontext(sys.stdin.buffer) if path == "-" else open(path, "rb")


def read_bytes(path: str) -> bytes:
    """Read a whole file; `-` is standard input."""
    with open_input(path) as file:
        return file.read()


@contextmanager
def private_file(path: str) -> Iterator[BinaryIO]:
    """Write a file that only its owner may read. It appears at ``path`` when everything is written, not before."""
    target = os.path.realpath(path)  # replaces the file that a link points to, not the link
    if os.path.exists(target) and not os.path.isfile(target):  # a pipe, or a terminal
        with open(target, "wb") as file:
            yield file
        return
    unfinished = os.path.join(os.path.dirname(target), f".{uuid.uuid4().hex}.tmp")
    try:
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from None  # the name that the user knows
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, target)
    except BaseException:
        os.unlink(unfinished)
        raise


class Conversations:
    """The conversations in a file (`-` is standard input).

    A line that cannot be read is reported on stderr and skipped. After that ``status`` is 2.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.name = source_name(path)
        self.status = 0

    def __iter__(self) -> Iterator[Context]:
        with open_input(self.path) as file:
            for item in read_conversations(file, self.name):
                if isinstance(item, FormatError):
                    self.report_error(str(item))
                else:
                    yield item

    def report_error(self, text: str) -> None:
        """Print an error and remember it in ``status``; the other conversations are still processed."""
        self.status = 2
        print_note(text)
