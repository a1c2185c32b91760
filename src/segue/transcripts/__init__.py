"""Conversations as other tools store them, one file per format, in both directions.

A format is a record in its own module (``FORMAT``); ``registry.py`` lists the modules. Values of this room know no
session: the command line turns them into entries of one.
"""

import os
from collections.abc import Sequence

from .format import Draft, Format, Target
from .reading import shown_time as shown_time
from .registry import format_named, format_of, formats, places, recognised, refuse_side_file
from .sharegpt import is_turns as is_turns, read_turns as read_turns
from .source import Progress, Source
from .values import REMARK_CODES, Branch, Compaction, Remark, RemarkCode, Report, Transcript, TranscriptInfo
from .writing import ToolNames, Written, write

__all__ = [
    "REMARK_CODES",
    "Branch",
    "Compaction",
    "Draft",
    "Format",
    "Progress",
    "Remark",
    "RemarkCode",
    "Report",
    "Source",
    "Target",
    "ToolNames",
    "Transcript",
    "TranscriptInfo",
    "Written",
    "format_named",
    "formats",
    "list",
    "places",
    "read",
    "recognised",
    "refuse_side_file",
    "write",
]


def read(
    path: str | os.PathLike[str],
    id: str | None = None,  # noqa: A002 # the word of every tool
    *,
    progress: Progress | None = None,
) -> Transcript:
    """Read a conversation that another tool stored; the format is recognised by content.

    Of several conversations in one place, ``id`` names one; without it, the newest is read, or the first if times are
    not known. ``changes`` of the result lists what was left out. A ``FormatError`` if the form is not known.
    """
    source = Source(path, progress)
    return format_of(source).read(source, id)


def list(path: str | os.PathLike[str]) -> Sequence[TranscriptInfo]:  # noqa: A001 # users write `transcripts.list`
    """The conversations in a file, directory or database."""
    source = Source(path)
    return format_of(source).list(source)
