"""The shelf: everything that can be opened here, and what the models get of it, kept for the next page."""

import os
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

from msgspec import Struct

from ..errors import SegueError
from ..rules import Finding
from ..session import SessionInfo, Store
from ..transcripts import Format, Source, places
from ..types import AssistantMessage, Message
from .blocks import Ink, plain
from .columns import Column, column_of, findings_in_body
from .marked import one_line, pattern_of
from .opened import Opened, Read, SessionReader, id_of, open_file, open_text
from .rows import Sheet
from .view import Target, View

MOST_KEPT = 24
"""Columns that are kept."""
MOST_LISTED = 150
"""Files of other tools that are listed and searched, the last changed ones."""
MOST_FOUND = 100
"""Places that a search across sessions returns."""
AROUND = 60
"""Characters around a place that a search shows."""

DEFAULTS = ("anthropic/claude-sonnet-5", "openai/gpt-5.4", "google/gemini-3-pro-preview")
"""The models that are shown if none is named; not the one that answered last, which gets it as it is stored."""

T = TypeVar("T")


class Place(Struct, frozen=True):
    """A message that a search across conversations has found."""

    id: str
    name: str
    message: int
    text: str


class Listed(Struct, frozen=True):
    """A conversation that another tool has stored on this machine."""

    id: str
    tool: str
    name: str
    changed: float
    path: str


