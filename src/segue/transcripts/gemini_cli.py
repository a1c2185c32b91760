"""Gemini CLI: one JSONL file per session, whose rows replace earlier ones; until 0.39 one JSON document.

Seen: 0.40 and documents before; 0.61.0 was run (2026-11-16).
"""

import os
from collections.abc import Iterator
from pathlib import Path

from ..types import AssistantContent, Context, Message, ThinkingContent, UserMessage
from .chain import branch_of
from .format import Format
from .google_parts import RowReader, answer_blocks, call_of, parts_of, user_blocks
from .google_write import write_gemini
from .reading import (
    first_prompt,
    joined_text,
    json_rows,
    last_model,
    object_in,
    objects_in,
    short_title,
    text_in,
    unix_ms,
)
from .source import Object, Source
from .values import Branch, RemarkCode, Report, Transcript, TranscriptInfo

NAME = "gemini-cli"
_INJECTED = ("<session_context>", "<system-reminder>", "<state_snapshot>", "<hook_context>")
_SHOWN = frozenset({"info", "error", "warning", "quit", "about"})
"""Rows that only the screen shows."""


def recognise(source: Source) -> bool:
    """A header with the hash of the project, as the first row or around the messages."""
    document = source.document
    if isinstance(document, dict) and "sessionId" in document and isinstance(document.get("messages"), list):
        return "projectHash" in document or "startTime" in document
    return any("sessionId" in row and "projectHash" in row for row in source.rows[:1])


class _Session:
    """The messages of a file after all replacements, in order, with their lines."""

    def __init__(self, source: Source, report: Report) -> None:
        self.head: Object = {}
        self.messages: dict[str, tuple[int, Object]] = {}
        self.rewound: list[list[tuple[int, Object]]] = []
        self._report = report
        document = source.document
        if isinstance(document, dict) and "messages" in document:
            self._set(1, document)
            return
        for line, row in json_rows(source, report):
            self._row(line, row)

    def _row(self, line: int, row: Object) -> None:
        if "sessionId" in row:
            self.head = {**row, **{name: self.head[name] for name in ("sessionId", "startTime") if name in self.head}}
        elif "$set" in row:
            self._set(line, object_in(row, "$set"))
        elif isinstance(target := row.get("$rewindTo"), str):
            self._rewind(line, target)
        elif isinstance(name := row.get("id"), str):
            self.messages[name] = (line, row)
        else:
            self._report.add("row-unknown", f"a row with {', '.join(sorted(row)[:5])}", line)

    def _set(self, line: int, values: Object) -> None:
        self.head = {**self.head, **{name: value for name, value in values.items() if name != "messages"}}
        if isinstance(values.get("messages"), list):
            found = objects_in(values, "messages")
            self.messages = {str(each.get("id") or f"{line}-{at}"): (line, each) for at, each in enumerate(found)}

    def _rewind(self, line: int, target: str) -> None:
        """Go back to before a message; what is left is another branch."""
        if target not in self.messages:
            self._report.add("parent-missing", f"the message {target} to go back to is not in the file", line)
            return
        self.rewound.append(list(self.messages.values()))
        names = list(self.messages)
        for name in names[names.index(target) :]:
            del self.messages[name]


class _Reader(RowReader):
    """The messages of a conversation. Results are in two places; each call gets one."""

    tool, provider, counts, key = NAME, "google", "tokens", "id"

    def __init__(self, report: Report) -> None:
        super().__init__(report)
        self.messages: list[Message] = []
        self._answered: set[str] = set()

    def read(self, rows: list[tuple[int, Object]]) -> list[Message]:
        for self.line, row in rows:
            kind = text_in(row, "type") or ""
            if kind == "user":
                self._user(row)
            elif kind in ("gemini", "model", "assistant"):
                self._answer(row)
            else:
                code: RemarkCode = "row-left-out" if kind in _SHOWN else "row-unknown"
                self.remark(code, f"a message of type {kind}")
        return self.messages

    def _user(self, row: Object) -> None:
        parts = parts_of(row.get("content", row.get("parts")))
        self._add_results(parts, False)
        content = user_blocks(parts, self.remark)
        if content:
            injected = joined_text(content).lstrip().startswith(_INJECTED)
            self.messages.append(UserMessage(content, injected, {"id": str(row.get("id"))}))

    def _add_results(self, parts: list[Object], failed: bool) -> None:
        for result in self.results(parts, failed):
            if result.tool_call_id in self._answered:
                continue  # the second place of the same result
            self._answered.add(result.tool_call_id)
            self.messages.append(result)

    def _answer(self, row: Object) -> None:
        name = str(row.get("id"))
        content = [*_thoughts(row), *answer_blocks(parts_of(row.get("content", row.get("parts"))), name, self.remark)]
        calls = objects_in(row, "toolCalls")
        if not any(block.type == "toolCall" for block in content):
            content += [call_of(call, f"{name}-{at}", None, self.remark) for at, call in enumerate(calls)]
        if not content:
            return
        self.messages.append(self.answer(content, row, name))
        for call in calls:
            self._add_results(parts_of(call.get("result")), call.get("status") in ("error", "cancelled"))


