"""Sessions of the OpenAI Agents SDK: an SQLite database, or a list of items.

Seen by running openai-agents 0.24.0 (``SQLiteSession`` and ``AdvancedSQLiteSession``, 2026-11-18). Each row is one
input item of the Responses API. Instructions, tools, model and usage are not stored. ``AdvancedSQLiteSession`` has
branches; the newest row shows the one that was used last.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from itertools import groupby
from typing import Any

from ..render import export
from ..types import Context
from ..types.codec import encode
from .building import Conversation
from .entries import Entry, entries_format
from .format import Draft, Target
from .marks import left_out
from .originals import Originals
from .origins import RESPONSES, Origin
from .reading import objects, text_of, unix_ms
from .source import Object, Source, read_line
from .values import Remark, Report

NAME = "openai-agents"
_MODEL_ITEMS = frozenset(
    {"reasoning", "function_call", "custom_tool_call", "web_search_call", "file_search_call", "computer_call",
     "code_interpreter_call", "image_generation_call", "local_shell_call", "shell_call", "apply_patch_call",
     "mcp_call", "mcp_list_tools", "mcp_approval_request", "tool_search_call", "compaction"}
)  # fmt: skip
"""The items that are made by the model, apart from messages."""
_SESSIONS = "SELECT session_id, created_at, updated_at FROM agent_sessions ORDER BY updated_at, rowid"
_ROWS = "SELECT id, message_data FROM agent_messages WHERE session_id = ? ORDER BY id"
_BRANCHES = "SELECT branch_id FROM message_structure WHERE session_id = ? GROUP BY 1 ORDER BY max(id) DESC"
_BRANCHED = """
    SELECT m.id, m.message_data FROM agent_messages m JOIN message_structure s ON s.message_id = m.id
    WHERE m.session_id = ? AND s.branch_id = ? ORDER BY s.sequence_number
"""
_SCHEMA = """
    CREATE TABLE agent_sessions (
        session_id TEXT PRIMARY KEY,
        created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
        updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP
    );
    CREATE TABLE agent_messages (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        session_id TEXT NOT NULL,
        message_data TEXT NOT NULL,
        created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
        FOREIGN KEY (session_id) REFERENCES agent_sessions (session_id) ON DELETE CASCADE
    );
    CREATE INDEX idx_agent_messages_session_id ON agent_messages (session_id, id);
