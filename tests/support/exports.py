"""What must be left of a conversation that is exported and read again: the conversation with the reported changes
applied, apart from what the table says. Written independently of the encoders and of ``ingest``."""

import json
import re
from base64 import b64decode, b64encode
from binascii import Error
from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

from segue.types import (
    AssistantMessage,
    Block,
    Change,
    Context,
    FileContent,
    ImageContent,
    Message,
    ProviderContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
    UserMessage,
)


class Form(NamedTuple):
    """What a protocol cannot hold in addition to what none of them can, which is: usage, cost, time, stop reason, error
    text, diagnostics, provider, model, endpoint and ids of an answer; whether a result is synthetic; the text of
    redacted thinking; blank descriptions of tools; except for chat completions, a media type that is not that of the
    bytes."""

    # The name in a result whose call is not in the conversation; `None` if results have a field for the name.
    unknown_name: str | None = None
    # Whether all files have a field for their names, and names may be any text.
    file_names: bool = False
    # A flag for failed results. Without one their text begins with "Error: ".
    error_flag: bool = False
    # Redacted thinking.
    redacted: bool = False
    # A result with several texts, or with none.
    result_texts: bool = True
    # Several blocks of thinking in an answer, and their place in it.
    thinking_blocks: bool = True
    # An id that is empty or used twice.
    any_id: bool = True


FORMS = {
    "anthropic-messages": Form(unknown_name="unknown", error_flag=True, redacted=True, file_names=True),
    "bedrock-converse": Form(unknown_name="", error_flag=True, redacted=True),
    "google-generative-ai": Form(error_flag=True, result_texts=False, any_id=False),
    "openai-completions": Form(thinking_blocks=False),
    "openai-responses": Form(unknown_name=""),
    "mistral-chat": Form(),
}
GONE = "the message is empty"
FIELDS = ("reasoning_content", "reasoning", "reasoning_text")
Plain = tuple[Any, ...]
"""A message or block as a tuple that can be compared."""


def expected(context: Context, protocol: str, changes: Iterable[Change]) -> list[tuple[Plain, set[str]]]:
    """The messages that must be read, as plain tuples, each with the codes of its changes that concern no block."""
    context = Context.from_json(context.to_json())  # without half characters
    by_message = defaultdict(list)
    for change in changes:
        by_message[change.message].append(change)
    held: list[tuple[Plain, set[str]]] = []
    names: dict[str, str] = {}
    for index, message in enumerate(context.messages):
        own = by_message[index]
        if isinstance(message, AssistantMessage):
            calls = [call for call in message.content if isinstance(call, ToolCall)]
            names |= {call.id: _result_name(call, protocol) for call in calls}
        if any(change.detail == GONE for change in own):
            continue
        found = _plain(_changed(message, protocol, own), protocol, names)
        codes: set[str] = {change.code for change in own if change.block is None}
        if "turns-merged" in codes:
            before, other_codes = held.pop()
            found, codes = ("answer", [*before[1], *found[1]]), codes | other_codes
        held.append((found, codes))
    return held


def read(context: Context, protocol: str) -> list[Plain]:
    """The messages that were read, as plain tuples."""
    return [_plain(message, protocol, None) for message in context.messages]


def same(wanted: list[tuple[Plain, set[str]]], found: list[Plain], protocol: str) -> bool:
    """Whether both are equal, apart from the order of blocks and from signatures where a change reports it."""
    ids = FORMS[protocol].any_id or tidy([message for message, _ in wanted])
    return len(wanted) == len(found) and all(
        _loose(message, codes, ids) == _loose(other, codes, ids)
        for (message, codes), other in zip(wanted, found, strict=True)
    )


def tidy(messages: list[Plain]) -> bool:
    """Whether every call has an id of its own, and every result directly follows its call."""
    used: set[str] = set()
    waiting: dict[str, str] = {}
    for message in messages:
        if message[0] == "result":
            if waiting.pop(message[1], None) != message[2]:
                return False
            continue
        waiting = {}
        for block in message[1]:
            if block[0] == "call":
                if not block[1] or block[1] in used:
                    return False
                used.add(block[1])
                waiting[block[1]] = block[2]
    return True


def plain_tools(tools: list[ToolDefinition]) -> list[Plain]:
    return [
        (_name(tool), tool.description if tool.description.strip() else "", {"properties": {}} | _schema(tool))
        for tool in tools
    ]


def _result_name(call: ToolCall, protocol: str) -> str:
    """The name in a result. Only Responses has namespaces, of names without white space."""
    kept = protocol == "openai-responses" and " " not in (call.namespace or "")
    return call.name if kept else _name(call)


def _name(tool: ToolDefinition | ToolCall) -> str:
    return tool.name if tool.namespace is None else f"{tool.namespace}__{tool.name}"


