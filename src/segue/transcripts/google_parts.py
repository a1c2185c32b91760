"""Parts of Gemini's contents, as Gemini CLI and Qwen Code store them."""

from collections.abc import Callable
from typing import Any

from ..types import (
    AssistantContent,
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
from .reading import as_arguments, number_in, object_in, text_in
from .source import Object
from .values import RemarkCode

Remarks = Callable[[RemarkCode, str], None]


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
    """The texts, images and files of a user message; results are read by ``results_of``."""
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


def results_of(parts: list[Object], names: dict[str, str], failed: bool, remark: Remarks) -> list[ToolResultMessage]:
    """The results in these parts. Images and files beside a response belong to the response before them."""
    results: list[ToolResultMessage] = []
    for part in parts:
        if "functionResponse" not in part:
            continue
        response = object_in(part, "functionResponse")
        name = text_in(response, "name") or ""
        identity = text_in(response, "id") or next((call for call, tool in names.items() if tool == name), "")
        content, is_error = _response(response.get("response"))
        inner = response.get("parts")
        content += (
            user_blocks([each for each in inner if isinstance(each, dict)], remark) if isinstance(inner, list) else []
        )
        results.append(ToolResultMessage(identity, names.get(identity, name), content, is_error=failed or is_error))
    return results


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
