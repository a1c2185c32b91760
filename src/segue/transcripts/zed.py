"""Agent threads of Zed: the database ``threads.db`` with one JSON document (version 0.3.0) for each thread, which may
be compressed with zstd. Source: zed-industries/zed, 2026; not tried on a real file."""

import io
from typing import Any

from ..errors import FormatError
from ..types import AssistantContent, TextContent, ThinkingContent, UserContent, UserMessage
from .building import Conversation, media
from .entries import Entry, below, entries_format
from .reading import as_text, object_in, object_of, objects, text_in, text_of, unix_ms
from .source import Object, Source, decompressed, read_line
from .values import Compaction

NAME = "zed"


def _recognise(source: Source) -> bool:
    return "threads" in source.tables and {"data", "data_type"} <= source.columns("threads")


def _entries(source: Source) -> list[Entry]:
    found = source.records("SELECT * FROM threads")
    mains = [row for row in found if not row.get("parent_id")]
    return [
        Entry(
            read=lambda row=row: _family(row, found),  # type: ignore[misc] # a bound default
            id=str(row.get("id")),
            title=text_in(row, "summary"),
            updated=unix_ms(row.get("updated_at")),
            cwd=(text_in(row, "folder_paths") or "").partition("\n")[0] or None,
        )
        for row in mains
    ]


def _family(row: Object, others: list[Object]) -> Conversation:
    conversation = _read(row)
    for other in others:
        if other.get("parent_id") == row.get("id"):
            conversation.add_branch(str(other.get("id")), _read(other), "subagent", title=text_in(other, "summary"))
    return conversation


def _read(row: Object) -> Conversation:
    conversation = Conversation(NAME)
    data = row.get("data")
    data = data.encode("utf-8", "replace") if isinstance(data, str) else data if isinstance(data, bytes) else b""
    if row.get("data_type") == "zstd":
        data = _plain(data)
    thread = object_of(read_line(data))
    if not thread:
        conversation.remark("line-unreadable", "a thread that is not JSON")
    model = object_in(thread, "model")
    conversation.set_origin(text_in(model, "provider"), text_in(model, "model"))
    messages = thread.get("messages")
    for at, message in enumerate(messages if isinstance(messages, list) else ()):
        conversation.at(where=f"messages[{at}]")
        _message(conversation, message)
    return conversation


def _plain(data: bytes) -> bytes:
    try:
        with decompressed(io.BytesIO(data)) as file:
            return file.read()
    except FormatError:
        return b""


def _message(conversation: Conversation, message: Any) -> None:
    """A message is an object with one key: who speaks."""
    kind, value = next(iter(message.items()), ("", {})) if isinstance(message, dict) else (message, {})
    fields = object_of(value)
    if kind == "User":
        pieces = objects(fields.get("content"))
        conversation.add_user([found for piece in pieces for found in _shown(conversation, piece)])
    elif kind == "Agent":
        blocks = [found for piece in objects(fields.get("content")) for found in _block(conversation, piece)]
        conversation.add_answer(blocks)
        for call, result in object_in(fields, "tool_results").items():
            _result(conversation, call, object_of(result))
    elif kind == "Compaction":
        text = text_in(fields, "summary", "text") or as_text(value)
        conversation.log.append(Compaction((UserMessage(text, injected=True),)))
    else:
        conversation.remark("row-left-out" if kind == "Resume" else "row-unknown", "a message that is not sent")


def _shown(conversation: Conversation, piece: Object) -> list[UserContent]:
    kind, value = next(iter(piece.items()), ("", None))
    fields = object_of(value)
    if kind == "Text":
        return [TextContent(text_of(value))]
    if kind == "Mention":
        return [TextContent(text_of(fields.get("content")) or as_text(fields.get("uri")))]
    image = media("image/png", fields.get("source")) if kind == "Image" else None
    if image is None:
        conversation.remark("block-left-out", "a piece of another kind")
    return [] if image is None else [image]


def _block(conversation: Conversation, piece: Object) -> list[AssistantContent]:
    kind, value = next(iter(piece.items()), ("", None))
    fields = object_of(value)
    if kind == "Text":
        return [TextContent(text_of(value))]
    if kind == "Thinking":
        return [ThinkingContent(text_in(fields, "text") or "", text_in(fields, "signature"))]
    if kind == "RedactedThinking":
        return [ThinkingContent("", text_of(value) or text_in(fields, "data"), redacted=True)]
    if kind == "ToolUse":
        given = fields.get("input") if isinstance(fields.get("input"), dict) else fields.get("raw_input")
        return [conversation.call(fields.get("id"), fields.get("name"), given, text_in(fields, "thought_signature"))]
    conversation.remark("block-unknown", "a block of an unknown kind")
    return []


def _result(conversation: Conversation, call: str, result: Object) -> None:
    content = result.get("content")
    pieces = content if isinstance(content, list) else [content]
    found = [
        block
        for piece in pieces
        for block in (_shown(conversation, piece) if isinstance(piece, dict) else [TextContent(as_text(piece))])
    ]
    conversation.add_result(call, found, result.get("is_error") is True, result.get("tool_name"))


FORMAT = entries_format(
    name=NAME,
    title="Zed agent threads",
    recognise=_recognise,
    entries=_entries,
    find=below("~/.local/share/zed/threads", "threads.db"),
    source="zed-industries/zed, 2026",
)
