"""Parts of files of lines, small enough to be a task: as a place in a file, or as bytes that cannot be read twice."""

import os
from collections.abc import Iterator
from io import BytesIO
from typing import BinaryIO

from msgspec import Struct


class Part(Struct, frozen=True):
    """The lines of a file that begin at ``start`` or later, and before ``end``."""

    path: str
    start: int
    end: int

    def __iter__(self) -> Iterator[bytes]:
        with open(self.path, "rb") as file:
            at = self.start
            if at:  # a line that begins before belongs to the part before
                file.seek(at - 1)
                at += len(file.readline()) - 1
            while at < self.end and (line := file.readline()):
                at += len(line)
                yield line


class Block(Struct, frozen=True):
    """Lines of a stream."""

    data: bytes

    def __iter__(self) -> Iterator[bytes]:
        return iter(BytesIO(self.data))


def parts_of(path: str, size: int) -> Iterator[Part]:
    """Divide a file into parts of about ``size`` bytes."""
    length = os.path.getsize(path)
    for start in range(0, length, size):
        yield Part(path, start, min(start + size, length))


def blocks_of(head: list[bytes], stream: BinaryIO, size: int) -> Iterator[Block]:
    """Divide a stream, of which the first lines have been read, into blocks of about ``size`` bytes."""
    kept = b"".join(head)
    while data := stream.read(size):
        kept += data
        whole = kept.rfind(b"\n") + 1
        if whole:
            yield Block(kept[:whole])
            kept = kept[whole:]
    if kept:
        yield Block(kept)
