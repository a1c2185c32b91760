"""Structural rules for rendered conversations, written independently of the passes."""

import re
from fnmatch import fnmatch

from segue.types import (
    AssistantMessage,
    Context,
    FileContent,
    ImageContent,
    Model,
    ProviderContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)

# The forms again, as the providers document them.
ID_FORMS = {
    "call-40": r"[!-~]{1,40}",
    "call-64": r"[!-~]{1,64}",
    "toolu-64": r"[a-zA-Z0-9_-]{1,64}",
    "plain-64": r"[a-zA-Z0-9_-]{1,64}",
    "nine": r"[a-zA-Z0-9]{9}",
}
NAME_FORMS = {
    "dashes": r"[a-zA-Z0-9_-]{1,64}",
    "underscores": r"[a-zA-Z0-9_]{1,64}",
    "letter-first": r"[a-zA-Z_][a-zA-Z0-9_.-]{0,63}",
}


def faults(context: Context, model: Model) -> list[str]:
    """Every violation of a structural rule of ``model`` in ``context``."""
    found: list[str] = []
    seen: set[str] = set()
    awaited: list[ToolCall] = []
    index_of_call = 0
    for index, message in enumerate(context.messages):
        where = f"messages[{index}]"
        if isinstance(message, ToolResultMessage):
            if not awaited:
                found.append(f"{where}: a result without a call directly before")
                continue
            call = awaited.pop(0)
            if (message.tool_call_id, message.tool_name) != (call.id, call.name):
                found.append(f"{where}: answers {message.tool_call_id!r}, expected {call.id!r}")
        elif awaited:
            found.append(f"{where}: {len(awaited)} calls have no result")
            awaited = []
        found += [f"{where}: {fault}" for fault in _content_faults(message, model)]
        if isinstance(message, AssistantMessage):
            if message.failed:
                found.append(f"{where}: a failed turn")
            awaited = [block for block in message.content if isinstance(block, ToolCall)]
            for call in awaited:
                if call.id in seen:
                    found.append(f"{where}: id {call.id!r} is used twice")
                seen.add(call.id)
                expected = (
                    re.escape(f"functions.{call.name}:{index_of_call}")
                    if model.dialect.id_form == "kimi"
                    else ID_FORMS[model.dialect.id_form]
                )
                if not re.fullmatch(expected, call.id):
                    found.append(f"{where}: id {call.id!r} is not {expected}")
                index_of_call += 1
    if awaited:
        found.append(f"{len(awaited)} calls at the end have no result")
    names = [tool.name for tool in context.tools]
    names += [call.name for message in context.messages for call in message.content if isinstance(call, ToolCall)]
    found += [f"name {name!r}" for name in names if not re.fullmatch(NAME_FORMS[model.dialect.name_form], name)]
    for tool in context.tools:
        if tool.kind is not None and not model.dialect.custom_tools:
            found.append("a free-text tool")
        if tool.namespace is not None and not model.dialect.namespaces:
            found.append("a tool in a namespace")
    if len({(tool.namespace, tool.name) for tool in context.tools}) < len(context.tools):
        found.append("two tools with the same name")
    if model.dialect.needs_tools and seen and not context.tools:
        found.append("calls, but no tool is defined")
    return found


def _content_faults(message: object, model: Model) -> list[str]:
    assert isinstance(message, UserMessage | AssistantMessage | ToolResultMessage)
    found = []
    if not message.content:
        found.append("empty")
    own = isinstance(message, AssistantMessage) and (message.protocol, message.provider, message.model) == (
        model.protocol,
        model.provider,
        model.id,
    )
    for block in message.content:
        match block:
            case TextContent():
                if not block.text.strip() and not block.text_signature:
                    found.append("a blank text")
                signature, text = block.text_signature, block.text
            case ThinkingContent():
                signature, text = block.thinking_signature, block.thinking
            case ToolCall():
                signature, text = block.thought_signature, repr((block.arguments, block.namespace))
                if block.kind is not None and not model.dialect.custom_tools:
                    found.append("a call of a free-text tool")
                if block.namespace is not None and not model.dialect.namespaces:
                    found.append("a call with a namespace")
            case ImageContent():
                signature, text = None, block.url or ""
                if "image" not in model.input:
                    found.append("an image that the model does not accept")
                if block.url is not None and not model.dialect.image_urls:
                    found.append("an address that the target does not fetch")
            case FileContent():
                signature, text = None, block.url or block.name or ""
                kind = block.mime_type.partition("/")[0]
                if (kind if kind in ("audio", "video") else "document") not in model.input:
                    found.append("a file that the model does not accept")
                taken = model.dialect.files if block.url is None else model.dialect.file_urls
                if not any(fnmatch(block.mime_type, glob) for glob in taken):
                    found.append(f"a file of type {block.mime_type} that the target does not read")
            case ProviderContent():
                signature, text = None, block.text + block.kind
                if not own:
                    found.append("provider content of another origin")
                elif not any(fnmatch(block.kind, glob) for glob in model.dialect.provider_content):
                    found.append("provider content that the target does not accept back")
        if signature and not own:
            found.append("a foreign signature")
        if any(0xD800 <= ord(character) < 0xE000 for character in text) or "\\ud8" in text:
            found.append("a lone surrogate")
    return found
