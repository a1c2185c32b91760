"""Messages of the Vercel AI SDK: UI messages, and model messages.

UI messages are those of ``ai`` 6.0.326 (``UIMessage`` in its types, 2026-11-18); names of signatures are those of
@ai-sdk/anthropic, /openai and /google 2. One assistant message has the steps of a whole run: ``step-start`` divides its
answers, and each part of a tool holds a call and its result. We write one UI message for each run of answers.
"""

from collections.abc import Iterable
from typing import Any

from ..types import (
    AssistantContent,
    FileContent,
    ImageContent,
    ProviderContent,
    TextContent,
    UserContent,
)
from . import signatures
from .building import Conversation, media, tokens
from .entries import document_format
from .marks import mark_of
from .origins import GOOGLE, RESPONSES, Origin
from .reading import as_text, mostly, object_of, objects, text_of
from .source import Object
from .values import Report
from .vercel_writing import FIELDS, SPACES, USAGE, draft

NAME = "vercel"
_PROTOCOLS = {space: protocol for protocol, space in SPACES.items()} | {"vertex": GOOGLE, "azure": RESPONSES}
_UI_ROLES = ("system", "user", "assistant")
_FAILED = ("output-error", "output-denied")
_DENIED = "The call was not allowed."


def is_own(document: Any) -> bool:
    """Whether a document is a list of UI messages or model messages, or a chat with one."""
    messages = _messages(document)
    if mostly(messages, lambda each: "parts" in each):
        return mostly(messages, _is_ui)
    kinds = {text_of(part.get("type")) for each in objects(messages)[:50] for part in objects(each.get("content"))}
    return bool(kinds & {"tool-call", "tool-result"}) or mostly(messages, lambda each: "toolInvocations" in each)


def _is_ui(message: Object) -> bool:
    """Whether it is a UI message, whose parts have types; those of Gemini have none."""
    parts = objects(message.get("parts"))
    return message.get("role") in _UI_ROLES and all("type" in part for part in parts)


def _messages(document: Any) -> Any:
    return document.get("messages") if isinstance(document, dict) else document


def read_messages(items: Any, report: Report | None = None, endpoint: str | None = None) -> Conversation:
    """Read serialised messages. ``endpoint`` is that of the answers; without one they are of no live endpoint."""
    conversation = Conversation(NAME, report, endpoint)
    for at, item in enumerate(_messages(items) or ()):
        message = object_of(item)
        role, parts = text_of(message.get("role")), _parts(message)
        conversation.begin(item, f"[{at}]", has_system=role == "system" and not conversation.log)
        if role == "system":
            conversation.add_system("\n\n".join(text_of(part.get("text")) for part in parts))
        elif role == "user":
            injected = mark_of(message.get("metadata")).get("injected") is True
            conversation.add_user(_content(conversation, parts), injected)
        elif role in ("assistant", "tool"):
            _Steps(conversation, message).read(parts)
        else:
            conversation.remark("row-unknown", "a message of an unknown role")
    return conversation


def _parts(message: Object) -> list[Object]:
    """The parts of a message: of a UI message, of a model message, or of a message of version 4."""
    content = message.get("content")
    if isinstance(message.get("parts"), list):
        return objects(message["parts"])
    texts = [{"type": "text", "text": content}] if isinstance(content, str) and content else objects(content)
    return texts + [
        {"type": "tool-invocation", "toolInvocation": each} for each in objects(message.get("toolInvocations"))
    ]


def _content(conversation: Conversation, parts: Iterable[Object]) -> list[UserContent]:
    found: list[UserContent] = []
    for part in parts:
        kind = text_of(part.get("type"))
        block: UserContent | None = None
        if kind == "text":
            block = TextContent(text_of(part.get("text")))
        elif kind in ("file", "image", "media", "image-data", "file-data", "image-url", "file-url"):
            block = _file(part)
        if block is None:
            conversation.remark("block-left-out", f"a part of type {kind or 'unknown'}")
        else:
            found.append(block)
    return found


def _file(part: Object) -> ImageContent | FileContent | None:
    mime_type = part.get("mediaType") or part.get("mimeType") or ("image/png" if "image" in part else "")
    data = part.get("url") or part.get("data") or part.get("image")
    is_address = isinstance(data, str) and data.startswith(("http:", "https:", "data:"))
    return media(mime_type, None if is_address else data, data if is_address else None, part.get("filename"))


def _signature(part: Object, name: str = "providerMetadata") -> tuple[signatures.Parts, str | None]:
    """The signature of a part, and the protocol that its namespace shows."""
    for space, values in object_of(part.get(name) or part.get("providerOptions")).items():
        found = {FIELDS[key]: value for key, value in object_of(values).items() if key in FIELDS}
        kept = {key: value for key, value in found.items() if isinstance(value, str) and value}
        if kept:
            return kept, _PROTOCOLS.get(space)
    return {}, None


