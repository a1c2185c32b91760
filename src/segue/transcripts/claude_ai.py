"""Exports of Claude.ai (``conversations.json``). A call, its result and later text may share one message: it is divided
there. Bytes of files and signatures are not in the export. Not tried on a real file."""

from collections.abc import Iterator
from typing import Any

from ..types import AssistantContent, TextContent
from .anthropic_blocks import answer_blocks, result_blocks
from .building import Conversation
from .entries import Entry, entries_format
from .origins import ANTHROPIC, Origin
from .reading import mostly, objects, objects_in, text_in, text_of, unix_ms
from .source import Object, Source

NAME = "claude-ai"


def is_own(document: Any) -> bool:
    items = [document] if isinstance(document, dict) else document
    return mostly(items, lambda each: isinstance(each.get("chat_messages"), list))


def _entries(source: Source) -> Iterator[Entry]:
    document = source.document
    for item in objects([document] if isinstance(document, dict) else document):
        yield Entry(
            read=lambda item=item: _read(item),  # type: ignore[misc] # a bound default
            id=text_in(item, "uuid"),
            title=text_in(item, "name"),
            started=unix_ms(item.get("created_at")),
            updated=unix_ms(item.get("updated_at")),
        )


def _read(item: Object) -> Conversation:
    messages = objects_in(item, "chat_messages")
    conversation = _follow(messages, _path(messages, len(messages) - 1))
    parents = {text_of(each.get("parent_message_uuid")) for each in messages}
    for at, message in enumerate(messages[:-1]):
        name = text_of(message.get("uuid"))
        if text_of(message.get("parent_message_uuid")) and name and name not in parents:
            conversation.add_branch(name, _follow(messages, _path(messages, at)))
    return conversation


def _path(messages: list[Object], leaf: int) -> list[int]:
    """The messages up to a leaf: those before it, without the ones that are on other branches."""
    places = {text_of(each.get("uuid")): at for at, each in enumerate(messages)}
    if not any(text_of(each.get("parent_message_uuid")) in places for each in messages):
        return [*range(leaf + 1)]
    path: list[int] = []
    at: int | None = leaf
    while at is not None and at >= 0 and at not in path:
        path.append(at)
        at = places.get(text_of(messages[at].get("parent_message_uuid")))
    return path[::-1]


def _follow(messages: list[Object], path: list[int]) -> Conversation:
    conversation = Conversation(NAME)
    conversation.origin = Origin(ANTHROPIC, "anthropic")
    for at in path:
        message = messages[at]
        conversation.at(where=f"chat_messages[{at}]")
        conversation.saw(message.get("created_at"))
        if message.get("sender") == "assistant":
            _answer(conversation, message)
        elif message.get("sender") == "human":
            _user(conversation, message)
        else:
            conversation.remark("row-unknown", "a message of an unknown sender")
    return conversation


def _user(conversation: Conversation, message: Object) -> None:
    texts = [text_of(each.get("text")) for each in objects_in(message, "content")]
    found = [TextContent(text) for text in texts if text] or [TextContent(text_of(message.get("text")))]
    for each in objects_in(message, "attachments"):
        name, text = text_in(each, "file_name") or "attachment", text_of(each.get("extracted_content"))
        found.append(TextContent(f"[File {name}]\n{text}"))
    for _ in objects_in(message, "files"):
        conversation.remark("file-missing", "a file whose bytes are not in the export")
    conversation.add_user(found)


def _answer(conversation: Conversation, message: Object) -> None:
    blocks: list[AssistantContent] = []
    content = objects_in(message, "content") or [{"type": "text", "text": text_of(message.get("text"))}]
    time, count = message.get("created_at"), 0
    calls: list[str] = []
    for block in content:
        if block.get("type") == "tool_result":
            conversation.add_answer(blocks, time=time)
            blocks = []
            call = text_of(block.get("tool_use_id")) or (calls.pop(0) if calls else "")
            content_ = result_blocks(block.get("content"), conversation.remark)
            conversation.add_result(call, content_, block.get("is_error") is True, block.get("name"))
            continue
        if block.get("type") == "tool_use":
            count += 1
            block = block | {"id": text_of(block.get("id")) or f"{text_of(message.get('uuid'))}_{count}"}
            calls.append(block["id"])
        if block.get("type") != "token_budget":
            blocks += answer_blocks([block], conversation.remark)
    conversation.add_answer(blocks, time=time)


FORMAT = entries_format(
    name=NAME,
    title="Claude.ai exports",
    recognise=lambda source: is_own(source.document),
    entries=_entries,
    source="notes of others",
)
