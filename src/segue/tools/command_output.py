"""The output of a command in bounded memory: the head and the tail in memory, the whole in a file."""

import tempfile
from collections.abc import Iterator
from types import TracebackType
from typing import IO

from .limits import ToolLimits
from .output_files import save

_MAX_FILE = 256_000_000
_NOTES = 600  # characters of a result that are reserved for notes
_CHUNK = 1 << 20


class CommandOutput:
    """Collects bytes and returns a text within the limits. A long output is also in a file, deleted on close."""

    def __init__(self, limits: ToolLimits) -> None:
        self._limits = limits
        self._half = max(limits.output - _NOTES, 0) // 2
        self._head = bytearray()
        self._tail = bytearray()
        self._whole: IO[bytes] | None = None
        self._size = self._file_size = 0
        self._file_error: OSError | None = None

    def __enter__(self) -> "CommandOutput":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._whole is not None:
            self._whole.close()

    def write(self, data: bytes) -> None:
        """Add output."""
        self._size += len(data)
        if self._whole is None:
            self._head += data
            if self._size > 2 * self._half:
                self._spill()
            return
        self._store(data)
        self._tail += data
        if len(self._tail) > self._half + _CHUNK:
            self._trim()

    def text(self) -> str:
        """The output. If it is too long, a note in the middle names the file with the whole, which is saved now."""
        if self._whole is None:
            return self._head.decode("utf-8", "replace")
        self._trim()
        missing = self._size - len(self._head) - len(self._tail)
        note = f"[… {missing:,} of {self._size:,} bytes are left out here; {self._save()} …]"
        # The cut may have split a character.
        head = self._head.decode("utf-8", "replace").rstrip("\ufffd")
        tail = self._tail.decode("utf-8", "replace").lstrip("\ufffd")
        return f"{head}\n\n{note}\n\n{tail}"

    def _spill(self) -> None:
        self._whole = tempfile.TemporaryFile()  # noqa: SIM115, closed in __exit__
        self._store(self._head)
        self._tail += self._head[self._half :]
        del self._head[self._half :]

    def _store(self, data: bytes | bytearray) -> None:
        """Append to the file, up to its limit. A full disk is reported in the note, and does not end the command."""
        assert self._whole is not None
        if self._file_error is None and self._file_size < _MAX_FILE:
            try:
                self._file_size += self._whole.write(data[: _MAX_FILE - self._file_size])
            except OSError as error:
                self._file_error = error

    def _trim(self) -> None:
        del self._tail[: len(self._tail) - self._half]

    def _save(self) -> str:
        what = "the whole" if self._size <= _MAX_FILE else f"the beginning ({_MAX_FILE:,} bytes)"
        try:
            if self._file_error is not None:
                raise self._file_error
            return f"{what} is kept in {save(self._chunks(), '.txt', self._limits)}"
        except OSError as error:
            return f"not kept: {error.strerror or error}"

    def _chunks(self) -> Iterator[bytes]:
        assert self._whole is not None
        self._whole.seek(0)
        while chunk := self._whole.read(_CHUNK):
            yield chunk
