"""Sessions of Crush: the database ``.crush/crush.db`` of a project. What is sent begins at ``summary_message_id``.

Source: charmbracelet/crush, 2026; not tried on a real file.
"""

from typing import Any

from ..types import AssistantContent, ProviderContent, TextContent, ThinkingContent, UserContent
from .building import Conversation, media
from .entries import Entry, below, entries_format
from .reading import as_text, object_in, objects, text_in, text_of, unix_ms
from .source import Object, Source, read_cell
from .values import Compaction

NAME = "crush"
_MESSAGES = "SELECT * FROM messages WHERE session_id = ? ORDER BY created_at, rowid"


def _recognise(source: Source) -> bool:
    if not {"sessions", "messages", "files"} <= source.tables:
        return False
    return "parts" in source.columns("messages")


def _entries(source: Source) -> list[Entry]:
    families: dict[Any, list[Object]] = {}
    for row in source.records("SELECT * FROM sessions"):
        families.setdefault(row.get("parent_session_id") or None, []).append(row)
    return [_entry(source, row, families.get(row.get("id"), [])) for row in families.get(None, [])]


def _entry(source: Source, row: Object, children: list[Object]) -> Entry:
    return Entry(
        read=lambda: _read_family(source, row, children),
        id=str(row.get("id")),
        title=text_in(row, "title"),
        cwd=str(source.path.resolve().parent.parent),
        started=unix_ms(row.get("created_at")),
        updated=unix_ms(row.get("updated_at")),
    )


def _read_family(source: Source, row: Object, children: list[Object]) -> Conversation:
    conversation = _read(source, row)
    for child in children:
        name = str(child.get("id"))
        conversation.add_branch(name, _read(source, child), "subagent", title=text_in(child, "title"))
    return conversation


def _read(source: Source, session: Object) -> Conversation:
    conversation = Conversation(NAME)
    for row in source.records(_MESSAGES, session.get("id")):
        conversation.at(where=f"message {row.get('id')}")
        if row.get("id") == session.get("summary_message_id"):
            conversation.log.append(Compaction(()))
        parts = objects(read_cell(row.get("parts")))
        if row.get("parts") and not parts:
            conversation.remark("line-unreadable", "parts that are not JSON")
        conversation.set_origin(text_in(row, "provider"), text_in(row, "model"))
        _message(conversation, row, parts)
    return conversation


def _message(conversation: Conversation, row: Object, parts: list[Object]) -> None:
    shown: list[UserContent] = []
    blocks: list[AssistantContent] = []
    stop: Any = None
    for part in parts:
        kind, data = text_of(part.get("type")), object_in(part, "data")
        if kind == "finish":
            stop = data.get("reason")
        elif kind == "tool_result":
            image = media(data.get("mime_type"), data.get("data"))
            content = [TextContent(as_text(data.get("content"))), *([image] if image else [])]
            conversation.add_result(data.get("tool_call_id"), content, data.get("is_error") is True, data.get("name"))
        elif kind == "text":
            text = TextContent(text_of(data.get("text")))
            shown.append(text)
            blocks.append(text)
        elif kind == "reasoning":
            signature = text_in(data, "signature", "thought_signature")
            blocks.append(ThinkingContent(text_in(data, "thinking") or "", signature))
        elif kind == "tool_call" and data.get("provider_executed") is not True:
            blocks.append(conversation.call(data.get("id"), data.get("name"), data.get("input")))
        elif kind == "tool_call":
            blocks.append(ProviderContent(part, kind, text_of(data.get("name"))))
        elif kind in ("binary", "image_url"):
            mime_type, address = text_in(data, "mime_type", "MIMEType"), text_in(data, "url", "URL")
            found = media(mime_type, text_in(data, "data", "Data"), address)
            shown += [found] if found else []
        else:
            conversation.remark("block-left-out", "a part of another type")
    if row.get("role") == "assistant":
        conversation.add_answer(blocks, stop=stop, time=row.get("created_at"))
    elif row.get("role") == "user":
        conversation.add_user(shown)


FORMAT = entries_format(
    name=NAME,
    title="Crush",
    recognise=_recognise,
    entries=_entries,
    find=below(".", ".crush/crush.db"),
    source="charmbracelet/crush, 2026",
)
