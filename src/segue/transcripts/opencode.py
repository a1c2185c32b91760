"""opencode: a database, what ``opencode export`` writes, and the files of older versions. All three hold the same
objects: a session, its messages, and the parts of each message.

Seen: storage of 1.3, export and database of 1.18.33, which was run (2026-11-16).
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ..errors import FormatError
from ..types import Context
from .format import Format
from .opencode_parts import Conversation, Stored
from .opencode_write import write
from .reading import last_model, number_in, object_in, objects_in, short_title, text_in, unix_ms
from .source import Object, Source, read_cell, read_line
from .values import Branch, Compaction, Report, Transcript, TranscriptInfo, seen

NAME = "opencode"
_TABLES = frozenset({"session", "message", "part"})


def recognise(source: Source) -> bool:
    """A database with its tables, a directory with its folders, an export, or the file of one session."""
    if source.is_directory:
        return source.members >= _TABLES or ("storage" in source.members and _storage(source).is_dir())
    if source.tables:
        return (source.tables >= _TABLES and "project" in source.tables) or _has_columns(source)
    document = source.document
    if not isinstance(document, dict):
        return False
    info = object_in(document, "info")
    if isinstance(document.get("messages"), list) and text_in(info, "id") and "directory" in info:
        return True
    return {"id", "projectID", "directory", "time"} <= document.keys()


def _has_columns(source: Source) -> bool:
    if not source.tables >= _TABLES:
        return False
    with source.database() as connection:
        return {"directory", "parent_id"} <= {row["name"] for row in connection.execute("PRAGMA table_info(session)")}


# -- the three places -------------------------------------------------------------------------------------------------


class _Place:
    """Where sessions are stored: their descriptions, and the messages of one."""

    def __init__(self, source: Source) -> None:
        self.source = source

    def sessions(self) -> Iterable[Object]:
        info = object_in(self.source.document, "info")
        return [info]

    def messages(self, session: str, report: Report) -> Iterable[Stored]:
        for at, message in enumerate(objects_in(self.source.document, "messages")):
            yield Stored(object_in(message, "info"), objects_in(message, "parts"), f"message {at + 1}")


class _Database(_Place):
    def sessions(self) -> Iterable[Object]:
        with self.source.database() as connection:
            for row in connection.execute("SELECT * FROM session"):
                found = dict(row)
                times = {"created": found.get("time_created"), "updated": found.get("time_updated")}
                revert = found.get("revert")
                more = {"parentID": found.get("parent_id"), "revert": read_cell(revert)}
                yield {**found, **more, "time": times}

    def messages(self, session: str, report: Report) -> Iterable[Stored]:
        with self.source.database() as connection:
            parts: dict[str, list[Object]] = {}
            query = "SELECT id, message_id, data FROM part WHERE session_id = ? ORDER BY id"
            for row in connection.execute(query, (session,)):
                parts.setdefault(row["message_id"], []).append(_decoded(row, report))
            query = "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id"
            for row in connection.execute(query, (session,)):
                yield Stored(_decoded(row, report), parts.get(row["id"], []), str(row["id"]))


def _decoded(row: Any, report: Report) -> Object:
    data = row["data"]
    value = read_line(data.encode("utf-8", "replace") if isinstance(data, str) else bytes(data))
    if not isinstance(value, dict):
        report.add("line-unreadable", "this row is not a JSON object", where=str(row["id"]))
        value = {}
    return {**value, "id": row["id"]}


class _Files(_Place):
    @property
    def root(self) -> Path:
        return _storage(self.source) if self.source.is_directory else self.source.path.parents[2]

    def sessions(self) -> Iterable[Object]:
        for path in sorted((self.root / "session").glob("*/*.json")):
            value = read_line(path.read_bytes())
            if isinstance(value, dict):
                yield value

    def messages(self, session: str, report: Report) -> Iterable[Stored]:
        found = [(path, self._read(path, report)) for path in sorted((self.root / "message" / session).glob("*.json"))]
        found.sort(key=lambda each: (number_in(object_in(each[1], "time"), "created"), each[0].name))
        for path, info in found:
            folder = self.root / "part" / str(info.get("id") or path.stem)
            yield Stored(info, [self._read(part, report) for part in sorted(folder.glob("*.json"))], path.name)

    def _read(self, path: Path, report: Report) -> Object:
        value = read_line(path.read_bytes())
        if isinstance(value, dict):
            return value
        report.add("line-unreadable", "this file is not a JSON object", where=path.name)
        return {}


def _storage(source: Source) -> Path:
    return source.path if source.members >= _TABLES else source.path / "storage"


def _place(source: Source) -> _Place:
    if source.tables:
        return _Database(source)
    if source.is_directory or "messages" not in source.document:
        return _Files(source)
    return _Place(source)


# -- reading ----------------------------------------------------------------------------------------------------------


def read(source: Source, identity: str | None) -> Transcript:
    """Read a session, with what was undone and its sub-agents."""
    place, report = _place(source), Report()
    sessions = list(place.sessions())
    if identity is None and not source.is_directory and not source.tables:
        identity = text_in(source.document, "id") or text_in(object_in(source.document, "info"), "id")
    info = _chosen(sessions, identity, source)
    name = str(info.get("id"))
    main = Conversation(report)
    undone = Conversation(Report())
    since = text_in(object_in(info, "revert"), "messageID")
    reverted = False
    for stored in place.messages(name, report):
        reverted = reverted or (since is not None and stored.info.get("id") == since)
        if not reverted:
            main.add(stored)
        undone.add(stored)
    branches = [_undone(undone, main, since)] if reverted else []
    children = [each for each in sessions if each.get("parentID") == name]
    branches += [_agent(place, each, main.agents) for each in children]
    times = object_in(info, "time")
    return Transcript(
        tool=NAME,
        form={_Database: "database", _Files: "files"}.get(type(place), "export"),
        log=tuple(main.log),
        id=name,
        version=text_in(info, "version"),
        title=text_in(info, "title"),
        cwd=text_in(info, "directory"),
        model=last_model(each for each in main.log if not isinstance(each, Compaction)),
        started=unix_ms(times.get("created")),
        updated=unix_ms(times.get("updated")),
        branches=tuple(branches),
        changes=tuple(report),
    )


def _chosen(sessions: list[Object], identity: str | None, source: Source) -> Object:
    """The session of that id; without one, the newest that is not a sub-agent's."""
    if identity is not None:
        found = next((each for each in sessions if each.get("id") == identity), None)
        if found is None:
            raise FormatError(f"there is no session {identity!r}{_where(source)}", source=str(source))
        return found
    roots = [each for each in sessions if not each.get("parentID")] or sessions
    if not roots:
        raise FormatError("there is no session", source=str(source))
    return max(roots, key=lambda each: number_in(object_in(each, "time"), "updated"))


