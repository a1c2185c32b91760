"""Readable transcripts of Cursor (``agent-transcripts/*.jsonl``): one message on each line, in Anthropic's blocks.

Calls have no ids: they are numbered, and results belong to calls in their order. There is no usage, no model and no
stop reason. What the user typed is in ``<user_query>``.
"""

from collections.abc import Iterable

from .building import Conversation
from .entries import below, rows_format
from .origins import ANTHROPIC
from .reading import object_in, objects, text_of
from .source import Object

_OPEN, _CLOSE = "<user_query>", "</user_query>"


def is_own(rows: list[Object]) -> bool:
    own = [row for row in rows if row.get("role") in ("user", "assistant") and "content" in object_in(row, "message")]
    return bool(own) and not any("uuid" in row or "type" in row or "id" in row for row in own)


def read(conversation: Conversation, rows: Iterable[tuple[int, Object]]) -> None:
    count, unanswered = 0, list[str]()
    for line, row in rows:
        conversation.at(line)
        blocks = []
        for block in objects(object_in(row, "message").get("content")):
            kind = block.get("type")
            if kind == "tool_use":
                count += 1
                block = block | {"id": text_of(block.get("id")) or f"call_{count}"}
                unanswered.append(block["id"])
            elif kind == "tool_result" and text_of(block.get("tool_use_id")) not in unanswered and unanswered:
                block = block | {"tool_use_id": unanswered.pop(0)}
            elif kind == "text":
                text = text_of(block.get("text")).strip()
                if text.startswith(_OPEN) and text.endswith(_CLOSE):
                    block = block | {"text": text.removeprefix(_OPEN).removesuffix(_CLOSE).strip()}
            blocks.append(block)
        if blocks and "role" in row:
            conversation.ingest({"role": row.get("role"), "content": blocks}, ANTHROPIC)
        else:
            conversation.unknown(row, ("turn_ended",))


FORMAT = rows_format(
    name="cursor",
    title="Cursor transcripts",
    recognise=is_own,
    read=read,
    find=below("~/.cursor/projects", "*/agent-transcripts/*/*.jsonl", "*/agent-transcripts/*.jsonl"),
    verified=True,
    source="files of 2026",
)