def _schema(tool: ToolDefinition) -> Any:
    if tool.kind is None:
        return tool.schema
    text = {"type": "string"}
    grammar = (tool.format or {}).get("grammar", tool.format) or {}  # as Chat Completions and Responses write it
    if "definition" in grammar:
        text["description"] = f"Text that follows this lark grammar:\n{grammar['definition']}"
    return {"type": "object", "properties": {"input": text}, "required": ["input"]}


# -- changes -----------------------------------------------------------------------------------------------------------


def _changed(message: Message, protocol: str, changes: list[Change]) -> Message:
    """The message with its reported changes."""
    blocks: list[Block | None] = list(message.content)
    codes = {change.code for change in changes if change.block is None}
    for change in changes:
        if change.block is None:
            continue
        if change.code in ("signature-dropped", "citations-dropped"):
            blocks[change.block] = _unsigned(blocks[change.block])
        elif change.code in ("thinking-dropped", "empty-dropped", "provider-content-dropped"):
            blocks[change.block] = None
        elif change.code in AS_TEXT:
            blocks[change.block] = TextContent(_text_of(blocks[change.block]))
    kept = [block for block in blocks if block is not None]
    if "signature-dropped" in codes:  # and with it, texts that had nothing else
        kept = [block for block in map(_unsigned, kept) if not isinstance(block, TextContent) or block.text.strip()]
    if "thinking-dropped" in codes and protocol == "openai-responses":
        kept = [block for block in kept if not isinstance(block, ThinkingContent)]
    if "thinking-dropped" in codes and protocol == "mistral-chat":
        kept = [block for block in kept if not isinstance(block, ThinkingContent) or not block.redacted]
    if "error-as-text" in codes:
        at = next((at for at, block in enumerate(kept) if isinstance(block, TextContent)), None)
        if at is None:
            kept.insert(0, TextContent("Error: "))
        else:
            kept[at] = TextContent(f"Error: {kept[at].text}")  # type: ignore[union-attr]
    return _with(message, kept)


AS_TEXT = ("image-downgraded", "url-omitted", "file-omitted", "file-as-text", "provider-content-as-text")


def _text_of(block: Block | None) -> str:
    """The text in place of a block that a protocol has no form for."""
    match block:
        case ImageContent(url=None):
            return "(image omitted: it is empty)"
        case ImageContent():
            return f"(image not attached: {block.url})"
        case FileContent(url=str()):
            return f"(file not attached: {block.url})"
        case FileContent():
            name = block.name or block.mime_type
            for bracket in "[]":
                name = name.replace(bracket, "")
            name = " ".join(name.split())
            if block.data and block.mime_type.startswith("text/") and b"\xff" not in b64decode(block.data):
                return f"[File {name}]\n{b64decode(block.data).decode()}"
            return f"(file omitted: {name}; model does not support it)"
        case ProviderContent():
            return f"[{block.kind.replace('[', '').replace(']', '') or 'content'}] {block.text}"
    raise AssertionError(block)


def _with(message: Message, content: list[Any]) -> Message:
    if isinstance(message, UserMessage):
        return UserMessage(content)
    if isinstance(message, ToolResultMessage):
        return ToolResultMessage(message.tool_call_id, message.tool_name, content, message.is_error)
    return AssistantMessage(
        content=content,
        protocol=message.protocol,
        provider=message.provider,
        model=message.model,
        stop_reason=message.stop_reason,
    )


def _unsigned(block: Block | None) -> Block:
    if isinstance(block, TextContent):
        return TextContent(block.text)
    if isinstance(block, ThinkingContent):
        return ThinkingContent(block.thinking, None, block.redacted)
    assert isinstance(block, ToolCall)
    return ToolCall(block.id, block.name, block.arguments, None, block.kind, block.namespace)


# -- what the protocol can hold ----------------------------------------------------------------------------------------


def _plain(message: Message, protocol: str, names: dict[str, str] | None) -> Plain:
    """The message as far as the protocol can hold it. ``names``: of the calls before it, by id; ``None`` if the message
    was read."""
    form = FORMS[protocol]
    if isinstance(message, UserMessage):
        return ("user", [_block(block, protocol) for block in message.content])
    if isinstance(message, ToolResultMessage):
        name = message.tool_name
        if names is not None:
            name = name if form.unknown_name is None else form.unknown_name
            known = names.get(message.tool_call_id)
            name = known if known or (known == "" and form.unknown_name is not None) else name
        blocks = [_block(block, protocol) for block in message.content]
        if not form.result_texts:
            texts = [block[1] for block in blocks if block[0] == "text"]
            blocks = [("text", "\n".join(texts), None), *[block for block in blocks if block[0] != "text"]]
        return ("result", message.tool_call_id, name, message.is_error and form.error_flag, blocks)
    if form.thinking_blocks:
        return ("answer", [_block(block, protocol, message.protocol == protocol) for block in message.content])
    others = [_block(block, protocol) for block in message.content if not isinstance(block, ThinkingContent)]
    return ("answer", [*_reasoning(message, message.protocol == protocol), *others])


