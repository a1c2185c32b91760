"""Claude Code: one JSONL file per session, whose rows form a tree.

Its sub-agents are rows of the file (1.x), files beside it (2.0), or files in a directory of its name (2.1 and later).
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..types import Message
from .claude_code_rows import LOOSE, TREE, Rows, agent_rows
from .claude_code_tree import Tree, agent_branch
from .claude_code_write import write
from .format import Format
from .reading import ends_of, last_model, object_in, short_title, text_in, text_of, unix_ms
from .source import Object, Source, read_line
from .values import Branch, Compaction, Report, Transcript, TranscriptInfo

NAME = "claude-code"


def recognise(source: Source) -> bool:
    """Rows of the tree, with Anthropic's messages; or only rows that are beside it."""
    rows = source.rows
    if not rows or any("parts" in object_in(row, "message") for row in rows):
        return False
    if any("uuid" in row and "sessionId" in row and text_of(row.get("type")) in TREE for row in rows):
        return True
    return all(text_of(row.get("type")) in LOOSE and _is_loose(row) for row in rows)


def _is_loose(row: Object) -> bool:
    return any(name in row for name in ("sessionId", "leafUuid", "messageId"))


def read(source: Source, identity: str | None) -> Transcript:
    """Read a session, with its branches and sub-agents."""
    report = Report()
    rows = Rows(source, report)
    log, branches = Tree(rows, report).conversations()
    branches += _agents(source, rows, report)
    head = rows.head
    messages: list[Message] = [each for each in log if not isinstance(each, Compaction)]
    return Transcript(
        tool=NAME,
        log=tuple(log),
        id=head.agent if branches == [] and head.agent else head.session,
        version=head.version,
        title=next((head.titles[kind] for kind in ("custom", "ai", "summary") if kind in head.titles), None),
        cwd=head.cwd,
        model=last_model(messages),
        started=unix_ms(head.started),
        updated=unix_ms(head.updated),
        branches=tuple(branches),
        changes=tuple(report),
        meta={"gitBranch": head.branch} if head.branch else {},
    )


def _agents(source: Source, rows: Rows, report: Report) -> list[Branch]:
    """The sub-agents in files of their own."""
    if rows.head.agent is not None or rows.head.session is None:
        return []
    folder = source.path.with_suffix("") / "subagents"
    beside = agent_rows(map(Source, sorted(source.path.parent.glob("agent-*.jsonl"))), rows.head.session)
    inside = [Source(each) for each in sorted(folder.glob("**/agent-*.jsonl"))]
    branches = []
    for each in [*inside, *beside]:
        own = Report()
        found = Rows(each, own)
        log, _ = Tree(found, own).conversations()
        for remark in own:
            report.add(remark.code, remark.text, where=f"{each.path.name}, line {remark.line}")
        name = found.head.agent or each.path.stem.removeprefix("agent-")
        meta = _meta(each.path)
        call = rows.agents.get(name) or text_in(meta, "toolUseId")
        branches.append(agent_branch(name, log, rows.prompts, text_in(meta, "description", "agentType"), call))
    return branches


def _meta(path: Path) -> Any:
    """What a file beside that of a sub-agent states about it."""
    try:
        return read_line(path.with_suffix(".meta.json").read_bytes())
    except OSError:
        return None


def listed(source: Source) -> tuple[TranscriptInfo, ...]:
    """The session, from the first and last rows of the file."""
    first, last = ends_of(source)
    rows = [*first, *last]
    titles = {name: title for row in rows for name in _TITLES if (title := text_in(row, name))}
    models = [model for row in rows if (model := text_in(object_in(row, "message"), "model"))]
    title = next((titles[name] for name in _TITLES if name in titles), None)
    return (
        TranscriptInfo(
            NAME,
            str(source.path),
            _first(rows, "sessionId"),
            short_title(title or _prompt(rows)),
            _first(rows, "cwd"),
            models[-1] if models else None,
            _first(rows, "version"),
            next((time for row in reversed(rows) if (time := unix_ms(row.get("timestamp")))), None),
        ),
    )


_TITLES = ("customTitle", "aiTitle", "summary")


def _first(rows: list[Object], name: str) -> str | None:
    return next((found for row in rows if (found := text_in(row, name))), None)


def _prompt(rows: list[Object]) -> str | None:
    for row in rows:
        if row.get("type") == "user" and not row.get("isMeta"):
            content = object_in(row, "message").get("content")
            texts = [text_in(block, "text") for block in content] if isinstance(content, list) else [content]
            for text in texts:
                if isinstance(text, str) and text and not text.startswith("<"):
                    return text
    return None


def home() -> Path:
    """The directory of Claude Code's settings and sessions."""
    return Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude")


def find() -> Iterator[Path]:
    """The files of sessions on this machine, without those of sub-agents."""
    for path in (home() / "projects").glob("*/*.jsonl"):
        if not path.name.startswith("agent-"):
            yield path


FORMAT = Format(
    name=NAME,
    title="Claude Code",
    recognise=recognise,
    read=read,
    list=listed,
    find=find,
    home=home,
    speaks="anthropic/claude-sonnet-4-5",
    write=write,
    resumes=True,
    verified=True,
    source="2.1.197 and 2.1.326, run in 2026-11; files of 1.0.24 to 2.1.220",
)
