"""Reading lines from plain and compressed files, and writing files that appear only when they are complete."""

import gzip
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Literal, cast

from ..errors import SettingError
from .lines import Part

Compression = Literal["", "gzip", "zstd"]
UNFINISHED = ".tmp"
BUFFER = 1 << 18
"""Bytes that are written at a time."""
_MAGIC: dict[bytes, Compression] = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}  # RFC 1952; RFC 8878


def compression_of(magic: bytes) -> Compression:
    """How a file that begins with these bytes is compressed."""
    return next((name for start, name in _MAGIC.items() if magic.startswith(start)), "")


def open_lines(path: str, compression: Compression, start: int, end: int) -> Iterator[bytes]:
    """The lines of a part of a file; of a compressed file, all of them."""
    if not compression:
        yield from Part(path, start, end)
        return
    with open(path, "rb") as file:
        opened = gzip.GzipFile(fileobj=file) if compression == "gzip" else _zstd_reader(file)
        with cast("IO[bytes]", opened) as lines:
            yield from lines


def _zstd_reader(file: IO[bytes]) -> IO[bytes]:
    import io

    reader = _zstd().ZstdDecompressor().stream_reader(file, read_across_frames=True)
    return io.BufferedReader(reader)


def _zstd() -> Any:
    try:
        import zstandard
    except ImportError:
        raise SettingError("this file is compressed with zstd; pip install 'segue[bulk]' to read it") from None
    return zstandard


@contextmanager
def unfinished(path: Path) -> Iterator[Path]:
    """A temporary name for a file, which gets its own name when the context ends without an error."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.parent / f".{path.name}.{uuid.uuid4().hex}{UNFINISHED}"
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def new_file(path: Path, compression: Compression = "") -> Iterator[IO[bytes]]:
    """Write a file, compressed if it should be. It appears when everything is written."""
    with unfinished(path) as temporary, open(temporary, "wb", BUFFER) as raw:
        if compression == "gzip":
            with gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=6, mtime=0) as file:
                yield cast("IO[bytes]", file)
        elif compression == "zstd":
            with _zstd().ZstdCompressor().stream_writer(raw, closefd=False) as file:
                yield cast("IO[bytes]", file)
        else:
            yield raw


def remove_unfinished(folder: Path) -> None:
    """Remove what processes that were killed have left."""
    for file in folder.rglob(f".*{UNFINISHED}"):
        file.unlink(missing_ok=True)
