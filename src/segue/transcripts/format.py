"""What a format is: one record, with functions that recognise, read, list and write it."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from msgspec import Struct

from ..types import Context
from .source import Source
from .values import Remark, Transcript, TranscriptInfo


class Target(Struct, frozen=True, kw_only=True):
    """What a new transcript is made for. Ids and times are given: writing has no clock and no randomness."""

    id: str
    now: int
    """Unix milliseconds."""
    cwd: str
    title: str | None = None
    provider: str = ""
    model: str = ""


class Draft(Struct, frozen=True):
    """A file to be written: its path below the directory of the tool, its bytes, the command that resumes it, and what
    the form has no place for."""

    name: str
    data: bytes
    resume: str = ""
    changes: tuple[Remark, ...] = ()


class Format(Struct, frozen=True, kw_only=True):
    """One format.

    ``recognise`` decides by content, never by name. ``read`` accepts the id of a conversation, for files that have
    several; with ``None`` it reads the newest, or the first if times are not known. ``list`` names all conversations,
    and reads only as much of the file as that needs.
    """

    name: str
    title: str
    recognise: Callable[[Source], bool]
    read: Callable[[Source, str | None], Transcript]
    list: Callable[[Source], Sequence[TranscriptInfo]]
    write: Callable[[Context, Target], Draft] | None = None
    find: Callable[[], Iterable[Path]] | None = None
    """The files of the tool on this machine."""
    home: Callable[[], Path] | None = None
    """The directory below which the tool looks for the files that ``write`` makes."""
    speaks: str | None = None
    """The model for whose provider a written conversation must be valid; ``None``: it is written as it is."""
    resumes: bool = False
    """Whether the tool continues what ``write`` makes: it is made valid for its provider first."""
    in_rows: bool = False
    """Whether each row of a file is a conversation of its own."""
    is_plain: Callable[[Source], bool] = lambda source: False
    """Whether a file of this format is a list of messages, or has request bodies as lines: it needs no own reader."""
    error_flags: bool = True
    """Whether a result has a flag that says that it is an error."""
    sorted_ids: bool = True
    """Whether ids of sessions may be UUIDs that sort by time (version 7)."""
    verified: bool = False
    """Whether it was tried on a real file."""
    source: str = ""
    """Where its facts come from: the version of the tool that was run, or the source that was read."""
