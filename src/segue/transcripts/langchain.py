"""Messages of LangChain in three serialised forms: ``messages_to_dict``, ``dumpd`` and ``model_dump``.

Seen by running langchain-core 1.7.2 (2026-11-18). ``tool_calls`` decides about calls, not the content; usage counts
what a cache had as input.
"""

from collections.abc import Callable, Iterable
from typing import Any

from ..types import (
    AssistantContent,
    ProviderContent,
    TextContent,
    ThinkingContent,
    UserContent,
)
from . import signatures
from .building import Conversation, media, tokens
from .entries import document_format
from .langchain_writing import draft
from .marks import mark_of
from .origins import Origin
from .reading import as_text, mostly, object_of, objects, text_of
from .source import Object
from .values import Report

NAME = "langchain"
_CLASSES = {
    "HumanMessage": "human",
    "AIMessage": "ai",
    "AIMessageChunk": "ai",
    "SystemMessage": "system",
    "ToolMessage": "tool",
    "FunctionMessage": "function",
    "ChatMessage": "chat",
    "RemoveMessage": "remove",
    "HumanMessageChunk": "human",
    "SystemMessageChunk": "system",
    "ToolMessageChunk": "tool",
}
_KINDS = frozenset(_CLASSES.values())
_ROLES = {"user": "human", "human": "human", "assistant": "ai", "ai": "ai", "system": "system", "developer": "system"}
_MEDIA = {"image": "image/png", "audio": "audio/wav", "video": "video/mp4", "file": "application/pdf"}
"""The blocks of media, and their type if they have none."""
_STOPS = ("finish_reason", "stop_reason", "stopReason")


def unwrapped(item: Any) -> tuple[str, Object]:
    """The kind of a message, and its fields, in any of the three forms; an empty kind if it is none of them."""
    message = object_of(item)
    if message.get("lc") == 1 and isinstance(message.get("id"), list):
        name = message["id"][-1] if message["id"] else ""
        return _CLASSES.get(text_of(name), ""), object_of(message.get("kwargs"))
    kind = text_of(message.get("type")).removesuffix("MessageChunk").lower()
    fields = message["data"] if isinstance(message.get("data"), dict) else message
    return (kind, fields) if kind in _KINDS and ("content" in fields or kind == "remove") else ("", {})


def is_own(document: Any) -> bool:
    """Whether a document is a list of LangChain's messages."""
    return mostly(document, lambda each: bool(unwrapped(each)[0]))


def read_messages(items: Iterable[Any], report: Report | None = None, endpoint: str | None = None) -> Conversation:
    """Read serialised messages. ``endpoint`` is that of the answers; without one they are of no live endpoint."""
    conversation = Conversation(NAME, report, endpoint)
    kept = [*items]
    removed = {text_of(fields.get("id")) for kind, fields in map(unwrapped, kept) if kind == "remove"} - {""}
    for at, item in enumerate(kept):
        kind, fields = unwrapped(item)
        if kind == "chat":
            kind = _ROLES.get(text_of(fields.get("role")), "human")
        conversation.begin(item, f"[{at}]", has_system=kind == "system" and not conversation.log)
        if kind == "remove" or text_of(fields.get("id")) in removed:
            conversation.remark("row-left-out", "a message that was removed")
        elif kind in _READERS:
            _READERS[kind](conversation, fields)
        else:
            conversation.remark("row-unknown", "not a message of a known kind")
    return conversation


# -- reading ---------------------------------------------------------------------------------------------------------


def _read_human(conversation: Conversation, fields: Object) -> None:
    injected = mark_of(fields.get("additional_kwargs")).get("injected") is True
    conversation.add_user(_content(conversation, fields.get("content")), injected)


def _read_system(conversation: Conversation, fields: Object) -> None:
    blocks = _content(conversation, fields.get("content"))
    conversation.add_system("\n\n".join(block.text for block in blocks if isinstance(block, TextContent)))


def _read_result(conversation: Conversation, fields: Object) -> None:
    conversation.add_result(
        fields.get("tool_call_id"),
        _content(conversation, fields.get("content")),
        fields.get("status") == "error",
        fields.get("name"),
        synthetic=mark_of(fields.get("additional_kwargs")).get("synthetic") is True,
    )
    if fields.get("artifact") is not None:
        conversation.remark("copy-left-out", "the artifact of a result, which models do not get")


def _content(conversation: Conversation, value: Any) -> list[UserContent]:
    if not isinstance(value, list):
        return [TextContent(as_text(value))]
    found: list[UserContent] = []
    for each in value:
        block = TextContent(each) if isinstance(each, str) else _shown(object_of(each))
        if block is None:
            conversation.remark("block-left-out", f"content of type {_type(each)}")
        else:
            found.append(block)
    return found


def _type(block: Any) -> str:
    return text_of(object_of(block).get("type")) or "unknown"