def _where(source: Source) -> str:
    """Where the messages of a session must be, if its file alone is read."""
    if source.is_directory or source.tables:
        return ""
    return " in the directories around this file; read the directory that has session, message and part"


def _undone(whole: Conversation, main: Conversation, since: str | None) -> Branch:
    return Branch(f"undone-{since}", "branch", Context(seen(whole.log)), shared=len(main.log))


def _agent(place: _Place, info: Object, agents: dict[str, str]) -> Branch:
    conversation = Conversation(Report())
    name = str(info.get("id"))
    for stored in place.messages(name, Report()):
        conversation.add(stored)
    title = text_in(info, "title")
    return Branch(name, "subagent", Context(seen(conversation.log)), title=title, call=agents.get(name))


def listed(source: Source) -> tuple[TranscriptInfo, ...]:
    """All sessions, the newest first."""
    found = [
        TranscriptInfo(
            NAME,
            str(source.path),
            text_in(info, "id"),
            short_title(text_in(info, "title")),
            text_in(info, "directory"),
            _model(info.get("model")),
            text_in(info, "version"),
            unix_ms(object_in(info, "time").get("updated")),
        )
        for info in _place(source).sessions()
        if not info.get("parentID")
    ]
    return tuple(sorted(found, key=lambda each: -(each.updated or 0)))


def _model(value: Any) -> str | None:
    if isinstance(value, str):
        value = read_line(value.encode())
    return text_in(value, "id", "modelID")


def home() -> Path:
    """The directory of opencode's data."""
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / NAME


def find() -> Iterator[Path]:
    """The databases on this machine; without any, the files of older versions."""
    named = os.environ.get("OPENCODE_DB")
    databases = [*([Path(named)] if named else []), *home().glob("opencode*.db")]
    yield from (each for each in databases if each.is_file())
    if not databases and (home() / "storage" / "session").is_dir():
        yield home() / "storage"


FORMAT = Format(
    name=NAME,
    title="opencode",
    recognise=recognise,
    read=read,
    list=listed,
    find=find,
    home=home,
    write=write,
    resumes=True,
    verified=True,
    source="1.18.33, run on 2026-11-16; files of 1.3",
)
