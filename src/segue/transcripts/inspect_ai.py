"""Logs of Inspect: ``.eval`` (a zip file) or ``.json``. Each sample is a conversation.

Content of the form ``attachment://…`` is in the ``attachments`` of its sample. Tried on logs of 0.3.41 to 0.3.135.
"""

from collections.abc import Iterator
from typing import Any

from ..types import AssistantContent, ProviderContent, TextContent, ThinkingContent, UserContent
from .building import Conversation, media
from .entries import Entry, entries_format
from .reading import as_text, object_in, object_of, objects, objects_in, text_in, text_of, unix_ms
from .source import Object, Source

NAME = "inspect-ai"
_ATTACHMENT = "attachment://"
_MEDIA = {"image": "image/png", "audio": "audio/wav", "video": "video/mp4", "document": "application/pdf"}


def _recognise(source: Source) -> bool:
    if source.members and not source.is_directory:
        return bool({"header.json", "_journal/start.json"} & source.members)
    document = object_of(source.document)
    return "eval" in document and ("samples" in document or "plan" in document)


def _entries(source: Source) -> Iterator[Entry]:
    if source.document is not None:
        header, samples = object_of(source.document), objects_in(source.document, "samples")
        yield from (_entry(header, sample) for sample in samples)
        return
    members = {name: source.member(name) for name in sorted(source.members) if name.endswith(".json")}
    header = object_of(members.get("header.json") or members.get("_journal/start.json"))
    for name, sample in members.items():
        if name.startswith("samples/"):
            yield _entry(header, sample) if isinstance(sample, dict) else _unreadable(name)


def _unreadable(name: str) -> Entry:
    def read() -> Conversation:
        conversation = Conversation(NAME)
        conversation.report.add("line-unreadable", "not a JSON object", where=name)
        return conversation

    return Entry(read=read, id=name.removeprefix("samples/").removesuffix(".json"))


def _entry(header: Object, sample: Object) -> Entry:
    details = object_in(header, "eval")
    model = text_in(details, "model")
    return Entry(
        read=lambda: _read(sample, model),
        id=f"{sample.get('id')}_epoch_{sample.get('epoch', 1)}",
        title=text_in(details, "task"),
        model=model,
        started=unix_ms(details.get("created")),
    )


def _read(sample: Object, model: str | None) -> Conversation:
    conversation = Conversation(NAME)
    provider, _, name = (model or "").partition("/")
    conversation.set_origin(provider if name else "", name or provider)
    attachments = object_in(sample, "attachments")
    for at, message in enumerate(objects_in(sample, "messages")):
        conversation.at(where=f"messages[{at}]")
        _message(conversation, message, attachments)
    return conversation


def _message(conversation: Conversation, message: Object, attachments: Object) -> None:
    role = message.get("role")
    parts = _parts(message.get("content"), attachments)
    if role == "assistant":
        conversation.set_origin(model=text_in(message, "model"))
        calls = [_call(conversation, each) for each in objects_in(message, "tool_calls")]
        blocks = [found for part in parts for found in _block(conversation, part)]
        conversation.add_answer([*blocks, *calls])
        return
    shown = [found for part in parts for found in _shown(conversation, part, attachments)]
    if role == "system":
        conversation.add_system("\n\n".join(each.text for each in shown if isinstance(each, TextContent)))
    elif role == "user":
        conversation.add_user(shown)
    elif role == "tool":
        error = object_in(message, "error")
        if error and not any(getattr(each, "text", "") for each in shown):
            shown = [TextContent(text_of(error.get("message")))]
        conversation.add_result(message.get("tool_call_id"), shown, bool(error), message.get("function"))
    else:
        conversation.remark("row-unknown", "a message of an unknown role")


def _parts(content: Any, attachments: Object) -> list[Object]:
    if isinstance(content, list):
        return objects(content)
    return [{"type": "text", "text": _resolved(as_text(content), attachments)}]


def _resolved(text: str, attachments: Object) -> str:
    """The text that is stored apart, or the text itself."""
    found = attachments.get(text.removeprefix(_ATTACHMENT)) if text.startswith(_ATTACHMENT) else None
    return found if isinstance(found, str) else text


def _call(conversation: Conversation, call: Object) -> AssistantContent:
    function = call.get("function")
    given = call.get("arguments")
    if call.get("parse_error"):
        conversation.remark("arguments-unreadable", "the arguments of a call could not be read by the model's host")
    return conversation.call(call.get("id"), function, given)


def _block(conversation: Conversation, part: Object) -> list[AssistantContent]:
    kind = text_of(part.get("type"))
    if kind == "text":
        return [TextContent(text_of(part.get("text")))]
    if kind == "reasoning":
        redacted, text, signature = part.get("redacted") is True, text_of(part.get("reasoning")), part.get("signature")
        if redacted:
            return [ThinkingContent("", text or text_of(signature), redacted=True)]
        return [ThinkingContent(text or text_in(part, "summary") or "", text_of(signature))]
    if kind in ("tool_use", "data"):
        return [ProviderContent(part, kind, text_in(part, "name") or "")]
    conversation.remark("block-left-out", "content of another type")
    return []


def _shown(conversation: Conversation, part: Object, attachments: Object) -> list[UserContent]:
    kind = text_of(part.get("type"))
    if kind == "text":
        return [TextContent(_resolved(text_of(part.get("text")), attachments))]
    place = _resolved(text_of(part.get(kind)), attachments)
    mime_type = text_in(part, "mime_type") or _MEDIA.get(kind, "")
    found = media(mime_type, url=place, name=part.get("filename")) if kind in _MEDIA else None
    if found is None:
        conversation.remark("block-left-out", "content of another type")
    return [] if found is None else [found]


FORMAT = entries_format(
    name=NAME,
    title="Inspect logs",
    recognise=_recognise,
    entries=_entries,
    verified=True,
    source="logs of inspect_ai 0.3.41 to 0.3.135",
)
