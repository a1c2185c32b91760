"""Parts of Gemini's contents, as Gemini CLI and Qwen Code store them, and the reader that both have in common."""

from collections.abc import Callable
from typing import Any

from ..types import (
    AssistantContent,
    AssistantMessage,
    FileContent,
    ImageContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultContent,
    ToolResultMessage,
    Usage,
    UserContent,
)
from ..types.codec import json_text
from .reading import ENDPOINT, as_arguments, number_in, object_in, objects_in, text_in, unix_ms
from .source import Object
from .values import RemarkCode, Report

Remarks = Callable[[RemarkCode, str], None]


class RowReader:
    """Reads rows with Gemini's parts; ``line`` is the current one. ``counts`` is the name of the field with the usage,
    ``key`` that of the id of a row in the ``meta`` of its message."""

    tool: str
    provider: str
    counts: str
    key: str

    def __init__(self, report: Report) -> None:
        self.report, self.line = report, 0
        self.names: dict[str, str] = {}
        """The names of the tools that were called, by the ids of the calls."""
        self.waiting: dict[str, str] = {}
        """The same of calls without a result."""

    def remark(self, code: RemarkCode, text: str) -> None:
        self.report.add(code, text, self.line)

    def answer(self, content: list[AssistantContent], row: Object, name: str) -> AssistantMessage:
        called = {block.id: block.name for block in content if isinstance(block, ToolCall)}
        self.names |= called
        self.waiting |= called
        return AssistantMessage(
            content,
            protocol="google-generative-ai",
            provider=self.provider,
            model=text_in(row, "model") or "",
            endpoint=f"{ENDPOINT}{self.tool}",
            timestamp=unix_ms(row.get("timestamp")) or 0,
            usage=usage_of(object_in(row, self.counts)),
            meta={self.key: name},
        )

    def results(self, parts: list[Object], failed: bool) -> list[ToolResultMessage]:
        """The results in these parts. One without an id is that of the first call of its name that waits for one."""
        results = []
        for response in [object_in(part, "functionResponse") for part in parts if "functionResponse" in part]:
            name = text_in(response, "name") or ""
            called = [call for call, tool in self.waiting.items() if tool == name][:1]
            again = (call for call, tool in reversed(self.names.items()) if tool == name)
            identity = text_in(response, "id") or (called[0] if called else next(again, ""))
            self.waiting.pop(identity, None)
            content, is_error = _response(response.get("response"))
            content += user_blocks(objects_in(response, "parts"), self.remark)
            known = self.names.get(identity, name)
            results.append(ToolResultMessage(identity, known, content, is_error=failed or is_error))
        return results


def parts_of(content: Any) -> list[Object]:
    """Content as a list of parts: a text, a part, or a list of both."""
    if isinstance(content, str):
        return [{"text": content}] if content else []
    if isinstance(content, dict):
        return [content]
    parts = content if isinstance(content, list) else []
    return [{"text": part} if isinstance(part, str) else part for part in parts if isinstance(part, str | dict)]


def answer_blocks(parts: list[Object], name: str, remark: Remarks) -> list[AssistantContent]:
    """The blocks of an answer. A call without an id gets one that is made of ``name`` and its position."""
    blocks: list[AssistantContent] = []
    for at, part in enumerate(parts):
        text, signature = part.get("text"), text_in(part, "thoughtSignature")
        if "functionCall" in part:
            blocks.append(call_of(object_in(part, "functionCall"), f"{name}-{at}", signature, remark))
        elif isinstance(text, str) and part.get("thought") is True:
            if text or signature:
                blocks.append(ThinkingContent(text, signature))
            else:
                remark("thinking-empty", "a thought with neither text nor signature")
        elif isinstance(text, str):
            if text or signature:
                blocks.append(TextContent(text, signature))
        else:
            remark("block-unknown", f"a part with {', '.join(sorted(part)) or 'nothing'}")
    return blocks


def call_of(call: Object, fallback: str, signature: str | None, remark: Remarks) -> ToolCall:
    """A call; Gemini's API does not always give it an id."""
    identity = text_in(call, "id") or fallback
    arguments = as_arguments(call.get("args"))
    if arguments is None:
        remark("arguments-unreadable", f"the arguments of call {identity} are not an object")
        arguments = {"input": call.get("args")}
    return ToolCall(identity, text_in(call, "name") or "", arguments, signature)


def user_blocks(parts: list[Object], remark: Remarks) -> list[UserContent]:
    """The texts, images and files of a user message; results are read by ``RowReader``."""
    blocks: list[UserContent] = []
    for part in parts:
        if "functionResponse" in part:
            continue
        text, inline, stored = part.get("text"), object_in(part, "inlineData"), object_in(part, "fileData")
        mime = text_in(inline, "mimeType") or text_in(stored, "mimeType") or ""
        data, uri = text_in(inline, "data"), text_in(stored, "fileUri")
        if isinstance(text, str):
            blocks += [TextContent(text)] if text else []
        elif data is not None and mime:
            blocks.append(ImageContent(data, mime) if mime.startswith("image/") else FileContent(data, mime))
        elif uri is not None and uri.startswith(("https://", "http://")) and mime:
            is_image = mime.startswith("image/")
            blocks.append(ImageContent(url=uri) if is_image else FileContent(url=uri, mime_type=mime))
        else:
            remark("block-unknown", f"a part with {', '.join(sorted(part)) or 'nothing'}")
    return blocks


def _response(response: Any) -> tuple[list[ToolResultContent], bool]:
    """The text of a response, and whether it is an error."""
    for name in ("output", "error"):
        if isinstance(response, dict) and len(response) == 1 and isinstance(text := response.get(name), str):
            return ([TextContent(text)] if text else []), name == "error"
    return ([TextContent(json_text(response))] if response else []), False


def usage_of(usage: Object) -> Usage:
    """The usage of an answer. The number of prompt tokens includes those of the cache; thoughts are output."""
    sent = number_in(usage, "promptTokenCount", "input")
    read = number_in(usage, "cachedContentTokenCount", "cached")
    made = number_in(usage, "candidatesTokenCount", "output") + number_in(usage, "thoughtsTokenCount", "thoughts")
    return Usage(max(sent - read, 0), made, read, 0, sent + made)
