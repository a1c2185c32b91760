"""Reading and writing the files that commands get as arguments."""

import os
import sys
import uuid
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import BinaryIO

from ..errors import FormatError, SegueError, SettingError
from ..session import open_store
from ..types import Context, Model
from .formats import Found, Source, read_file
from .found_transcripts import name_of, print_left_out, print_others, read_transcript, transcript_format
from .session_names import named_session
from .terminal import busy, print_note

FILE_HELP = "a conversation in any format that segue knows, or several as JSONL; - for standard input"


def source_name(path: str) -> str:
    """The name of a file in messages; `-` is standard input."""
    return "standard input" if path == "-" else path


def open_input(path: str) -> AbstractContextManager[BinaryIO]:
    """Open a file for reading; `-` is standard input, which stays open."""
    if path == "-":
        return nullcontext(sys.stdin.buffer)
    try:
        return open(path, "rb")
    except FileNotFoundError as error:
        if is_session(path):
            raise SettingError(f"{path} is a stored session, not a file; segue sessions show {path} shows it") from None
        raise error


def is_session(name: str) -> bool:
    """Whether the default store has a session of that name."""
    try:
        with open_store(None, create=False) as store:
            return bool(named_session(store, name))
    except (SegueError, OSError):
        return False


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
    """The conversations in a file (`-` is standard input), in any format that segue knows.

    Each form that is recognised is printed on stderr, once. A part that cannot be read is reported there and skipped.
    After that ``status`` is 2.
    """

    def __init__(self, path: str, protocol: str | None = None, model: Model | None = None) -> None:
        self.path = path
        self.source = Source(source_name(path), protocol, model)
        self.status = 0
        self._announced: set[str] = set()

    @property
    def name(self) -> str:
        return self.source.name

    def __iter__(self) -> Iterator[Context]:
        return (found.context for found in self.found())

    def found(self) -> Iterator[Found]:
        """The conversations, with the documents that they were found in."""
        if self.is_transcript:
            yield self.transcript()
            return
        with open_input(self.path) as file:
            yield from self.read(file)

    @property
    def is_transcript(self) -> bool:
        """Whether another tool wrote the file."""
        return self.source.protocol is None and transcript_format(self.path) is not None

    def transcript(self) -> Found:
        """The conversation in a file that another tool wrote."""
        transcript = read_transcript(self.path)
        self.announce(name_of(transcript))
        print_left_out(transcript, self.name)
        print_others(self.path, transcript)
        return Found(transcript.context, name_of(transcript))

    def read(self, lines: Iterable[bytes]) -> Iterator[Found]:
        """The conversations in these lines of the file."""
        items = read_file(lines, self.source)
        while True:
            with busy(f"reading {self.name}"):
                item = next(items, None)
            if item is None:
                return
            if isinstance(item, FormatError):
                self.report_error(str(item))
            else:
                self.announce(item.form)
                yield item

    def announce(self, form: str) -> None:
        """Print which form was recognised."""
        if form not in self._announced:
            self._announced.add(form)
            print_note(f"{self.name}: {form}")

    def report_error(self, text: str) -> None:
        """Print an error and remember it in ``status``; the other conversations are still processed."""
        self.status = 2
        print_note(text)
