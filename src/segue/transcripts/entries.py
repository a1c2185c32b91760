"""Formats whose files hold one or several conversations, each of which is read on its own."""

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from ..errors import FormatError
from .building import Conversation
from .format import Format
from .reading import json_rows, text_of
from .source import Object, Source
from .values import Report, Transcript, TranscriptInfo


class Entry(Struct, frozen=True, kw_only=True):
    """One conversation of a file: what is known about it before it is read, and how to read it."""

    read: Callable[[], Conversation]
    id: str | None = None
    title: str | None = None
    cwd: str | None = None
    model: str | None = None
    version: str | None = None
    form: str = ""
    started: int | None = None
    updated: int | None = None
    messages: int | None = None

    def transcript(self) -> Transcript:
        """Read the conversation."""
        known = {
            name: value
            for name in ("id", "title", "cwd", "model", "version", "form", "started", "updated")
            if (value := getattr(self, name)) is not None
        }
        return self.read().transcript(**known)


Entries = Callable[[Source], Iterable[Entry]]


def entries_format(*, entries: Entries, name: str, **fields: Any) -> Format:
    """A format whose conversations are ``entries``. The other arguments are those of ``Format``."""

    def read(source: Source, id: str | None) -> Transcript:  # noqa: A002 # the word of every tool
        return _chosen([*entries(source)], id, source).transcript()

    def listed(source: Source) -> Sequence[TranscriptInfo]:
        return [_info(name, each, source) for each in entries(source)]

    return Format(name=name, read=read, list=listed, **fields)


def document_format(
    *, recognise: Callable[[Any], bool], read: Callable[[Any, Report], Conversation], **fields: Any
) -> Format:
    """A format whose file is one JSON document with one conversation."""

    def entries(source: Source) -> Iterable[Entry]:
        return [Entry(read=lambda: read(source.document, Report()))]

    return entries_format(recognise=lambda source: recognise(source.document), entries=entries, **fields)


def rows_format(
    *,
    recognise: Callable[[list[Object]], bool],
    read: Callable[[Conversation, Iterable[tuple[int, Object]]], None],
    head: Callable[[list[Object]], Object] = lambda rows: {},
    name: str,
    **fields: Any,
) -> Format:
    """A format whose file is one conversation with one JSON object on each line. ``head`` returns what its first rows
    show about it: fields of ``Entry``."""

    def entries(source: Source) -> Iterable[Entry]:
        def conversation() -> Conversation:
            found = Conversation(name)
            read(found, json_rows(source, found.report))
            return found

        return [Entry(read=conversation, **head(source.rows))]

    return entries_format(name=name, recognise=lambda source: recognise(source.rows), entries=entries, **fields)


def below(folder: str, *patterns: str) -> Callable[[], Iterable[Path]]:
    """The files of a tool on this machine."""

    def find() -> Iterable[Path]:
        home = Path(folder).expanduser()
        return [path for pattern in patterns for path in home.glob(pattern)]

    return find


def _chosen(entries: Sequence[Entry], id: str | None, source: Source) -> Entry:  # noqa: A002
    """The conversation of that id; without one the newest, or the first if not all times are known."""
    if not entries:
        raise FormatError("there is no conversation in it", source=str(source))
    if id is not None:
        found = [each for each in entries if each.id == id] or [
            each for each in entries if each.id is not None and each.id.startswith(id)
        ]
        if len(found) != 1:
            few = ", ".join(text_of(each.id) for each in entries[:5])
            reason = f"{len(found)} conversations have" if found else "no conversation has"
            raise FormatError(f"{reason} this id; there are {few}", source=str(source))
        return found[0]
    if all(each.updated is not None for each in entries):
        return max(entries, key=lambda each: each.updated or 0)
    return entries[0]


def _info(name: str, entry: Entry, source: Source) -> TranscriptInfo:
    updated = entry.updated
    if updated is None:
        updated = int(os.path.getmtime(source.path) * 1000)
    return TranscriptInfo(
        name,
        str(source),
        entry.id,
        title=entry.title,
        cwd=entry.cwd,
        model=entry.model,
        version=entry.version,
        updated=updated,
        messages=entry.messages,
    )