def _thoughts(row: Object) -> list[AssistantContent]:
    """The summaries of thoughts, which come in pieces and without a signature."""
    pieces = [
        "\n".join(text for text in (text_in(each, "subject"), text_in(each, "description")) if text)
        for each in objects_in(row, "thoughts")
    ]
    text = "\n\n".join(piece for piece in pieces if piece)
    return [ThinkingContent(text)] if text else []


def read(source: Source, identity: str | None) -> Transcript:
    """Read a session, with what was left by going back and its sub-agents."""
    report = Report()
    session = _Session(source, report)
    log = _Reader(report).read(list(session.messages.values()))
    head = session.head
    branches = [
        branch_of(f"rewound-{at + 1}", _Reader(Report()).read(rows), log) for at, rows in enumerate(session.rewound)
    ]
    directories = head.get("directories")
    return Transcript(
        tool=NAME,
        form="document" if isinstance(source.document, dict) else "rows",
        log=tuple(log),
        id=text_in(head, "sessionId"),
        title=text_in(head, "summary"),
        cwd=directories[0] if isinstance(directories, list) and directories else _workspace(log),
        model=last_model(log),
        started=unix_ms(head.get("startTime")),
        updated=unix_ms(head.get("lastUpdated")),
        branches=(*(each for each in branches if each is not None), *_agents(source, text_in(head, "sessionId"))),
        changes=tuple(report),
        meta={"projectHash": hashed} if (hashed := text_in(head, "projectHash")) else {},
    )


def _workspace(log: list[Message]) -> str | None:
    """The directory that the first message, written by the program, describes."""
    first = log[0] if log else None
    if isinstance(first, UserMessage) and first.injected:
        lines = joined_text(first.content).splitlines()
        at = next((at for at, line in enumerate(lines) if "Workspace Directories" in line), None)
        if at is not None and at + 1 < len(lines):
            return lines[at + 1].strip().removeprefix("- ") or None
    return None


def _agents(source: Source, name: str | None) -> Iterator[Branch]:
    """The sub-agents of a session, in a directory of its name."""
    folder = source.path.parent / name if name and "/" not in name else None
    for path in sorted(folder.glob("*.jsonl")) if folder is not None and folder.is_dir() else ():
        session = _Session(Source(path), Report())
        log = _Reader(Report()).read(list(session.messages.values()))
        title = text_in(session.head, "summary")
        yield Branch(text_in(session.head, "sessionId") or path.stem, "subagent", Context(log), title=title)


def listed(source: Source) -> tuple[TranscriptInfo, ...]:
    """The session. Rows replace earlier ones, so the whole file is read."""
    session = _Session(source, Report())
    log = _Reader(Report()).read(list(session.messages.values()))
    return (
        TranscriptInfo(
            NAME,
            str(source.path),
            text_in(session.head, "sessionId"),
            short_title(text_in(session.head, "summary") or first_prompt(log)),
            _workspace(log),
            last_model(log),
            None,
            unix_ms(session.head.get("lastUpdated")),
        ),
    )


def home() -> Path:
    """The directory of Gemini CLI's settings and sessions."""
    return Path(os.environ.get("GEMINI_CLI_HOME") or Path.home()) / ".gemini"


def find() -> Iterator[Path]:
    """The files of sessions on this machine."""
    yield from (home() / "tmp").glob("*/chats/session-*.json*")


FORMAT = Format(
    name=NAME,
    title="Gemini CLI",
    recognise=recognise,
    read=read,
    list=listed,
    find=find,
    home=home,
    speaks="google/gemini-2.5-pro",
    write=write_gemini,
    resumes=True,
    verified=True,
    source="0.61.0, run on 2026-11-16; files of 0.40 and before",
)
