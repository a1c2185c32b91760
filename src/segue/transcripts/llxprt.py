"""Sessions of llxprt-code: one event on each line. Source: vybestack/llxprt-code, 2026-08; not tried on a real file."""

from collections.abc import Iterable
from typing import Any

from ..types import AssistantContent, ProviderContent, TextContent, ThinkingContent, UserContent, UserMessage
from .building import Conversation, media, tokens
from .entries import below, rows_format
from .reading import as_text, object_in, objects_in, text_in, text_of
from .source import Object
from .values import Compaction

NAME = "llxprt"
_KINDS = frozenset(
    {"session_start", "content", "compressed", "rewind", "provider_switch", "session_forked", "session_named",
     "checkpoint_created", "checkpoint_restored", "directories_changed", "session_event"}
)  # fmt: skip


def is_own(rows: list[Object]) -> bool:
    return any("seq" in row and "payload" in row and text_of(row.get("type")) in _KINDS for row in rows)


def head(rows: list[Object]) -> Object:
    start = next((object_in(row, "payload") for row in rows if row.get("type") == "session_start"), {})
    return {
        "id": text_in(start, "sessionId", "id"),
        "cwd": text_in(start, "cwd", "workspaceDir"),
        "version": text_in(start, "version"),
    }


def read(conversation: Conversation, rows: Iterable[tuple[int, Object]]) -> None:
    starts: list[int] = []  # where each content begins in the log
    for line, row in rows:
        conversation.at(line)
        conversation.saw(row.get("ts"))
        kind, payload = text_of(row.get("type")), object_in(row, "payload")
        if kind == "content":
            starts.append(len(conversation.log))
            _content(conversation, object_in(payload, "content"))
        elif kind == "compressed":
            _compress(conversation, payload, starts)
        elif kind == "rewind":
            _rewind(conversation, payload.get("itemsRemoved"), starts)
        elif kind in ("provider_switch", "session_start"):
            conversation.set_origin(text_in(payload, "to", "provider"), text_in(payload, "model"))
        else:
            conversation.unknown(row, _KINDS)


def _compress(conversation: Conversation, payload: Object, starts: list[int]) -> None:
    summary = payload.get("summary")
    blocks = _blocks(conversation, object_in(payload, "summary")) if isinstance(summary, dict) else []
    text = as_text(summary) if not blocks else "\n".join(each.text for each in blocks if isinstance(each, TextContent))
    gone = payload.get("itemsCompressed")
    count = gone if isinstance(gone, int) and 0 <= gone < len(starts) else len(starts)
    kept = len(conversation.log) - starts[count] if count < len(starts) else 0
    conversation.log.append(Compaction((UserMessage(text, injected=True),), kept))


def _rewind(conversation: Conversation, count: Any, starts: list[int]) -> None:
    if not isinstance(count, int) or not 0 < count <= len(starts):
        conversation.remark("row-incomplete", "a step back that cannot be followed")
        return
    left = Conversation(NAME)
    left.log = [*conversation.log]
    del conversation.log[starts[-count] :]
    del starts[-count:]
    conversation.add_branch(f"rewound-{len(conversation.branches) + 1}", left)


def _content(conversation: Conversation, content: Object) -> None:
    speaker, metadata = content.get("speaker"), object_in(content, "metadata")
    if speaker == "human":
        conversation.add_user([each for each in _blocks(conversation, content) if isinstance(each, UserContent)])
    elif speaker == "ai":
        conversation.set_origin(metadata.get("provider"), metadata.get("model"))
        usage = object_in(metadata, "usage")
        conversation.add_answer(
            [each for each in _blocks(conversation, content) if isinstance(each, AssistantContent)],
            time=metadata.get("timestamp"),
            usage=tokens(usage.get("promptTokens"), usage.get("completionTokens")),
        )
    elif speaker == "tool":
        for block in objects_in(content, "blocks"):
            if block.get("type") == "tool_response":
                error = block.get("error")
                found = as_text(error if error and block.get("result") is None else block.get("result"))
                conversation.add_result(block.get("callId"), found, bool(error), block.get("toolName"))
    else:
        conversation.remark("row-incomplete", "a content without a speaker")


def _blocks(conversation: Conversation, content: Object) -> list[Any]:
    found: list[Any] = []
    for block in objects_in(content, "blocks"):
        kind = text_of(block.get("type"))
        read: Any = None
        if kind in ("text", "code"):
            read = TextContent(text_in(block, "text", "code") or "")
        elif kind == "thinking":
            read = ThinkingContent(text_in(block, "thought") or "", text_in(block, "signature", "encryptedContent"))
        elif kind == "tool_call":
            read = conversation.call(block.get("id"), block.get("name"), block.get("parameters"))
        elif kind == "media":
            address = block.get("encoding") == "url"
            data = block.get("data")
            read = media(block.get("mimeType"), None if address else data, data if address else None)
        if read is None or isinstance(read, ProviderContent):
            conversation.remark("block-unknown", "a block of an unknown type")
        else:
            found.append(read)
    return found


FORMAT = rows_format(
    name=NAME,
    title="llxprt-code",
    recognise=is_own,
    head=head,
    read=read,
    find=below("~/.llxprt/tmp", "*/chats/*.jsonl"),
    source="vybestack/llxprt-code, 2026-08",
)
