"""Read the conversation in a body of ``POST /v1/messages``, written by any client.

encode → ingest → encode gives the same body. Tools that the server ran, with their results, are provider content. Other
content that a conversation cannot hold becomes text that describes it: uploaded images and documents, search results.
Only these are left out: cache markers, ``caller`` and other fields of blocks, tools that the server runs itself (they
are an option of a request, not part of the conversation), and the options of the request: ``max_tokens``,
``stop_sequences``, ``tool_choice``, ``thinking``, ``output_config``, ``metadata``, ``stream``.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from ...errors import FormatError
from ...types import (
    AssistantContent,
    Context,
    FileContent,
    ImageContent,
    Message,
    Model,
    ProviderContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
    UserContent,
    UserMessage,
    plain_text,
)
from ...types.media import is_address
from ..common.reading import (
    Object,
    answers,
    as_list,
    as_object,
    as_text,
    place,
    read_each,
    result_message,
    text_in,
    tool_call,
    user_message,
)
from .replay import citations_signature
from .server_tools import readable
from .shapes import BLOCKS, SERVER_RESULTS

PROTOCOL_NAME = "anthropic-messages"
UNKNOWN_TOOL = "unknown"
T = TypeVar("T")


def ingest(body: Object, model: Model | None, now: int) -> Context:
    """System prompt, messages and tools of a request body."""
    reader = _Reader(model, now)
    reader.prompts.append(_texts(_or(body.get("system"), ""), "system"))
    read_each(as_list(body.get("messages"), "messages"), "messages", reader.read)
    tools = [
        _tool(tool, f"tools[{index}]")
        for index, tool in enumerate(as_list(_or(body.get("tools"), []), "tools"))
        if is_own_tool(as_object(tool, f"tools[{index}]"))
    ]
    prompt = "\n\n".join(text for text in reader.prompts if text)
    return Context(system_prompt=prompt or None, messages=reader.messages, tools=tools)


def _injected(text: str) -> UserMessage:
    """A system message in the middle of a conversation."""
    return UserMessage([TextContent(f"<system>\n{text}\n</system>")], injected=True)


class _Reader:
    """The system prompts and messages so far, and the names of the tools called in them."""

    def __init__(self, model: Model | None, now: int) -> None:
        self.prompts: list[str] = []
        self.messages: list[Message] = []
        self._names: dict[str, str] = {}
        self._answer = answers(PROTOCOL_NAME, model, now)

    def read(self, message: Any) -> None:
        """Read a message."""
        role = as_object(message).get("role")
        read = _ROLES.get(role) if isinstance(role, str) else None
        if read is None:
            raise FormatError(f"role {role!r} is not user, assistant or system", path="role")
        read(self, message.get("content"))

    def system(self, content: Any) -> None:
        text = _texts(content, "content")
        if not self.messages:
            self.prompts.append(text)
        elif text:
            self.messages.append(_injected(text))

    def user(self, content: Any) -> None:
        """Read a user message. Results become separate messages; other blocks around them become user messages."""
        shown: list[UserContent] = []
        blocks = _content(content, "content")
        rest = iter(blocks)
        try:
            for block in rest:
                kind = _kind(block)
                if kind != "tool_result":
                    shown += _SHOWN.get(kind, _described)(block)
                    continue
                if shown:
                    self.messages.append(user_message(shown))
                    shown = []
                self.messages.append(self._result(block))
        except FormatError as error:
            raise error.below(place("content", blocks, rest)) from None
        if shown:
            self.messages.append(user_message(shown))

    def _result(self, block: Object) -> ToolResultMessage:
        call = text_in(block, "tool_use_id")
        content = _read(_or(block.get("content"), []), "content", _SHOWN, _described)
        return result_message(call, self._names.get(call, UNKNOWN_TOOL), content, block.get("is_error") is True)

    def assistant(self, content: Any) -> None:
        """Read an answer."""
        made = _read(content, "content", _ANSWER_BLOCKS, _as_text)
        for each in made:
            if type(each) is ToolCall:
                self._names[each.id] = each.name
        if made:
            self.messages.append(self._answer(made, []))


_ROLES: dict[str, Callable[[_Reader, Any], None]] = {
    "user": _Reader.user,
    "assistant": _Reader.assistant,
    "system": _Reader.system,
}


# -- blocks of an answer ---------------------------------------------------------------------------------------------


def _text(block: Object) -> list[AssistantContent]:
    text, citations = text_in(block, "text"), block.get("citations")
    if citations is None:
        return [plain_text(text)]
    return [TextContent(text, citations_signature(as_list(citations, "citations")))]


def _provider(block: Object) -> list[AssistantContent]:
    kept = {name: value for name, value in block.items() if name != "cache_control"}
    try:
        return [ProviderContent(kept, block["type"], readable(block))]
    except (FormatError, RecursionError, TypeError, OverflowError) as error:
        raise FormatError(str(error)) from None


def _thinking(block: Object) -> list[AssistantContent]:
    signature = block.get("signature")
    if signature is not None:
        signature = as_text(signature, "signature")
    return [ThinkingContent(text_in(block, "thinking"), signature)]


def _redacted(block: Object) -> list[AssistantContent]:
    return [ThinkingContent("", text_in(block, "data"), redacted=True)]


def _call(block: Object) -> list[AssistantContent]:
    arguments = as_object(block.get("input"), "input")
    return [tool_call(text_in(block, "id"), text_in(block, "name"), arguments)]


def _as_text(block: Object) -> list[AssistantContent]:
    shown = _SHOWN.get(block["type"], _described)(block)
    return [part if type(part) is TextContent else TextContent(_description(block)) for part in shown]


PROVIDER_BLOCKS = ("server_tool_use", "container_upload", *SERVER_RESULTS)
"""Blocks of an answer that are kept as they are."""
_ANSWER_BLOCKS: dict[str, Callable[[Object], list[AssistantContent]]] = {
    "text": _text,
    "thinking": _thinking,
    "redacted_thinking": _redacted,
    "tool_use": _call,
    **dict.fromkeys(PROVIDER_BLOCKS, _provider),
}


# -- blocks of users and tools ---------------------------------------------------------------------------------------


def _shown_text(block: Object) -> list[UserContent]:
    return [plain_text(text_in(block, "text"))]


def _search_result(block: Object) -> list[UserContent]:
    inner = _texts(block.get("content"), "content")
    return [TextContent(f"{block.get('title')} ({block.get('source')})\n{inner}")]


def _image(block: Object) -> list[UserContent]:
    source = as_object(block.get("source"), "source")
    if source.get("type") == "base64":
        data, mime_type = (text_in(source, name, "source") for name in ("data", "media_type"))
        if not mime_type:
            raise FormatError("it is empty; name a type such as image/png", path="source.media_type")
        return [ImageContent(data, mime_type)]
    url = source.get("url")
    if isinstance(url, str) and is_address(url):
        return [ImageContent(url=url)]
    return [TextContent(f"(image at {url or source.get('file_id') or 'an unknown place'})")]


def _document(block: Object) -> list[UserContent]:
    source = as_object(block.get("source"), "source")
    kind, title = source.get("type"), block.get("title")
    name = title if isinstance(title, str) else None
    if kind == "text":
        text = text_in(source, "data", "source")
        return [FileContent(text.encode("utf-8", "replace"), "text/plain", name=name)]
    if kind == "base64" and isinstance(source.get("media_type"), str) and source["media_type"]:
        return [FileContent(text_in(source, "data", "source"), source["media_type"], name=name)]
    url = source.get("url")
    if isinstance(url, str) and is_address(url):
        return [FileContent(url=url, mime_type="application/pdf", name=name)]
    if kind == "content":
        parts = _read(source.get("content"), "source.content", _SHOWN, _described)
        return [TextContent(str(title)), *parts] if title else parts
    shown = f"{title!r}, " if title else ""
    where = source.get("url") or source.get("file_id")
    return [TextContent(f"(document {shown}at {where})" if where else f"(document {shown}{source.get('media_type')})")]


def _described(block: Object) -> list[UserContent]:
    return [TextContent(_description(block))]


_SHOWN: dict[str, Callable[[Object], list[UserContent]]] = {
    "text": _shown_text,
    "image": _image,
    "document": _document,
    "search_result": _search_result,
}
"""Blocks that are read as texts, images and files. Any other block becomes a text that describes it."""


def _description(block: Object) -> str:
    """A text in place of a block that a conversation cannot hold."""
    kind = block["type"]
    if kind in ("server_tool_use", "mcp_tool_use"):
        return f"(the server ran {block.get('name')}: {_json(block.get('input'))})"
    if kind in SERVER_RESULTS or kind == "mcp_tool_result":
        return f"({kind}: {_json(block.get('content'))})"
    if kind == "compaction":
        return f"(summary of what was said before) {block.get('content') or ''}".strip()
    if kind == "container_upload":
        return f"(file {block.get('file_id')})"
    return f"({kind} block)"


def _json(value: Any) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except (UnicodeEncodeError, RecursionError, TypeError):
        return repr(value)


# -- tools -----------------------------------------------------------------------------------------------------------


def is_own_tool(tool: Object) -> bool:
    """Whether the caller runs the tool: tools that Anthropic defines have their own type and no schema."""
    return tool.get("type") in (None, "custom") or "input_schema" in tool


def _tool(entry: Object, path: str) -> ToolDefinition:
    description = as_text(entry.get("description") or "", f"{path}.description")
    schema = as_object(entry.get("input_schema"), f"{path}.input_schema")
    return ToolDefinition(text_in(entry, "name", path), description, schema)


# -- shapes ----------------------------------------------------------------------------------------------------------


def _or(value: Any, otherwise: Any) -> Any:
    return otherwise if value is None else value


def _content(value: Any, path: str) -> list[Any]:
    """Content as a list of blocks; a plain text is one block."""
    if isinstance(value, str):
        return [{"type": "text", "text": value}] if value else []
    return as_list(value, path)


def _kind(block: Any) -> str:
    """The type of a block."""
    kind = block.get("type") if isinstance(block, dict) else None
    if isinstance(kind, str):
        return kind
    as_object(block)
    raise FormatError("a block must have a type", path="type")


def _read(
    value: Any, path: str, readers: dict[str, Callable[[Object], list[T]]], other: Callable[[Object], list[T]]
) -> list[T]:
    """What content is read as: each block by the reader of its type, or by ``other``."""
    made: list[T] = []
    blocks = _content(value, path)
    rest = iter(blocks)
    try:
        for block in rest:
            made += readers.get(_kind(block), other)(block)
    except FormatError as error:
        raise error.below(place(path, blocks, rest)) from None
    return made


def _texts(value: Any, path: str) -> str:
    """The texts of a system prompt, joined."""
    blocks = _content(value, path)
    parts = _read(blocks, path, {"text": lambda block: [text_in(block, "text")]}, lambda block: [])
    others = [_description(block) for block in blocks if block["type"] != "text"]
    return "\n\n".join([*parts, *others])


# -- recognising -----------------------------------------------------------------------------------------------------

_MARKS = ("anthropic_version", "system", "stop_sequences", "output_config")
_FOREIGN = frozenset(
    {"contents", "input", "instructions", "toolConfig", "inferenceConfig", "additionalModelRequestFields", "modelId",
     "safe_prompt", "max_completion_tokens", "generationConfig", "systemInstruction"}
)  # fmt: skip
_OWN_BLOCKS = frozenset(BLOCKS) - {"text", "thinking", "image", "document"}


def recognise(body: Object) -> int:
    """How much a body looks like this protocol: 0 for not at all, 1 if it may also be chat completions."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not _FOREIGN.isdisjoint(body):
        return 0
    read = [message for message in messages if isinstance(message, dict)]
    blocks = [block for message in read for block in _listed(message.get("content"))]
    if any(_is_foreign(message) for message in read) or not all(map(_is_block, blocks)):
        return 0
    if any(map(_is_own_block, blocks)):
        return 100
    if any(name in body for name in _MARKS) or _has_thinking(body.get("thinking")) or _has_schema(body.get("tools")):
        return 90
    if read and read[0].get("role") not in ("user", "assistant"):
        return 0
    named = str(body.get("model")).startswith("claude") and "max_tokens" in body
    return 50 if named else 1


def _is_foreign(message: Object) -> bool:
    return message.get("role") in ("tool", "function") or "tool_calls" in message or "prefix" in message


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_block(block: Any) -> bool:
    """Whether a block may be of this protocol. Blocks of Converse have no type; chat completions has other types."""
    return isinstance(block, dict) and block.get("type") not in (None, "image_url", "input_audio", "file")


def _is_own_block(block: Object) -> bool:
    kind = block["type"]
    if isinstance(kind, str) and kind in _OWN_BLOCKS:
        return True
    return (kind == "thinking" and "signature" in block) or (kind in ("image", "document") and "source" in block)


def _has_thinking(thinking: Any) -> bool:
    """Whether ``thinking`` is of this protocol. Others also send ``enabled``, but without a budget."""
    return isinstance(thinking, dict) and (thinking.get("type") == "adaptive" or "budget_tokens" in thinking)


def _has_schema(tools: Any) -> bool:
    return any(isinstance(tool, dict) and "input_schema" in tool for tool in _listed(tools))
