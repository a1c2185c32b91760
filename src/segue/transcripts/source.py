"""A file, directory or database that is read, and a first look at it, by which formats recognise it.

Nothing here depends on the name of a file. Large files are read line by line.
"""

import json
import os
import sqlite3
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from ..errors import FormatError, SettingError
from ..types.codec import BYTE_ORDER_MARK, UNREADABLE, read_json

Object = dict[str, Any]
Progress = Callable[[int, int], None]
"""Called with the number of bytes that were read, and the size of the file."""

HEAD_ROWS = 12
HEAD_BYTES = 1 << 25  # the first line may hold a large image
_STEP = 1 << 22
_ZSTD = b"\x28\xb5\x2f\xfd"  # RFC 8878, section 3.1.1
_SQLITE = b"SQLite format 3\0"  # https://www.sqlite.org/fileformat.html, section 1.3
_ZIP = b"PK\x03\x04"
_DAMAGED = (zipfile.BadZipFile, zlib.error, OSError, NotImplementedError, RuntimeError, EOFError, KeyError, ValueError)
"""What reading a damaged zip file raises."""


class Source:
    """What is read. The properties are read when they are first used, and are empty where they do not apply."""

    def __init__(self, path: str | os.PathLike[str], progress: Progress | None = None) -> None:
        self.path = Path(path)
        self.is_directory = self.path.is_dir()
        self._progress = progress
        if self.path.exists() and not self.is_directory and not self.path.is_file():
            raise FormatError("this is neither a file nor a directory; save it as a file first", source=str(self.path))

    def __str__(self) -> str:
        return str(self.path)

    @cached_property
    def magic(self) -> bytes:
        """The first bytes of a file, as they are stored."""
        if self.is_directory:
            return b""
        with open(self.path, "rb") as file:
            return file.read(16)

    @cached_property
    def _first(self) -> tuple[list[bytes], bool]:
        """The first lines of a file of text, and whether these are all."""
        if self.is_directory or self.magic.startswith((_SQLITE, _ZIP)):
            return [], True
        lines: list[bytes] = []
        size = 0
        with self.open() as file:
            while size < HEAD_BYTES and len(lines) < HEAD_ROWS:
                line = file.readline(HEAD_BYTES - size)
                if not line:
                    return lines, True
                size += len(line)
                if line.strip():
                    lines.append(line)
            return lines, not file.read(1)

    @cached_property
    def _values(self) -> list[Any]:
        """The values of the first lines; ``None`` for each that is not JSON on its own."""
        return [read_line(line) for line in self._first[0]]

    @cached_property
    def rows(self) -> list[Object]:
        """The first rows of a file that has one JSON object on each line. Lines that cannot be read are skipped."""
        if len(self._values) > 1 and self.document is not None:
            return []
        return [row for line in self._first[0] for row in read_rows(line)]

    @cached_property
    def text(self) -> str:
        """The first lines of a file of text."""
        return b"".join(self._first[0]).decode("utf-8", "replace")

    @cached_property
    def document(self) -> Any:
        """The JSON document that the whole file is; ``None`` if it is not one."""
        lines, whole = self._first
        if not lines or lines[0].lstrip(BYTE_ORDER_MARK + b" \t\r\n")[:1] not in (b"{", b"["):
            return None
        has_rows = any(isinstance(each, dict) for each in self._values)
        if isinstance(self._values[0], dict) and (len(lines) > 1 or not whole):
            return None
        if has_rows and self._values[0] is None and not lines[0].rstrip().endswith((b"{", b"[", b",")):
            return None  # lines, of which the first is damaged
        with self.open() as file:
            return read_line(file.read())

    @cached_property
    def tables(self) -> frozenset[str]:
        """The names of the tables of an SQLite database."""
        if not self.magic.startswith(_SQLITE):
            return frozenset()
        with self.database() as connection:
            return frozenset(
                name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")
            )

    def columns(self, table: str) -> frozenset[str]:
        """The names of the columns of a table."""
        with self.database() as connection:
            return frozenset(row[1] for row in connection.execute(f"PRAGMA table_info({table})"))

    def records(self, statement: str, *values: Any) -> list[Object]:
        """The rows that a statement returns."""
        with self.database() as connection:
            return [dict(row) for row in connection.execute(statement, values)]

    @cached_property
    def members(self) -> frozenset[str]:
        """The names in a directory or a zip file."""
        if self.is_directory:
            return frozenset(os.listdir(self.path))
        if not self.magic.startswith(_ZIP):
            return frozenset()
        try:
            with zipfile.ZipFile(self.path) as archive:
                return frozenset(archive.namelist())
        except _DAMAGED as error:
            raise FormatError(f"this zip file cannot be read: {error}", source=str(self)) from None

    def member(self, name: str) -> Any:
        """The JSON document of that name in a zip file; ``None`` if it cannot be read."""
        try:
            with zipfile.ZipFile(self.path) as archive:
                return read_line(archive.read(name))
        except _DAMAGED as error:
            raise FormatError(f"this zip file cannot be read: {error}", source=str(self)) from None

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Open a file for reading; one that is compressed with zstd is decompressed."""
        with open(self.path, "rb") as file:
            if self.magic.startswith(_ZSTD):
                with decompressed(file) as plain:
                    yield plain
            else:
                yield file

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """All lines that are not blank, with their numbers (from 1). The last one may be incomplete."""
        with self.open() as file:
            total, done, reported = os.path.getsize(self.path), 0, 0
            for number, line in enumerate(file, 1):
                done += len(line)
                if self._progress is not None and done - reported >= _STEP:
                    self._progress(done, max(total, done))
                    reported = done
                if not line.isspace():
                    yield number, line
            if self._progress is not None:
                self._progress(done, done)

    @contextmanager
    def database(self) -> Iterator[sqlite3.Connection]:
        """Open an SQLite database read-only, with what is still in its write-ahead log."""
        uri = f"{self.path.resolve().as_uri()}?mode=ro"
        try:
            with closing(sqlite3.connect(uri, uri=True)) as connection:
                connection.row_factory = sqlite3.Row
                yield connection
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise FormatError(f"this database cannot be read: {error}", source=str(self)) from None


@contextmanager
def decompressed(file: IO[bytes]) -> Iterator[IO[bytes]]:
    """Read a file that is compressed with zstd."""
    try:
        import zstandard
    except ImportError:
        raise SettingError("this file is compressed with zstd; pip install 'segue[transcripts]' to read it") from None
    import io

    try:
        with zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True) as reader:
            yield io.BufferedReader(reader)
    except zstandard.ZstdError as error:
        raise FormatError(f"this cannot be decompressed with zstd: {error}") from None


def read_line(line: bytes) -> Any:
    """The JSON value of a line or a document; ``None`` if it cannot be read."""
    try:
        return read_json(line.removeprefix(BYTE_ORDER_MARK))
    except UNREADABLE:
        return None


def read_rows(line: bytes) -> list[Object]:
    """The JSON objects on a line: usually one; several if a writer was stopped before the end of a line."""
    value = read_line(line)
    if isinstance(value, dict):
        return [value]
    if value is not None or b"}{" not in line:
        return []
    rows: list[Object] = []
    decoder, text, at = json.JSONDecoder(), line.decode("utf-8", "replace").strip(), 0
    while at < len(text):
        try:
            row, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return []
        if not isinstance(row, dict):
            return []
        rows.append(row)
    return rows


def read_cell(value: Any) -> Any:
    """The JSON value in a cell of a table; ``None`` if it cannot be read."""
    if isinstance(value, str):
        return read_line(value.encode("utf-8", "replace"))
    return read_line(value) if isinstance(value, bytes) else None


def any_row(rows: Iterable[Object], *names: str) -> bool:
    """Whether one of the rows has all of these fields."""
    return any(all(name in row for name in names) for row in rows)