def _shown(block: Object) -> UserContent | None:
    """A block of text or media: a standard one, or in the form of OpenAI or Anthropic."""
    kind = _type(block)
    if kind in ("text", "text-plain"):
        return TextContent(text_of(block.get("text")))
    if kind == "image_url":
        address = block.get("image_url")
        return media("", url=address if isinstance(address, str) else object_of(address).get("url"))
    source = object_of(block.get("source"))
    if source:
        kind_of_source = text_of(source.get("media_type")) or _MEDIA.get(kind, "")
        return media(kind_of_source, source.get("data"), source.get("url"), block.get("title"))
    if kind not in _MEDIA:
        return None
    data = block.get("base64") or block.get("data")
    mime_type = text_of(block.get("mime_type")) or ("" if kind == "image" and not data else _MEDIA[kind])
    name = object_of(block.get("extras")).get("filename") or block.get("filename")
    return media(mime_type, data, block.get("url"), name)


def _read_answer(conversation: Conversation, fields: Object) -> None:
    metadata, extra = object_of(fields.get("response_metadata")), object_of(fields.get("additional_kwargs"))
    mark = mark_of(extra)
    conversation.origin = Origin()
    conversation.set_origin(
        metadata.get("model_provider"), metadata.get("model_name") or metadata.get("model"), mark.get("protocol")
    )
    blocks = _answer_blocks(conversation, fields)
    reasoning = text_of(extra.get("reasoning_content"))
    if reasoning:
        blocks.insert(0, ThinkingContent(reasoning, "reasoning_content"))
    usage = object_of(fields.get("usage_metadata"))
    details = object_of(usage.get("input_token_details"))
    read, written = details.get("cache_read"), details.get("cache_creation")
    conversation.add_answer(
        blocks,
        stop=mark.get("stop") or next((metadata[name] for name in _STOPS if name in metadata), None),
        time=mark.get("time"),
        usage=tokens(usage.get("input_tokens"), usage.get("output_tokens"), read, written, inclusive=True),
        response_id=text_of(metadata.get("id")) or None,
        error_message=text_of(mark.get("error")) or None,
    )


def _answer_blocks(conversation: Conversation, fields: Object) -> list[AssistantContent]:
    """The blocks of an answer: those of its content in order, with the calls of ``tool_calls`` in their places."""
    calls = {text_of(each.get("id")): each for each in _calls(fields)}
    content = fields.get("content")
    blocks: list[AssistantContent] = []
    for each in content if isinstance(content, list) else [as_text(content)]:
        block = TextContent(each) if isinstance(each, str) else _block(conversation, object_of(each), calls)
        if block is None:
            conversation.remark("block-left-out", f"content of type {_type(each)}")
        elif not isinstance(block, str):
            blocks.append(block)
    return blocks + [conversation.call(each.get("id"), each.get("name"), each.get("args")) for each in calls.values()]


def _calls(fields: Object) -> list[Object]:
    found = [*objects(fields.get("tool_calls")), *objects(fields.get("invalid_tool_calls"))]
    old = objects(object_of(fields.get("additional_kwargs")).get("tool_calls")) if not found else []
    functions = [(each, object_of(each.get("function"))) for each in old]
    return found or [
        {"id": each.get("id"), "name": function.get("name"), "args": function.get("arguments")}
        for each, function in functions
    ]


def _block(conversation: Conversation, block: Object, calls: dict[str, Object]) -> AssistantContent | str | None:
    """A block of an answer; an empty text for a call that ``tool_calls`` does not have."""
    kind, extras = _type(block), object_of(block.get("extras"))
    if kind in ("tool_call", "tool_use", "function_call", "invalid_tool_call", "input_json_delta"):
        call = calls.pop(text_of(block.get("call_id")) or text_of(block.get("id")), None)
        if call is None:
            return ""
        signature = extras.get("item_id") or extras.get("signature") or (block.get("id") if "call_id" in block else "")
        return conversation.call(call.get("id"), call.get("name"), call.get("args"), signature=signature)
    parts = {"signature": block.get("signature") or extras.get("signature"), "id": block.get("id")}
    encrypted = block.get("encrypted_content") or extras.get("encrypted_content")
    found = {name: value for name, value in (parts | {"encrypted": encrypted}).items() if isinstance(value, str)}
    if kind in ("reasoning", "thinking"):
        if "encrypted" not in found:
            found.pop("id", None)
        return signatures.thinking(_thought(block), found)
    if kind == "text":
        if isinstance(extras.get("phase"), str):
            found["phase"] = extras["phase"]
        return signatures.text(text_of(block.get("text")), found)
    stored = object_of(block.get("value")) if kind == "non_standard" else block
    if stored.get("type") == "redacted_thinking":
        return signatures.thinking("", {"redacted": text_of(stored.get("data"))})
    return ProviderContent(stored, _type(stored), text_of(stored.get("text"))) if stored else None


def _thought(block: Object) -> str:
    summary = objects(block.get("summary"))
    if summary:
        return "\n\n".join(text_of(each.get("text")) for each in summary)
    return text_of(block.get("reasoning")) or text_of(block.get("thinking"))


_READERS: dict[str, Callable[[Conversation, Object], None]] = {
    "human": _read_human,
    "ai": _read_answer,
    "system": _read_system,
    "tool": _read_result,
    "function": _read_result,
}


FORMAT = document_format(
    name=NAME,
    title="LangChain messages",
    recognise=is_own,
    read=read_messages,
    write=draft,
    verified=True,
    source="langchain-core 1.7.2, run on 2026-11-18",
)