class Shelf:
    """Conversations by their ids. Threads may share it."""

    def __init__(self, read: Read, store: Store | None = None) -> None:
        self._read = read
        self.store = store
        self._opened: dict[str, Opened] = {}
        self._sessions: dict[str, SessionReader] = {}
        self._kept: OrderedDict[object, Any] = OrderedDict()
        self._lock = Lock()
        self._files: dict[str, str] = {}
        self._looked: dict[tuple[str, float], list[Listed]] = {}

    # -- opening -----------------------------------------------------------------------------------------------------

    def add_file(self, path: str) -> list[Opened]:
        """Open the conversations in a file."""
        return self._add(open_file(path, self._read))

    def add_text(self, data: bytes, name: str) -> list[Opened]:
        """Open the conversations in a text."""
        return self._add(open_text(data, name, self._read))

    def _add(self, found: list[Opened]) -> list[Opened]:
        for each in found:
            self._opened[each.id] = each
        return found

    def add(self, opened: Opened) -> None:
        """Add a conversation that was read elsewhere."""
        self._opened[opened.id] = opened

    def open(self, id: str) -> Opened | None:  # noqa: A002
        """The conversation with this id, as it is now."""
        if id not in self._opened and id not in self._sessions and (path := self._path(id)):
            self.add_file(path)
        if id in self._opened:
            return self._opened[id]
        reader = self.reader(id)
        if reader is None:
            return None
        with self._lock:
            return reader.opened()

    def _path(self, id: str) -> str | None:  # noqa: A002
        """The file of another tool that has the conversation with this id."""
        if id not in self._files and self.reader(id) is None:
            self.transcripts()
        return self._files.get(id)

    def reader(self, id: str) -> SessionReader | None:  # noqa: A002
        """The session with this id."""
        if id not in self._sessions and self.store is not None:
            for info in self.store.sessions():
                for whole in (False, True):
                    reader = SessionReader(self.store, info.id, whole)
                    self._sessions.setdefault(reader.id, reader)
        return self._sessions.get(id)

    # -- lists -------------------------------------------------------------------------------------------------------

    def documents(self) -> list[Opened]:
        """Everything that was opened since the studio was started, the last one first."""
        return list(self._opened.values())[::-1]

    def sessions(self) -> list[SessionInfo]:
        """All stored sessions, the last changed first."""
        return [] if self.store is None else self.store.sessions()

    def transcripts(self) -> list["Listed"]:
        """The conversations that other tools have stored on this machine, the last changed first."""
        newest = islice(places(), MOST_LISTED)
        return [listed for form, path, changed in newest for listed in self._list(changed, path, form)]

    def _list(self, changed: float, path: Path, form: Format) -> list["Listed"]:
        full = str(path.resolve())

        def look() -> list[Listed]:
            with suppress(SegueError, OSError):  # a damaged file does not hide the others
                infos = form.list(Source(path))
                return [
                    Listed(
                        id_of("file", f"{full}\0{number}"),
                        form.title,
                        info.title or info.id or path.name,
                        changed,
                        full,
                    )
                    for number, info in enumerate(infos, 1)
                ]
            return []

        listed = self._keep_listed((full, changed), look)
        self._files.update({each.id: full for each in listed})
        return listed

    def _keep_listed(self, key: tuple[str, float], look: Callable[[], list["Listed"]]) -> list["Listed"]:
        if key not in self._looked:
            self._looked[key] = look()
        return self._looked[key]

    def search(self, text: str) -> Iterator[Place]:
        """Every message of every conversation that contains ``text``, up to a number."""
        pattern = pattern_of(text)
        count = 0
        for id, name, index, message in self._all_messages(text):  # noqa: A001
            for block in message.content:
                shown = plain(block)
                if found := pattern.search(shown):
                    start = max(found.start() - AROUND, 0)
                    yield Place(id, name, index, one_line(shown[start : found.end() + AROUND]))
                    count += 1
                    break
            if count >= MOST_FOUND:
                return

    def _all_messages(self, text: str) -> Iterator[tuple[str, str, int, Message]]:
        for opened in self.documents():
            yield from _messages_of(opened)
        yield from self._in_transcripts(text)
        for info in self.sessions():
            with suppress(SegueError):  # a damaged session does not hide the others
                session = self.open(id_of("session", info.id))
                whole = self.open(session.whole) if session is not None and session.whole else None
                yield from (place for each in (session, whole) if each is not None for place in _messages_of(each))

    def _in_transcripts(self, text: str) -> Iterator[tuple[str, str, int, Message]]:
        """The messages of the files of other tools that may contain ``text``."""
        needle = text.lower().encode() if text.isascii() and text.isprintable() and not set(text) & set('"\\/') else b""
        for path in dict.fromkeys(each.path for each in self.transcripts() if each.id not in self._opened):
            with suppress(SegueError, OSError):
                if os.path.isfile(path) and needle not in Path(path).read_bytes().lower():
                    continue
                for opened in open_file(path, self._read):
                    yield from _messages_of(opened)

    # -- what the models get -----------------------------------------------------------------------------------------

    def sheet(self, opened: Opened, view: View, ink: Ink) -> Sheet:
        """What the rows of a page are drawn from."""
        columns = [self._column(opened, target) for target in view.to]
        return Sheet(opened, columns, self._findings(opened), ink, view.diff)

    def _column(self, opened: Opened, target: Target) -> Column:
        key = (opened.id, opened.version, target)
        return self._keep(key, lambda: column_of(opened.context, target))

    def _findings(self, opened: Opened) -> dict[int | None, list[Finding]]:
        if opened.body is None or opened.protocol is None:
            return {}
        body, protocol = opened.body, opened.protocol
        return self._keep((opened.id, "body"), lambda: findings_in_body(body, protocol))

    def _keep(self, key: object, make: Callable[[], T]) -> T:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                kept: T = self._kept[key]
                return kept
        made = make()
        with self._lock:
            self._kept[key] = made
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return made


def _messages_of(opened: Opened) -> Iterator[tuple[str, str, int, Message]]:
    """The messages to search. Of a compacted conversation only the summary: the whole log has the others."""
    messages = opened.context.messages
    for index, message in enumerate(messages[:1] if opened.whole else messages):
        yield opened.id, opened.name, index, message


def default_models(opened: Opened) -> list[str]:
    """Two models to begin with: of other makers than the one that answered last."""
    answers = [message for message in opened.context.messages if isinstance(message, AssistantMessage)]
    last = answers[-1].provider if answers else ""
    return [name for name in DEFAULTS if name.partition("/")[0] != last][:2]