def _block(block: Block, protocol: str, own: bool = False) -> Plain:
    if isinstance(block, TextContent):
        return ("text", block.text, _signature(block.text_signature, protocol))
    if isinstance(block, ImageContent):
        return ("image", block.data, block.mime_type if block.url is None else None, block.url)
    if isinstance(block, ToolCall):
        signature = None if protocol == "openai-completions" else block.thought_signature
        return ("call", block.id, _name(block), json.dumps(block.arguments, sort_keys=True), signature)
    if isinstance(block, FileContent):
        return ("file", block.data, block.mime_type, block.url, block.name if FORMS[protocol].file_names else None)
    if isinstance(block, ProviderContent):
        return ("provider", block.kind, json.loads(bytes(block.raw)))
    form, text, signature = FORMS[protocol], block.thinking, block.thinking_signature
    if block.redacted and form.redacted:
        return ("redacted", _base64(signature or "") if protocol == "bedrock-converse" else signature)
    if signature in FIELDS:
        signature = signature if own else None
    if protocol == "openai-responses" and signature is not None:  # the text is that of the item
        text = "\n\n".join(part["text"] for part in json.loads(signature)["summary"])
    return ("thinking", text, _signature(signature, protocol))


def _signature(signature: str | None, protocol: str) -> Any:
    """A signature; of Responses, the value of its JSON. In requests of Anthropic, citations do not name a file."""
    if protocol == "anthropic-messages" and signature is not None and '"file_id"' in signature:
        cited = [{name: each[name] for name in each if name != "file_id"} for each in json.loads(signature)]
        return json.dumps(cited, separators=(",", ":"))
    return json.loads(signature) if protocol == "openai-responses" and signature is not None else signature


def _base64(payload: str) -> str:
    try:
        b64decode(payload, validate=True)
    except (Error, ValueError):
        return b64encode(payload.encode()).decode()
    return payload


def _reasoning(message: AssistantMessage, own: bool) -> list[Plain]:
    """The thinking of an answer in chat completions: all of ``reasoning_details``, or one text for each field."""
    thoughts = [block for block in message.content if isinstance(block, ThinkingContent)]
    calls = [block for block in message.content if isinstance(block, ToolCall)]
    details = [entry for block in thoughts for entry in _entries(block.thinking_signature)] if own else []
    for call in calls if own else []:
        for entry in _entries(call.thought_signature)[:1]:
            if str(entry.get("type")).startswith("reasoning.") and entry not in details:
                details.append(entry)
    if details:
        return [("details", details)]
    fields: dict[str, list[str]] = {name: [] for name in FIELDS}
    for block in thoughts:
        if block.thinking.strip():
            name = block.thinking_signature if own and block.thinking_signature in FIELDS else FIELDS[0]
            fields[name or ""].append(block.thinking)
    return [("thinking", "\n".join(texts), name) for name, texts in fields.items() if texts]


def _entries(signature: str | None) -> list[dict[str, Any]]:
    if signature is None or signature[0] not in "[{":
        return []
    value = json.loads(signature)
    return value if isinstance(value, list) else [value]


def _uncited(signature: Any) -> Any:
    """A signature without its citations; those of Responses are beside an id and a phase."""
    if not isinstance(signature, dict):
        return None
    return {name: value for name, value in signature.items() if name != "annotations"} or None


def _is_label(block: Plain) -> bool:
    """Whether it is the text in place of content that only its provider can read back."""
    return block[0] == "text" and re.match(r"\[[^\]]+\] ", block[1]) is not None


def _loose(message: Plain, codes: set[str], ids: bool) -> Plain:
    """The message without what a reported change has made uncertain, and without ids where they are not held."""
    blocks: list[Plain] = message[-1]
    if "signature-dropped" in codes:
        whole = ("image", "file", "provider")
        blocks = [block if block[0] in whole else (*block[:-1], None) for block in blocks if block[0] != "details"]
    if "empty-dropped" in codes:  # texts that had only a signature
        blocks = [block for block in blocks if block[0] != "text" or block[1].strip()]
    if "citations-dropped" in codes:
        blocks = [(*block[:2], _uncited(block[2])) if block[0] == "text" else block for block in blocks]
    if codes & {"provider-content-dropped", "provider-content-as-text"}:  # which of them is not stated
        blocks = [block for block in blocks if block[0] != "provider" and not _is_label(block)]
    if not ids:
        blocks = [("call", *block[2:]) if block[0] == "call" else block for block in blocks]
    if "blocks-reordered" in codes:
        blocks = sorted(blocks, key=repr)
    return (*(message[:-1] if ids or message[0] != "result" else ("result", message[3])), blocks)
