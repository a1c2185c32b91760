"""Qwen Code: one JSONL file per session, with rows like Claude Code's and messages like Gemini's.

Seen: 0.21 in fixtures; 0.15.10 was run (2026-11-16); the source of 2026-08.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from ..types import Message, UserMessage
from .chain import Chain, Link, branch_of
from .format import Format
from .google_parts import RowReader, answer_blocks, parts_of, user_blocks
from .google_write import write_qwen
from .reading import (
    ends_of,
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
from .values import Branch, Compaction, Report, Transcript, TranscriptInfo

NAME = "qwen-code"
_TYPES = frozenset({"user", "assistant", "tool_result", "system"})
_ASIDE = frozenset(
    {"session_artifact_event", "session_artifact_snapshot", "session_sources_snapshot", "managed_session_header_v1",
     "managed_session_event_v1", "managed_session_commit_v1"}
)  # fmt: skip
"""Rows that are beside the conversation, and never its last row (``transcript-records.ts`` of Qwen Code, 2026)."""
_INJECTED = ("<qwen:", "<system-reminder>", "<environment_context>", "<session_context>")


def recognise(source: Source) -> bool:
    """Rows like Claude Code's, with Gemini's parts."""
    rows = [row for row in source.rows if "uuid" in row and "sessionId" in row and text_in(row, "type") in _TYPES]
    return any("parts" in object_in(row, "message") or "systemPayload" in row for row in rows)


def read(source: Source, identity: str | None) -> Transcript:
    """Read a session, with its branches."""
    report = Report()
    links = []
    for line, row in json_rows(source, report):
        if text_in(row, "type") not in _TYPES:
            report.add("row-unknown", f"a row of type {row.get('type')!r}", line)
        elif row["type"] == "system" and row.get("subtype") in _ASIDE:
            report.add("row-left-out", f"a row of type system ({row['subtype']})", line)
        elif (name := text_in(row, "uuid")) is None:
            report.add("row-incomplete", f"a row of type {row['type']} without a uuid", line)
        else:
            links.append(Link(line, name, text_in(row, "parentUuid"), row))
    chain = Chain(_joined(links), report)
    log = _Rows(report).log(chain.main())
    others = [branch_of(path[-1].id, _Rows(Report()).log(path), log) for path in chain.others()]
    rows = [link.row for link in links]
    payloads = [object_in(row, "systemPayload") for row in rows if row.get("subtype") == "custom_title"]
    titles = [title for each in payloads if (title := text_in(each, "customTitle", "title"))]
    return Transcript(
        tool=NAME,
        log=tuple(log),
        id=_first(rows, "sessionId"),
        version=_first(rows[::-1], "version"),
        title=titles[-1] if titles else None,
        cwd=_first(rows, "cwd"),
        model=last_model(each for each in log if not isinstance(each, Compaction)),
        started=unix_ms(_first(rows, "timestamp")),
        updated=unix_ms(_first(rows[::-1], "timestamp")),
        branches=tuple(each for each in others if isinstance(each, Branch)),
        changes=tuple(report),
        meta={"gitBranch": branch} if (branch := _first(rows[::-1], "gitBranch")) else {},
    )


def _joined(links: list[Link]) -> list[Link]:
    """Join rows with one uuid and one type, which are pieces of one message (``aggregateTranscriptRecordFragments`` in
    Qwen Code, 2026). A row that is there twice is a copy."""
    joined: list[Link] = []
    places: dict[tuple[str, Any], int] = {}
    seen: dict[str, list[Object]] = {}
    for link in links:
        at = places.setdefault((link.id, link.row["type"]), len(joined))
        rows = seen.setdefault(link.id, [])
        if at == len(joined) or link.row in rows or link.row["type"] == "system":
            joined.append(link)
        else:
            joined[at] = replace(joined[at], row=_with_piece(joined[at].row, link.row))
        rows.append(link.row)
    return joined


def _with_piece(row: Object, piece: Object) -> Object:
    """A row with the parts of another one after its own; the last usage counts."""
    message, more = object_in(row, "message"), object_in(piece, "message")
    parts = [*parts_of(message.get("parts")), *parts_of(more.get("parts"))]
    usage = piece.get("usageMetadata") or row.get("usageMetadata")
    return piece | row | {"message": more | message | {"parts": parts}, "usageMetadata": usage}


def _first(rows: list[Object], name: str) -> str | None:
    return next((found for row in rows if (found := text_in(row, name))), None)


class _Rows(RowReader):
    """The messages of rows."""

    tool, provider, counts, key = NAME, "", "usageMetadata", "uuid"

    def log(self, path: list[Link]) -> list[Message | Compaction]:
        log: list[Message | Compaction] = []
        for link in path:
            self.line = link.line
            row, subtype = link.row, link.row.get("subtype")
            if subtype == "chat_compression":
                log.append(Compaction(tuple(self._history(object_in(row, "systemPayload")))))
            elif subtype == "mid_turn_user_message" or row["type"] != "system":
                payload = object_in(row, "systemPayload") if row["type"] == "system" else row
                log += self.content(object_in(payload, "message") or payload, row, link.id)
            else:
                self.remark("row-left-out", f"a row of type system ({subtype})")
        return log

    def _history(self, payload: Object) -> Iterator[Message]:
        for at, content in enumerate(objects_in(payload, "compressedHistory")):
            yield from self.content(content, {}, f"compressed-{self.line}-{at}")

    def content(self, content: Object, row: Object, name: str) -> list[Message]:
        parts = parts_of(content.get("parts"))
        if content.get("role") == "model":
            answered = answer_blocks(parts, name, self.remark)
            return [self.answer(answered, row, name)] if answered else []
        failed = object_in(row, "toolCallResult").get("status") in ("error", "cancelled")
        results = self.results(parts, failed)
        for result in results:
            if result.tool_call_id not in self.names:
                self.remark("result-orphaned", f"the call {result.tool_call_id} of this result is not in the file")
        return [*results, *self._users(user_blocks(parts, self.remark), row, name)]

    def _users(self, content: list[Any], row: Object, name: str) -> Iterator[Message]:
        """What was typed, and what hooks and notifications added."""
        noticed = row.get("subtype") == "notification"
        added = [block for block in content if noticed or joined_text([block]).startswith(_INJECTED)]
        typed = [block for block in content if not any(block is each for each in added)]
        for blocks, injected in ((typed, False), (added, True)):
            if blocks:
                yield UserMessage(blocks, injected, {"uuid": name})


def listed(source: Source) -> tuple[TranscriptInfo, ...]:
    """The session, from the first and last rows of the file."""
    first, last = ends_of(source)
    rows = [*first, *last]
    payloads = [object_in(row, "systemPayload") for row in rows]
    titles = [title for each in payloads if (title := text_in(each, "customTitle"))]
    reader = _Rows(Report())
    typed = [
        each
        for row in first
        if row.get("type") == "user"
        for each in reader.content(object_in(row, "message"), row, "")
    ]
    models = [model for row in rows if (model := text_in(row, "model"))]
    return (
        TranscriptInfo(
            NAME,
            str(source.path),
            _first(rows, "sessionId"),
            short_title(titles[-1] if titles else first_prompt(typed)),
            _first(rows, "cwd"),
            models[-1] if models else None,
            _first(rows, "version"),
            unix_ms(_first(rows[::-1], "timestamp")),
        ),
    )


def home() -> Path:
    """The directory of Qwen Code's settings and sessions."""
    return Path(os.environ.get("QWEN_HOME") or Path.home() / ".qwen")


def find() -> Iterator[Path]:
    """The files of sessions on this machine."""
    yield from (home() / "projects").glob("*/chats/*.jsonl")


FORMAT = Format(
    name=NAME,
    title="Qwen Code",
    recognise=recognise,
    read=read,
    list=listed,
    find=find,
    home=home,
    speaks="dashscope/qwen3-coder-plus",
    write=write_qwen,
    resumes=True,
    sorted_ids=False,  # `--resume` accepts versions 1 to 5 (packages/cli/src/config/session-id.ts, 0.24.4, 2026-11)
    verified=True,
    source="0.15.10 and 0.24.4, run in 2026-11; its source of 2026-08",
)
