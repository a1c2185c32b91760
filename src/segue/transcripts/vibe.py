"""Sessions of Mistral Vibe: ``messages.jsonl`` in the form of chat completions, with ``meta.json`` beside it.

The system prompt and the tools are in ``meta.json``. Source: mistral-vibe 3.0.3 (2026-11-18, ``vibe/core/types.py``),
which reads such sessions of earlier versions and keeps its own in another store. Not tried on a real file.
"""

from pathlib import Path

from ..types import FileContent, ImageContent, ThinkingContent, UserMessage
from .building import Conversation, media
from .entries import Entry, below, entries_format
from .origins import CHAT
from .reading import json_rows, object_in, object_of, objects, text_in, text_of, unix_ms
from .source import Object, Source, read_line
from .values import Compaction

NAME = "mistral-vibe"
_MESSAGES, _META = "messages.jsonl", "meta.json"
_ROLES = ("system", "user", "assistant", "tool")


def _recognise(source: Source) -> bool:
    if source.is_directory:
        return {_MESSAGES, _META} <= source.members
    return any(row.get("role") in _ROLES and "message_id" in row for row in source.rows)


def _entries(source: Source) -> list[Entry]:
    file = Source(source.path / _MESSAGES) if source.is_directory else source
    meta = _meta(file.path.parent / _META)
    git = object_in(meta, "environment") or meta
    return [
        Entry(
            read=lambda: _read(file, meta),
            id=text_in(meta, "session_id", "id"),
            title=text_in(meta, "title"),
            cwd=text_in(git, "working_directory", "cwd"),
            started=unix_ms(meta.get("start_time")),
            updated=unix_ms(meta.get("end_time")),
        )
    ]


def _meta(path: Path) -> Object:
    return object_of(read_line(path.read_bytes())) if path.is_file() else {}


def _read(file: Source, meta: Object) -> Conversation:
    conversation = Conversation(NAME)
    conversation.set_origin("mistral", text_in(meta, "model", "active_model"))
    prompt = meta.get("system_prompt")
    conversation.add_system(prompt if isinstance(prompt, str) else text_of(object_of(prompt).get("content")))
    conversation.add_tools(meta.get("tools") or meta.get("tools_available"))
    for line, row in json_rows(file, conversation.report):
        conversation.at(line)
        if row.get("role") in _ROLES:
            _add(conversation, row)
        else:
            conversation.unknown(row)
    return conversation


def _add(conversation: Conversation, row: Object) -> None:
    if row.get("context_boundary") == "compaction":
        conversation.log.append(Compaction((UserMessage(text_of(row.get("content")), injected=True),)))
        return
    if row.get("tool_result"):
        conversation.remark("copy-left-out", "a copy of a result in the tool's own form")
    if row.get("reasoning_payloads"):
        conversation.remark("block-left-out", "reasoning in the form of its provider; its text is kept")
    if row.get("role") == "user" and row.get("injected") is True:
        conversation.add_user(text_of(row.get("content")), injected=True)
        return
    plain = {name: value for name, value in row.items() if name not in ("reasoning_content", "images")}
    thought = text_in(row, "reasoning_content")
    if thought and row.get("role") == "assistant":
        held = Conversation(NAME, conversation.report)
        held.origin = conversation.origin
        held.ingest(plain, CHAT)
        content = held.log[-1].content if held.log else []  # type: ignore[union-attr] # there are no compactions
        conversation.add_answer([ThinkingContent(thought, text_in(row, "reasoning_signature")), *content])
        return
    conversation.ingest(plain, CHAT)
    images = [_image(each) for each in objects(row.get("images"))]
    if None in images:
        conversation.remark("file-missing", "an image in a file of its own, which is not read")
    found = [each for each in images if each is not None]
    if found:
        conversation.add_user(found)


def _image(value: Object) -> ImageContent | FileContent | None:
    """An image; earlier versions have no ``source`` around its data."""
    source = object_in(value, "source") or value
    return media(value.get("mime_type"), source.get("data"), source.get("url"))


FORMAT = entries_format(
    name=NAME,
    title="Mistral Vibe",
    recognise=_recognise,
    entries=_entries,
    find=below("~/.vibe/logs/session", "session_*/messages.jsonl"),
    source="the source of mistral-vibe 3.0.3, which reads sessions before 3.0",
)