"""


def is_own(items: Any) -> bool:
    """Whether a list holds items of the Responses API."""
    found = objects(items)[:20]
    return (
        bool(found)
        and any(_is_item(each) for each in found)
        and all("type" in each or "role" in each for each in found)
    )


def _is_item(item: Object) -> bool:
    kind = text_of(item.get("type"))
    return kind in _MODEL_ITEMS or kind.endswith("_call_output") or (kind == "message" and "role" in item)


def read_items(items: Iterable[Any], report: Report | None = None, endpoint: str | None = None) -> Conversation:
    """Read input items of the Responses API. Items of the model in a row are one answer, and so is its original."""
    conversation = Conversation(NAME, report, endpoint)
    conversation.origin = Origin(RESPONSES, "openai")
    kept = [*enumerate(items)]
    for is_answer, run in groupby(kept, key=lambda pair: _is_answer(pair[1])):
        found = [*run]
        for group in [found] if is_answer else [[each] for each in found]:
            is_prompt = not conversation.log and _is_system(group[0][1])
            conversation.begin([item for _, item in group], f"[{group[0][0]}]", is_prompt)
            _read_group(conversation, group)
    return conversation


def _is_answer(item: Any) -> bool:
    kind, role = (text_of(item.get(name)) for name in ("type", "role")) if isinstance(item, dict) else ("", "")
    return kind in _MODEL_ITEMS or (role == "assistant" and kind in ("", "message"))


def _is_system(item: Any) -> bool:
    return isinstance(item, dict) and item.get("role") in ("system", "developer")


def _read_group(conversation: Conversation, group: Sequence[tuple[int, Any]]) -> None:
    if conversation.ingest_body({"input": [item for _, item in group]}, RESPONSES):
        return
    for at, item in group:
        conversation.at(where=f"[{at}]")
        if len(group) == 1 or not conversation.ingest_body({"input": [item]}, RESPONSES):
            conversation.remark("row-incomplete", "an item that cannot be read")


def write_items(context: Context, originals: Originals | None = None) -> list[Any]:
    """The conversation as input items, without the system prompt, which is an instruction of the agent. Items that were
    read and are unchanged are handed back as they were."""
    written: list[Any] = []
    parts = (originals or Originals()).parts(context)
    for is_original, run in groupby(parts, key=lambda part: part[0] is not None):
        if is_original:
            written += [item for original, _ in run for item in original]
        else:
            messages = [message for _, found in run for message in found]
            written += export(Context(messages), RESPONSES).body["input"]
    return written


# -- files -----------------------------------------------------------------------------------------------------------


def _recognise(source: Source) -> bool:
    return {"agent_sessions", "agent_messages"} <= source.tables or is_own(source.document)


def _entries(source: Source) -> Iterable[Entry]:
    if not source.tables:
        return [Entry(read=lambda: read_items(source.document), form="list of items")]
    with source.database() as database:
        rows = [tuple(row) for row in database.execute(_SESSIONS)]
    return [_entry(source, *row) for row in reversed(rows)]


def _entry(source: Source, session: Any, started: Any, updated: Any) -> Entry:
    return Entry(
        read=lambda: _read_session(source, session),
        id=str(session),
        form="SQLite",
        started=unix_ms(started),
        updated=unix_ms(updated),
    )


def _read_session(source: Source, session: Any) -> Conversation:
    with source.database() as database:
        structured = "message_structure" in source.tables
        names = [name for (name,) in database.execute(_BRANCHES, (session,))] if structured else []
        branches = [database.execute(_BRANCHED, (session, name)).fetchall() for name in names]
        rows = branches[0] if branches else database.execute(_ROWS, (session,)).fetchall()
    conversation = _read_rows(rows)
    for name, others in zip(names[1:], branches[1:], strict=True):
        conversation.add_branch(str(name), _read_rows(others))
    return conversation


def _read_rows(rows: Iterable[tuple[int, Any]]) -> Conversation:
    report, items = Report(), []
    for number, data in rows:
        item = read_line(data.encode("utf-8", "replace") if isinstance(data, str) else bytes(data or b""))
        if isinstance(item, dict):
            items.append(item)
        else:
            report.add("line-unreadable", "not a JSON object", where=f"row {number}")
    return read_items(items, report)


def _draft(context: Context, target: Target) -> Draft:
    with closing(sqlite3.connect(":memory:")) as database:
        database.executescript(_SCHEMA)
        database.execute("INSERT INTO agent_sessions (session_id) VALUES (?)", (target.id,))
        rows = [(target.id, encode(item).decode()) for item in write_items(context)]
        database.executemany("INSERT INTO agent_messages (session_id, message_data) VALUES (?, ?)", rows)
        database.commit()
        resume = f"SQLiteSession({target.id!r}, {target.id + '.db'!r})"
        return Draft(f"{target.id}.db", database.serialize(), resume, _left_out(context))


def _left_out(context: Context) -> tuple[Remark, ...]:
    """What items have no place for."""
    report = Report()
    if context.system_prompt:
        report.add("system-left-out", "the system prompt: it is an instruction of the agent")
    for change in export(Context(context.messages), RESPONSES).changes:
        report.add("block-left-out", change.code, where=f"message {change.message}")
    for at, message in enumerate(context.messages):
        if getattr(message, "injected", False) or getattr(message, "synthetic", False):
            report.add("block-left-out", "the mark that a program wrote the message", where=f"message {at}")
    return (*report, *left_out(Context([], tools=context.tools)))


FORMAT = entries_format(
    name=NAME,
    title="OpenAI Agents SDK sessions",
    recognise=_recognise,
    entries=_entries,
    write=_draft,
    is_plain=lambda source: not source.tables,
    verified=True,
    source="openai-agents 0.24.0, run on 2026-11-18",
)
