"""Sessions of Continue (``~/.continue/sessions/*.json``). Thinking is a message of its own before the answer; context
items were sent before the text of the user. Source: continuedev/continue, 2026; not tried on a real file."""

from typing import Any

from ..types import AssistantMessage, ThinkingContent, UserMessage
from .building import Conversation
from .entries import Entry, below, entries_format
from .origins import CHAT
from .reading import as_text, object_in, objects, objects_in, text_in, text_of
from .source import Object, Source
from .values import Compaction

NAME = "continue"


def is_own(document: Any) -> bool:
    history = objects(document.get("history")) if isinstance(document, dict) else []
    return any("message" in item for item in history) and ("sessionId" in document or "workspaceDirectory" in document)


def _entries(source: Source) -> list[Entry]:
    document = source.document
    return [
        Entry(
            read=lambda: _read(document),
            id=text_in(document, "sessionId"),
            title=text_in(document, "title"),
            cwd=(text_in(document, "workspaceDirectory") or "").removeprefix("file://") or None,
            model=text_in(document, "chatModelTitle"),
        )
    ]


def _read(document: Object) -> Conversation:
    conversation = Conversation(NAME)
    conversation.set_origin(model=text_in(document, "chatModelTitle"))
    thoughts: list[ThinkingContent] = []
    for at, item in enumerate(objects_in(document, "history")):
        conversation.at(where=f"history[{at}]")
        message = object_in(item, "message")
        if message.get("role") == "thinking":
            thoughts.append(_thought(message))
            continue
        start = len(conversation.log)
        _message(conversation, message, item)
        if (
            thoughts
            and len(conversation.log) > start
            and isinstance(answer := conversation.log[start], AssistantMessage)
        ):
            conversation.log.pop(start)
            conversation.add_answer([*thoughts, *answer.content])
        thoughts = []
        for state in objects_in(item, "toolCallStates"):
            _state(conversation, state)
        summary = text_in(item, "conversationSummary")
        if summary:
            conversation.log.append(Compaction((UserMessage(summary, injected=True),)))
    return conversation


def _thought(message: Object) -> ThinkingContent:
    redacted = text_in(message, "redactedThinking")
    if redacted:
        return ThinkingContent("", redacted, redacted=True)
    return ThinkingContent(as_text(message.get("content")), text_in(message, "signature"))


def _message(conversation: Conversation, message: Object, item: Object) -> None:
    shown = [text_of(each.get("content")) for each in objects_in(item, "contextItems")]
    context = "\n\n".join(text for text in shown if text)
    if message.get("role") == "user" and context:
        content = message.get("content")
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else objects(content)
        message = message | {"content": [{"type": "text", "text": context}, *_parts(parts)]}
    calls = [
        {"id": call.get("id"), "type": "function", "function": call.get("function")}
        for call in objects_in(message, "toolCalls")
    ]
    plain = {"role": message.get("role"), "content": message.get("content")}
    if isinstance(plain["content"], list):
        plain["content"] = _parts(objects(plain["content"]))
    if message.get("role") == "tool":
        plain["tool_call_id"] = message.get("toolCallId")
    conversation.ingest(plain | ({"tool_calls": calls} if calls else {}), CHAT)


def _parts(parts: list[Object]) -> list[Object]:
    """Parts in the form of chat completions."""
    return [
        {"type": "image_url", "image_url": part.get("imageUrl")} if part.get("type") == "imageUrl" else part
        for part in parts
    ]


def _state(conversation: Conversation, state: Object) -> None:
    """The result of a call that is stored with the answer."""
    status = text_of(state.get("status"))
    if status not in ("done", "errored", "canceled") or not isinstance(state.get("output"), list):
        return
    text = "\n".join(as_text(each.get("content")) for each in objects(state.get("output")))
    call = text_of(state.get("toolCallId")) or text_of(object_in(state, "toolCall").get("id"))
    conversation.add_result(call, text, status != "done")


FORMAT = entries_format(
    name=NAME,
    title="Continue",
    recognise=lambda source: is_own(source.document),
    entries=_entries,
    find=below("~/.continue/sessions", "[0-9a-f]*-*.json"),
    source="continuedev/continue, 2026",
)