class _Steps:
    """Reads the parts of an assistant message: an answer for each step, followed by its results."""

    def __init__(self, conversation: Conversation, message: Object) -> None:
        self._conversation = conversation
        self._metadata = object_of(message.get("metadata"))
        self._marks = objects(mark_of(self._metadata).get("steps"))
        self._blocks: list[AssistantContent] = []
        self._results: list[tuple[Object, str]] = []
        self._protocol: str | None = None

    def read(self, parts: list[Object]) -> None:
        kinds = [text_of(part.get("type")) for part in parts]
        divided = "step-start" in kinds  # older messages do not mark their steps: there a text follows the results
        for kind, part in zip(kinds, parts, strict=True):
            if kind == "step-start" or (not divided and self._results and kind in ("text", "reasoning")):
                self._close()
            if kind != "step-start":
                self._add(kind, part)
        self._close()

    def _add(self, kind: str, part: Object) -> None:
        parts, protocol = _signature(part)
        self._protocol = protocol or self._protocol
        if kind == "text":
            self._blocks.append(signatures.text(text_of(part.get("text")), parts))
        elif kind == "reasoning":
            if "encrypted" not in parts:
                parts.pop("id", None)
            self._blocks.append(signatures.thinking(text_of(part.get("text")) or text_of(part.get("reasoning")), parts))
        elif kind == "tool-result":
            self._results.append((_model_output(part), text_of(part.get("toolName"))))
        elif kind == "tool-invocation":
            old = object_of(part.get("toolInvocation"))
            done = {"state": "output-available", "output": old.get("result")} if "result" in old else {}
            self._tool(old | {"input": old.get("args")} | done, text_of(old.get("toolName")))
        elif kind.startswith("tool-") or kind == "dynamic-tool":
            named = kind in ("dynamic-tool", "tool-call")
            self._tool(part, text_of(part.get("toolName")) if named else kind.removeprefix("tool-"))
        elif kind in ("file", "source-url", "source-document", "reasoning-file"):
            self._blocks.append(
                ProviderContent(part, kind, text_of(part.get("title")) or text_of(part.get("filename")))
            )
        else:
            self._conversation.remark("block-left-out", f"a part of type {kind or 'unknown'}")

    def _tool(self, part: Object, name: str) -> None:
        if part.get("providerExecuted") is True:
            self._blocks.append(ProviderContent(part, text_of(part.get("type")), name))
            return
        parts, protocol = _signature(part, "callProviderMetadata")
        self._protocol = protocol or self._protocol
        given = part.get("input") if part.get("input") is not None else part.get("rawInput")
        signature = signatures.call_signature(parts)
        self._blocks.append(self._conversation.call(part.get("toolCallId"), name, given, signature=signature))
        if part.get("state") in ("output-available", *_FAILED):
            self._results.append((part, name))

    def _close(self) -> None:
        if self._blocks:
            mark = self._marks.pop(0) if self._marks else {}
            conversation, metadata = self._conversation, self._metadata
            conversation.origin = Origin()
            provider = mark.get("provider") or metadata.get("provider")
            conversation.set_origin(provider, mark.get("model") or metadata.get("model"))
            protocol = mark.get("protocol") or self._protocol
            if protocol:
                conversation.set_origin(protocol=text_of(protocol))
            usage = objects([mark.get("usage")])
            conversation.add_answer(
                self._blocks,
                stop=mark.get("stop"),
                time=mark.get("time") or metadata.get("createdAt"),
                usage=tokens(*(usage[0].get(name) for name in USAGE)) if usage else None,
                response_id=text_of(mark.get("id")) or None,
                error_message=text_of(mark.get("error")) or None,
            )
        for part, name in self._results:
            self._result(part, name)
        self._blocks, self._results, self._protocol = [], [], None

    def _result(self, part: Object, name: str) -> None:
        state, output = part.get("state"), part.get("output")
        if state == "output-error":
            output = part.get("errorText")
        elif state == "output-denied":
            output = object_of(part.get("approval")).get("reason") or _DENIED
        pieces = object_of(output).get("value") if object_of(output).get("type") == "content" else None
        found = _content(self._conversation, objects(pieces)) if isinstance(pieces, list) else as_text(output)
        synthetic = mark_of(part.get("resultProviderMetadata")).get("synthetic") is True
        self._conversation.add_result(part.get("toolCallId"), found, state in _FAILED, name, synthetic=synthetic)


def _model_output(part: Object) -> Object:
    """The result in a model message as that of a UI message."""
    output = object_of(part.get("output"))
    kind, value = text_of(output.get("type")), output.get("value")
    if kind.startswith("error") or part.get("isError") is True:
        return part | {"state": "output-error", "errorText": as_text(value if output else part.get("result"))}
    if kind == "execution-denied":
        return part | {"state": "output-denied", "approval": {"reason": output.get("reason")}}
    shown = output if kind == "content" else value
    return part | {"state": "output-available", "output": shown if output else part.get("result")}


FORMAT = document_format(
    name=NAME,
    title="Vercel AI SDK messages",
    recognise=is_own,
    read=read_messages,
    write=draft,
    verified=True,
    source="ai 6.0.326, run on 2026-11-18",
)
