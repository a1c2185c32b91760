"""What a command prints, in bounded memory: the beginning and the end are at hand, the whole is in a file."""

import tempfile
from collections.abc import Iterator
from types import TracebackType
from typing import IO

from .limits import ToolLimits
from .output_files import keep

_MOST_KEPT = 256_000_000
_NOTES = 600  # characters of a result that are left to notes
_PART = 1 << 20


class CommandOutput:
    """Takes bytes and gives a text within the limits. What does not fit is in a file that goes when it is closed."""

    def __init__(self, limits: ToolLimits) -> None:
        self._limits = limits
        self._half = max(limits.output - _NOTES, 0) // 2
        self._head = bytearray()
        self._tail = bytearray()
        self._whole: IO[bytes] | None = None
        self._size = self._stored = 0
        self._fault: OSError | None = None

    def __enter__(self) -> "CommandOutput":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._whole is not None:
            self._whole.close()

    def write(self, data: bytes) -> None:
        self._size += len(data)
        if self._whole is None:
            self._head += data
            if self._size > 2 * self._half:
                self._spill()
            return
        self._store(data)
        self._tail += data
        if len(self._tail) > self._half + _PART:
            self._trim()

    def text(self) -> str:
        """What was printed; if that is too long, with a note in the middle that says where the whole is kept."""
        if self._whole is None:
            return self._head.decode("utf-8", "replace")
        self._trim()
        missing = self._size - len(self._head) - len(self._tail)
        note = f"[… {missing:,} of {self._size:,} bytes are left out here; {self._kept()} …]"
        # A character may be cut in two where the text is.
        head = self._head.decode("utf-8", "replace").rstrip("\ufffd")
        tail = self._tail.decode("utf-8", "replace").lstrip("\ufffd")
        return f"{head}\n\n{note}\n\n{tail}"

    def _spill(self) -> None:
        self._whole = tempfile.TemporaryFile()  # noqa: SIM115, closed when this is
        self._store(self._head)
        self._tail += self._head[self._half :]
        del self._head[self._half :]

    def _store(self, data: bytes | bytearray) -> None:
        """Put into the file what it may still hold. A disk that is full is told, and ends no command."""
        assert self._whole is not None
        if self._fault is None and self._stored < _MOST_KEPT:
            try:
                self._stored += self._whole.write(data[: _MOST_KEPT - self._stored])
            except OSError as error:
                self._fault = error

    def _trim(self) -> None:
        del self._tail[: len(self._tail) - self._half]

    def _kept(self) -> str:
        what = "the whole" if self._size <= _MOST_KEPT else f"the beginning ({_MOST_KEPT:,} bytes)"
        try:
            if self._fault is not None:
                raise self._fault
            return f"{what} is kept in {keep(self._parts(), '.txt', self._limits)}"
        except OSError as error:
            return f"not kept: {error.strerror or error}"

    def _parts(self) -> Iterator[bytes]:
        assert self._whole is not None
        self._whole.seek(0)
        while part := self._whole.read(_PART):
            yield part
