"""What every command does with the files it is given."""

import sys
from collections.abc import Iterator
from contextlib import nullcontext

from ..errors import FormatError
from ..types import Context, read_conversations
from .terminal import tell


def read_bytes(path: str) -> bytes:
    """All of a file; `-` is standard input."""
    if path == "-":
        return sys.stdin.buffer.read()
    with open(path, "rb") as file:
        return file.read()


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
        tell(text)
