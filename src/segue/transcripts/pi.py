"""pi: one JSONL file per session, whose entries form a tree. Its messages are nearly those of segue.

Seen: versions 1 and 3 of the format; 0.74.2 and 0.87.1 were run (2026-11). OpenClaw and oh-my-pi write the same. Newer
versions have messages of the system, with the sections of the prompt and the tools (``docs/session-format.md``, 1.5.0).
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

from msgspec.structs import replace

from ..errors import FormatError
from ..types import (
    AssistantMessage,
    Message,
    TextContent,
    ThinkingContent,
    ToolDefinition,
    ToolResultMessage,
    UserMessage,
)
from ..types.codec import json_text, read as read_value
from .chain import Chain, Link, branch_of
from .format import Format
from .pi_write import write
from .reading import (
    ENDPOINT,
    as_text,
    ends_of,
    first_prompt,
    json_rows,
    last_model,
    number_in,
    object_in,
    objects_in,
    short_title,
    text_in,
    unix_ms,
)
from .source import Object, Source
from .values import Branch, Compaction, RemarkCode, Report, Transcript, TranscriptInfo

NAME = "pi"
_LEFT_OUT = frozenset(
    {"thinking_level_change", "model_change", "custom", "label", "session_info", "usage", "context_edit"}
)


def recognise(source: Source) -> bool:
    """The first row describes the session: its version, or the settings of version 1."""
    first = source.rows[0] if source.rows else {}
    return first.get("type") == "session" and "cwd" in first and ("version" in first or "timestamp" in first)


def read(source: Source, identity: str | None) -> Transcript:
    """Read a session, with its branches."""
    report = Report()
    head: Object = {}
    links: list[Link] = []
    for line, row in json_rows(source, report):
        if row.get("type") == "session" and not head:
            head = row
            continue
        name = text_in(row, "id") or f"line {line}"
        before = links[-1].id if links else None  # version 1 has no ids: each entry follows the one before it
        links.append(Link(line, name, row.get("parentId") if "parentId" in row else before, row))
    chain = Chain(links, report)
    entries = _Entries(report)
    log = entries.log(chain.main())
    others = [_branch(path, log) for path in chain.others()]
    names = [title for link in links if link.row.get("type") == "session_info" and (title := text_in(link.row, "name"))]
    return Transcript(
        tool=NAME,
        form=f"version {head.get('version', 1)}",
        log=tuple(log),
        system_prompt=entries.system_prompt,
        tools=tuple(entries.tools.values()),
        id=text_in(head, "id"),
        version=str(head.get("version", 1)),
        title=names[-1] if names else None,
        cwd=text_in(head, "cwd"),
        model=last_model(each for each in log if not isinstance(each, Compaction)),
        started=unix_ms(head.get("timestamp")),
        updated=unix_ms(links[-1].row.get("timestamp")) if links else None,
        branches=tuple(each for each in others if each is not None),
        changes=tuple(report),
    )


def _branch(path: list[Link], main: list[Any]) -> Branch | None:
    log = _Entries(Report()).log(path)
    return branch_of(path[-1].id, log, main)


class _Entries:
    """The messages of entries."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._sections: dict[str, str] = {}
        self.tools: dict[str, ToolDefinition] = {}

    @property
    def system_prompt(self) -> str | None:
        """The sections of the prompt that hold at the end; one that was removed is empty."""
        return "\n\n".join(filter(None, self._sections.values())) or None

    def log(self, path: list[Link]) -> list[Message | Compaction]:
        log: list[Message | Compaction] = []
        starts: list[tuple[str, int]] = []
        edits = {text_in(each.row, "targetId"): each.row for each in path if each.row.get("type") == "context_edit"}
        for link in path:
            starts.append((link.id, len(log)))
            if link.id in edits:
                log += self._edited(link, edits[link.id].get("replacement"))
            elif link.row.get("type") == "compaction":
                self._checkpoint(link)
                log.append(self._compaction(link.row, log, starts))
            else:
                log += self._entry(link)
        return log

    def _checkpoint(self, link: Link) -> None:
        """A compaction repeats the prompt and the tools (1.5.0)."""
        whole = object_in(link.row, "systemMessage")
        if whole:
            self._sections, self.tools = {}, {}
            self._system(link, whole)

    def _compaction(self, row: Object, log: list[Any], starts: list[tuple[str, int]]) -> Compaction:
        """The summary, then the entries from the first one that was kept. Version 1 counts rows from the header."""
        first, index = text_in(row, "firstKeptEntryId"), row.get("firstKeptEntryIndex")
        start = next((at for name, at in starts if name == first), len(log))
        if first is None and isinstance(index, int) and 0 < index <= len(starts):
            start = starts[index - 1][1]
        kept = sum(not isinstance(each, Compaction) for each in log[start:])
        return Compaction((UserMessage(text_in(row, "summary") or "", injected=True),), kept)

    def _edited(self, link: Link, content: Any) -> list[Message]:
        """An entry whose content was replaced for the model, or taken out."""
        if content is None:
            self._report.add("row-left-out", "an entry that was taken out of the conversation", link.line)
            return []
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        row = link.row | {"content": parts, "message": object_in(link.row, "message") | {"content": parts}}
        return self._entry(Link(link.line, link.id, link.parent, row))

    def _entry(self, link: Link) -> list[Message]:
        row, kind = link.row, text_in(link.row, "type")
        if kind == "message":
            return self.message(link, object_in(row, "message"))
        if kind == "branch_summary":
            return _injected(text_in(row, "summary"))
        if kind == "custom_message":
            return self._custom(link, row)
        code: RemarkCode = "row-left-out" if kind in _LEFT_OUT else "row-unknown"
        self._report.add(code, f"an entry of type {kind}", link.line)
        return []

    def message(self, link: Link, message: Object) -> list[Message]:
        role = text_in(message, "role") or ""
        if role in _OTHER_ROLES:
            return _OTHER_ROLES[role](self, link, message)
        try:
            found = cast("Message", read_value(json_text(message), cast(Any, Message)))
        except FormatError as error:
            self._report.add("row-incomplete", f"a message of role {role!r} cannot be read: {error.path}", link.line)
            return []
        return [self._own(link, found, message)]

    def _own(self, link: Link, found: Message, message: Object) -> Message:
        meta: dict[str, Any] = {"id": link.id}
        if isinstance(found, AssistantMessage):
            content = [block for block in found.content if not _is_empty(block)]
            if len(content) < len(found.content):
                self._report.add("thinking-empty", "thinking with neither text nor signature", link.line)
            return replace(found, content=content, endpoint=f"{ENDPOINT}pi", meta=meta)
        if isinstance(found, ToolResultMessage) and message.get("details"):
            meta["details"] = message["details"]
        return replace(found, meta=meta)

    def _shell(self, link: Link, message: Object) -> list[Message]:
        """A command that the user ran."""
        if message.get("excludeFromContext") is True:
            self._report.add("row-left-out", "a command that the user kept from the model", link.line)
            return []
        code = message.get("exitCode")
        ended = f"\n(exit code {code})" if code else "\n(cancelled)" if message.get("cancelled") else ""
        return _injected(f"$ {text_in(message, 'command') or ''}\n{text_in(message, 'output') or ''}{ended}")

    def _custom(self, link: Link, message: Object) -> list[Message]:
        """A message of an extension, which is sent as the user's."""
        return _injected(_texts(message.get("content")))

    def _system(self, link: Link, message: Object) -> list[Message]:
        """What a message of the system sets: sections of the prompt by name, and tools."""
        content = message.get("content")
        sections = object_in(message, "sections") | ({f"line {link.line}": content} if content else {})
        self._sections |= {name: _texts(text) for name, text in sections.items()}
        for each in objects_in(message, "toolsRemoved"):
            self.tools.pop(text_in(each, "name") or "", None)
        for each in objects_in(message, "toolsAdded"):
            if name := text_in(each, "name"):
                self.tools[name] = ToolDefinition(
                    name, text_in(each, "description") or "", object_in(each, "parameters")
                )
        return []

    def _summary(self, link: Link, message: Object) -> list[Message]:
        return _injected(as_text(message.get("summary") or ""))


