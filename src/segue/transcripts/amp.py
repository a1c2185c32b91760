"""Threads of Amp as it stored them until early 2026 (``threads/T-*.json``): Anthropic's blocks, with results of its own
form. Newer threads are only on its servers."""

from typing import Any

from .building import Conversation, tokens
from .entries import Entry, below, entries_format
from .origins import ANTHROPIC
from .reading import as_text, object_in, objects, objects_in, text_in, text_of, unix_ms
from .source import Object, Source

NAME = "amp"


def is_own(document: Any) -> bool:
    messages = objects(document.get("messages")) if isinstance(document, dict) else []
    return bool(messages) and ("usageLedger" in document or any("messageId" in each for each in messages[:5]))


def _read(document: Object) -> Conversation:
    conversation = Conversation(NAME)
    conversation.set_origin("anthropic")
    for at, message in enumerate(objects_in(document, "messages")):
        conversation.at(where=f"messages[{at}]")
        usage, state = object_in(message, "usage"), object_in(message, "state")
        conversation.set_origin(model=usage.get("model"))
        counts = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
        blocks = [found for block in objects(message.get("content")) for found in _block(conversation, block)]
        conversation.ingest(
            {"role": message.get("role"), "content": blocks},
            ANTHROPIC,
            stop=state.get("stopReason") or ("aborted" if state.get("type") == "cancelled" else None),
            usage=tokens(*(usage.get(name) for name in counts)),
            time=object_in(message, "meta").get("sentAt"),
        )
    return conversation


def _block(conversation: Conversation, block: Object) -> list[Object]:
    """The block in Anthropic's form; nothing if it has none."""
    kind = block.get("type")
    if kind == "tool_use" and not (text_of(block.get("id")) and text_of(block.get("name"))):
        conversation.remark("block-left-out", "a call without an id or a name")
        return []
    if kind == "tool_result":
        run = object_in(block, "run")
        done = run.get("status") == "done"
        shown = run.get("result") if done else run.get("error") or run.get("status")
        text = shown if isinstance(shown, str) else text_in(shown, "message", "output") or as_text(shown)
        found = {"type": kind, "tool_use_id": text_in(block, "toolUseID", "tool_use_id") or "", "is_error": not done}
        return [found | {"content": text if run else block.get("content")}]
    if kind in ("text", "thinking", "redacted_thinking", "tool_use", "image", "document"):
        return [block]
    conversation.remark("block-unknown", "a block of an unknown type")
    return []


def _entries(source: Source) -> list[Entry]:
    document = source.document
    return [
        Entry(
            read=lambda: _read(document),
            id=text_in(document, "id"),
            title=text_in(document, "title"),
            started=unix_ms(document.get("created")),
            cwd=_folder(document),
        )
    ]


def _folder(document: Object) -> str | None:
    trees = objects_in(object_in(object_in(document, "env"), "initial"), "trees")
    return (text_in(trees[0], "uri") or "").removeprefix("file://") or None if trees else None


FORMAT = entries_format(
    name=NAME,
    title="Amp threads",
    recognise=lambda source: is_own(source.document),
    entries=_entries,
    find=below("~/.local/share/amp/threads", "T-*.json"),
    source="notes of others; hand-made files",
)
