"""Sessions of Goose: the database ``sessions.db`` (schema 9), and older JSONL files whose first line is metadata.

Messages with ``agentVisible: false`` were replaced by a summary. Source: block/goose, 2026; not tried on a real file.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from ..types import AssistantContent, ProviderContent, TextContent, ThinkingContent, UserContent
from .building import Conversation, media
from .entries import Entry, below, entries_format
from .reading import as_text, json_rows, object_in, objects, text_in, text_of, unix_ms
from .source import Object, Source, read_cell
from .values import Compaction, Report, seen

NAME = "goose"
_KINDS = frozenset({"toolRequest", "toolResponse", "text", "thinking", "image", "redactedThinking"})


def _recognise(source: Source) -> bool:
    if source.tables:
        return {"sessions", "messages"} <= source.tables and "content_json" in source.columns("messages")
    return any(
        text_of(block.get("type")) in _KINDS and "created" in row and "role" in row
        for row in source.rows
        for block in objects(row.get("content"))
    )


def _entries(source: Source) -> list[Entry]:
    if not source.tables:
        meta = next((row for row in source.rows if "role" not in row), {})
        title, cwd = text_in(meta, "description"), text_in(meta, "working_dir")
        return [Entry(read=lambda: _read_lines(source), title=title, cwd=cwd, form="JSONL")]
    return [_entry(source, row) for row in source.records("SELECT * FROM sessions")]


def _entry(source: Source, row: Object) -> Entry:
    config = read_cell(row.get("model_config_json"))
    model = text_in(config, "model_name", "model")
    return Entry(
        read=lambda: _read(_messages(source, row.get("id")), text_in(row, "provider_name"), model),
        id=str(row.get("id")),
        title=text_in(row, "name", "description"),
        cwd=text_in(row, "working_dir"),
        model=model,
        started=unix_ms(row.get("created_at")),
        updated=unix_ms(row.get("updated_at")),
        form="SQLite",
    )


_MESSAGES = "SELECT * FROM messages WHERE session_id = ? ORDER BY created_timestamp, rowid"


def _messages(source: Source, session: Any) -> Iterator[tuple[int | None, str, Object]]:
    for at, row in enumerate(source.records(_MESSAGES, session)):
        content, metadata = read_cell(row.get("content_json")), read_cell(row.get("metadata_json"))
        times = {"created": row.get("created_timestamp")}
        yield None, f"message {at}", {"role": row.get("role"), "content": content, "metadata": metadata} | times


def _read_lines(source: Source) -> Conversation:
    report = Report()
    return _read(((line, "", row) for line, row in json_rows(source, report) if "role" in row), report=report)


def _read(
    messages: Iterable[tuple[int | None, str, Object]],
    provider: str | None = None,
    model: str | None = None,
    report: Report | None = None,
) -> Conversation:
    conversation = Conversation(NAME, report)
    conversation.set_origin(provider, model)
    visible: list[Any] = []
    hidden = 0
    for line, where, row in messages:
        conversation.at(line, where)
        start = len(conversation.log)
        _message(conversation, row)
        if object_in(row, "metadata").get("agentVisible") is False:
            hidden += 1
        else:
            visible += conversation.log[start:]
    if hidden:
        conversation.log.append(Compaction(tuple(seen(visible))))
    return conversation


def _message(conversation: Conversation, row: Object) -> None:
    content = objects(row.get("content"))
    if not content:
        conversation.remark("row-incomplete", "a message without content")
    shown: list[UserContent] = []
    blocks: list[AssistantContent] = []
    for block in content:
        if block.get("type") == "toolResponse":
            _result(conversation, block)
        elif row.get("role") == "assistant":
            blocks += _answer(conversation, block)
        else:
            shown += _shown(conversation, block)
    conversation.add_answer(blocks, time=row.get("created"))
    conversation.add_user(shown, injected=object_in(row, "metadata").get("userVisible") is False)


def _result(conversation: Conversation, block: Object) -> None:
    result = object_in(block, "toolResult")
    value = result.get("value")
    pieces = objects(value.get("content") if isinstance(value, dict) else value)
    content = [found for piece in pieces for found in _shown(conversation, piece)]
    failed = result.get("status") == "error" or (isinstance(value, dict) and value.get("isError") is True)
    conversation.add_result(block.get("id"), content or text_in(result, "error") or as_text(value), failed)


def _answer(conversation: Conversation, block: Object) -> list[AssistantContent]:
    kind = block.get("type")
    if kind == "toolRequest":
        call = object_in(object_in(block, "toolCall"), "value")
        return [conversation.call(block.get("id"), call.get("name"), call.get("arguments"))]
    if kind == "thinking":
        return [ThinkingContent(text_in(block, "thinking") or "", text_in(block, "signature"))]
    if kind == "redactedThinking":
        return [ThinkingContent("", text_in(block, "data"), redacted=True)]
    return [each for each in _shown(conversation, block) if isinstance(each, TextContent | ProviderContent)]


def _shown(conversation: Conversation, block: Object) -> list[UserContent]:
    resource = object_in(block, "resource")
    found = media(
        text_in(block, "mimeType") or text_in(resource, "mimeType"), block.get("data") or resource.get("blob")
    )
    text = text_in(block, "text") or text_in(resource, "text")
    if text:
        return [TextContent(text)]
    if found is None:
        conversation.remark("block-left-out", "a block of another type")
    return [] if found is None else [found]


FORMAT = entries_format(
    name=NAME,
    title="Goose",
    recognise=_recognise,
    entries=_entries,
    find=below("~/.local/share/goose/sessions", "sessions.db"),
    source="block/goose, 2026",
)