def _texts(content: Any) -> str:
    """The text of a content: a text, or a list of parts."""
    if isinstance(content, str):
        return content
    return "\n".join(text for part in content if (text := text_in(part, "text"))) if isinstance(content, list) else ""


def _is_empty(block: Any) -> bool:
    return isinstance(block, ThinkingContent) and not block.thinking and not block.thinking_signature


def _injected(text: str | None) -> list[Message]:
    return [UserMessage([TextContent(text)], injected=True)] if text else []


_OTHER_ROLES: dict[Any, Callable[[_Entries, Link, Object], list[Message]]] = {
    "bashExecution": _Entries._shell,
    "branchSummary": _Entries._summary,
    "compactionSummary": _Entries._summary,
    "custom": _Entries._custom,
    "hookMessage": _Entries._custom,
    "system": _Entries._system,
}


def listed(source: Source) -> tuple[TranscriptInfo, ...]:
    """The session, from the first and last rows of the file."""
    first, last = ends_of(source)
    head, rows = first[0] if first else {}, [*first, *last]
    names = [name for row in rows if row.get("type") == "session_info" and (name := text_in(row, "name"))]
    messages = [object_in(row, "message") for row in rows]
    models = [model for each in messages if (model := text_in(each, "model"))]
    entries = _Entries(Report())
    typed = (
        found for at, each in enumerate(messages) if each for found in entries.message(Link(at, "", None, {}), each)
    )
    return (
        TranscriptInfo(
            NAME,
            str(source.path),
            text_in(head, "id"),
            short_title(names[-1] if names else first_prompt(typed)),
            text_in(head, "cwd"),
            models[-1] if models else text_in(head, "modelId"),
            str(number_in(head, "version") or 1),
            unix_ms(rows[-1].get("timestamp")) if rows else None,
        ),
    )


def home() -> Path:
    """The directory of pi's sessions."""
    named = os.environ.get("PI_CODING_AGENT_SESSION_DIR")
    agent = os.environ.get("PI_CODING_AGENT_DIR") or Path.home() / ".pi" / "agent"
    return Path(named) if named else Path(agent) / "sessions"


def find() -> Iterator[Path]:
    """The files of sessions on this machine."""
    yield from home().glob("*/*.jsonl")


FORMAT = Format(
    name=NAME,
    title="pi",
    recognise=recognise,
    read=read,
    list=listed,
    find=find,
    home=home,
    write=write,
    resumes=True,
    verified=True,
    source="0.74.2 and 0.87.1, run in 2026-11; its documentation and source",
)
