"""Exports of ChatGPT (``conversations.json``, also inside the zip file): trees of messages.

What is shown ends at ``current_node``; other leaves are branches. Messages with weight 0 and hidden ones are not shown.
Bytes of images are not in the JSON. Not tried on a real file.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from ..types import AssistantContent, TextContent, ThinkingContent
from .building import Conversation
from .entries import Entry, entries_format
from .reading import as_text, mostly, object_in, objects, text_in, text_of, unix_ms
from .source import Object, Source, read_line

NAME = "chatgpt"


def is_own(document: Any) -> bool:
    items = [document] if isinstance(document, dict) else document
    return mostly(items, lambda each: isinstance(each.get("mapping"), dict) and "current_node" in each)


def _recognise(source: Source) -> bool:
    return is_own(source.document) or any(is_own(each) for each in _members(source))


def _members(source: Source) -> Iterator[Any]:
    """The documents of an export that is a zip file."""
    names = sorted(name for name in source.members if name.rpartition("/")[2].startswith("conversations"))
    if not names or source.is_directory:
        return
    for name in names:
        yield source.member(name)


def _entries(source: Source) -> Iterator[Entry]:
    documents = [source.document] if source.document is not None else _members(source)
    for document in documents:
        for item in objects([document] if isinstance(document, dict) else document):
            yield Entry(
                read=lambda item=item: _read(item),  # type: ignore[misc] # a bound default
                id=text_in(item, "conversation_id", "id"),
                title=text_in(item, "title"),
                model=text_in(item, "default_model_slug"),
                started=unix_ms(item.get("create_time")),
                updated=unix_ms(item.get("update_time")),
            )


def _read(item: Object) -> Conversation:
    nodes = object_in(item, "mapping")
    current = text_of(item.get("current_node"))
    conversation = Conversation(NAME)
    _follow(conversation, _path(nodes, current, conversation))
    on_path = {id(node) for node in _path(nodes, current, Conversation(NAME))}
    for name, node in nodes.items():
        if isinstance(node, dict) and not node.get("children") and id(node) not in on_path:
            other = Conversation(NAME)
            _follow(other, _path(nodes, name, other))
            conversation.add_branch(name, other)
    return conversation


def _path(nodes: Object, leaf: str, conversation: Conversation) -> list[Object]:
    """The nodes from the root to a leaf. The last node is the leaf if it does not exist."""
    path: list[Object] = []
    name: Any = leaf if leaf in nodes else next(reversed(nodes), "")
    seen: set[str] = set()
    while isinstance(name, str) and name and name not in seen:
        seen.add(name)
        node = nodes.get(name)
        if not isinstance(node, dict):
            conversation.at(where=name)
            conversation.remark("parent-missing", "the message before this one is missing")
            break
        path.append(node)
        name = node.get("parent")
    return path[::-1]


def _follow(conversation: Conversation, path: Iterable[Object]) -> None:
    for node in path:
        message = object_in(node, "message")
        conversation.at(where=text_in(node, "id") or "")
        if message:
            _message(conversation, message)


def _message(conversation: Conversation, message: Object) -> None:
    author, content, metadata = (object_in(message, name) for name in ("author", "content", "metadata"))
    role, kind = text_of(author.get("role")), text_of(content.get("content_type"))
    hidden = metadata.get("is_visually_hidden_from_conversation") is True or message.get("weight") == 0
    if hidden and kind != "user_editable_context":
        conversation.remark("row-left-out", "a message that is not shown")
        return
    text = _text(conversation, content)
    if kind == "user_editable_context" or role == "system":
        conversation.add_system(text)
    elif role == "user":
        conversation.add_user(text)
    elif role == "tool":
        call = text_in(message, "id") or ""
        conversation.add_result(conversation.last_call or call, text, name=author.get("name"))
    elif role == "assistant":
        conversation.set_origin("openai", metadata.get("model_slug"), "")
        time = message.get("create_time")
        conversation.add_answer(_blocks(conversation, message, kind, text), time=time)
    else:
        conversation.remark("row-unknown", "a message of an unknown role")


def _blocks(conversation: Conversation, message: Object, kind: str, text: str) -> list[AssistantContent]:
    recipient = text_in(message, "recipient") or "all"
    if kind == "thoughts":
        thoughts = objects(object_in(message, "content").get("thoughts"))
        return [ThinkingContent(text_in(each, "content", "summary") or "") for each in thoughts]
    if kind == "reasoning_recap":
        conversation.remark("block-left-out", "a note about how long the model thought")
        return []
    if recipient == "all":
        return [TextContent(text)]
    value = read_line(text.encode("utf-8", "replace"))
    return [conversation.call(text_in(message, "id"), recipient, value if isinstance(value, dict) else {"input": text})]


def _text(conversation: Conversation, content: Object) -> str:
    parts = content.get("parts")
    if isinstance(parts, list):
        if any(isinstance(part, dict) and "text" not in part for part in parts):
            conversation.remark("file-missing", "an image or a file whose bytes are not in the export")
        texts = [part if isinstance(part, str) else text_in(part, "text") or "" for part in parts]
        return "\n".join(text for text in texts if text)
    names = ("text", "result", "user_profile", "user_instructions", "content")
    return "\n\n".join(as_text(content[name]) for name in names if content.get(name))


FORMAT = entries_format(
    name=NAME,
    title="ChatGPT exports",
    recognise=_recognise,
    entries=_entries,
    source="notes of others",
)
