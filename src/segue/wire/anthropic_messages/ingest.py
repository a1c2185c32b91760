"""Read the conversation in a body of ``POST /v1/messages``, written by any client.

encode → ingest → encode gives the same body. Tools that the server ran, with their results, are provider content. Other
content that a conversation cannot hold becomes text that describes it: uploaded images and documents, search results.
Only these are left out: cache markers, ``caller`` and other fields of blocks, tools that the server runs itself (they
are an option of a request, not part of the conversation), and the options of the request: ``max_tokens``,
``stop_sequences``, ``tool_choice``, ``thinking``, ``output_config``, ``metadata``, ``stream``.
"""

from collections.abc import Callable
from typing import Any

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
    answer,
    as_list,
    as_object,
    as_text,
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


def ingest(body: Object, model: Model | None, now: int) -> Context:
    """System prompt, messages and tools of a request body."""
    reader = _Reader(model, now)
    prompts = [_texts(_or(body.get("system"), ""), "system")]
    messages = as_list(body.get("messages"), "messages")
    for index, message in enumerate(messages):
        role = as_object(message, f"messages[{index}]").get("role")
        path = f"messages[{index}].content"
        if role == "user":
            reader.user(_content(message.get("content"), path), path)
        elif role == "assistant":
            reader.assistant(_content(message.get("content"), path), path)
        elif role == "system":
            text = _texts(message.get("content"), path)
            if reader.messages:
                reader.messages += [_injected(text)] if text else []
            else:
                prompts.append(text)
        else:
            raise FormatError(f"role {role!r} is not user, assistant or system", path=f"messages[{index}].role")
    tools = [
        _tool(tool, f"tools[{index}]")
        for index, tool in enumerate(as_list(_or(body.get("tools"), []), "tools"))
        if is_own_tool(as_object(tool, f"tools[{index}]"))
    ]
    prompt = "\n\n".join(text for text in prompts if text)
    return Context(system_prompt=prompt or None, messages=reader.messages, tools=tools)


def _injected(text: str) -> UserMessage:
    """A system message in the middle of a conversation."""
    return UserMessage([TextContent(f"<system>\n{text}\n</system>")], injected=True)


class _Reader:
    """The messages so far, and the names of the tools called in them."""

    def __init__(self, model: Model | None, now: int) -> None:
        self.messages: list[Message] = []
        self._names: dict[str, str] = {}
        self._model, self._now = model, now

    def user(self, blocks: list[Object], path: str) -> None:
        """Read a user message. Results become separate messages; other blocks around them become user messages."""
        content: list[UserContent] = []
        for index, block in enumerate(blocks):
            if block["type"] == "tool_result":
                self._add_user(content)
                content = []
                self.messages.append(self._result(block, f"{path}[{index}]"))
            else:
                content += _shown(block, f"{path}[{index}]")
        self._add_user(content)

    def _add_user(self, content: list[UserContent]) -> None:
        if content:
            self.messages.append(user_message(content))

    def _result(self, block: Object, path: str) -> ToolResultMessage:
        call = text_in(block, "tool_use_id", path)
        inner = _content(_or(block.get("content"), []), f"{path}.content")
        content = [shown for at, part in enumerate(inner) for shown in _shown(part, f"{path}.content[{at}]")]
        return result_message(call, self._names.get(call, UNKNOWN_TOOL), content, block.get("is_error") is True)

    def assistant(self, blocks: list[Object], path: str) -> None:
        content: list[AssistantContent] = []
        for index, block in enumerate(blocks):
            read = _ANSWER_BLOCKS.get(block["type"], _as_text)
            content += read(block, f"{path}[{index}]")
        if not content:
            return
        for made in content:
            if type(made) is ToolCall:
                self._names[made.id] = made.name
        self.messages.append(answer(PROTOCOL_NAME, self._model, content, self._now))


# -- blocks of an answer ---------------------------------------------------------------------------------------------


def _text(block: Object, path: str) -> list[AssistantContent]:
    text, citations = text_in(block, "text", path), block.get("citations")
    if citations is None:
        return [plain_text(text)]
    return [TextContent(text, citations_signature(as_list(citations, f"{path}.citations")))]


def _provider(block: Object, path: str) -> list[AssistantContent]:
    kept = {name: value for name, value in block.items() if name != "cache_control"}
    try:
        return [ProviderContent(kept, block["type"], readable(block))]
    except (FormatError, RecursionError, TypeError, OverflowError) as error:
        raise FormatError(str(error), path=path) from None


def _thinking(block: Object, path: str) -> list[AssistantContent]:
    signature = block.get("signature")
    if signature is not None:
        signature = as_text(signature, f"{path}.signature")
    return [ThinkingContent(text_in(block, "thinking", path), signature)]


def _redacted(block: Object, path: str) -> list[AssistantContent]:
    return [ThinkingContent("", text_in(block, "data", path), redacted=True)]


def _call(block: Object, path: str) -> list[AssistantContent]:
    arguments = as_object(block.get("input"), f"{path}.input")
    return [tool_call(text_in(block, "id", path), text_in(block, "name", path), arguments)]


def _as_text(block: Object, path: str) -> list[AssistantContent]:
    return [part if type(part) is TextContent else TextContent(_description(block)) for part in _shown(block, path)]


PROVIDER_BLOCKS = ("server_tool_use", "container_upload", *SERVER_RESULTS)
"""Blocks of an answer that are kept as they are."""
_ANSWER_BLOCKS: dict[str, Callable[[Object, str], list[AssistantContent]]] = {
    "text": _text,
    "thinking": _thinking,
    "redacted_thinking": _redacted,
    "tool_use": _call,
    **dict.fromkeys(PROVIDER_BLOCKS, _provider),
}


# -- blocks of users and tools ---------------------------------------------------------------------------------------


def _shown(block: Object, path: str) -> list[UserContent]:
    """A block as texts and images. Any other block becomes a text that describes it."""
    kind = block["type"]
    if kind == "text":
        return [plain_text(text_in(block, "text", path))]
    if kind in ("image", "document"):
        source = as_object(block.get("source"), f"{path}.source")
        return _image(source, path) if kind == "image" else _document(block, source, path)
    if kind == "search_result":
        inner = _texts(block.get("content"), f"{path}.content")
        return [TextContent(f"{block.get('title')} ({block.get('source')})\n{inner}")]
    return [TextContent(_description(block))]


def _image(source: Object, path: str) -> list[UserContent]:
    if source.get("type") == "base64":
        data, mime_type = (text_in(source, name, f"{path}.source") for name in ("data", "media_type"))
        if not mime_type:
            raise FormatError("it is empty; name a type such as image/png", path=f"{path}.source.media_type")
        return [ImageContent(data, mime_type)]
    url = source.get("url")
    if isinstance(url, str) and is_address(url):
        return [ImageContent(url=url)]
    return [TextContent(f"(image at {url or source.get('file_id') or 'an unknown place'})")]


def _document(block: Object, source: Object, path: str) -> list[UserContent]:
    kind, title = source.get("type"), block.get("title")
    name = title if isinstance(title, str) else None
    if kind == "text":
        text = text_in(source, "data", f"{path}.source")
        return [FileContent(text.encode("utf-8", "replace"), "text/plain", name=name)]
    if kind == "base64" and isinstance(source.get("media_type"), str) and source["media_type"]:
        return [FileContent(text_in(source, "data", f"{path}.source"), source["media_type"], name=name)]
    url = source.get("url")
    if isinstance(url, str) and is_address(url):
        return [FileContent(url=url, mime_type="application/pdf", name=name)]
    if kind == "content":
        inner = _content(source.get("content"), f"{path}.source.content")
        parts = [part for at, one in enumerate(inner) for part in _shown(one, f"{path}.source.content[{at}]")]
        return [TextContent(str(title)), *parts] if title else parts
    shown = f"{title!r}, " if title else ""
    where = source.get("url") or source.get("file_id")
    return [TextContent(f"(document {shown}at {where})" if where else f"(document {shown}{source.get('media_type')})")]


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


def _content(value: Any, path: str) -> list[Object]:
    """Content as a list of blocks that have a type; a plain text is one block."""
    if isinstance(value, str):
        return [{"type": "text", "text": value}] if value else []
    blocks = as_list(value, path)
    for index, block in enumerate(blocks):
        if not (isinstance(block, dict) and isinstance(block.get("type"), str)):
            as_object(block, f"{path}[{index}]")
            raise FormatError("a block must have a type", path=f"{path}[{index}].type")
    return blocks


def _texts(value: Any, path: str) -> str:
    """The texts of a system prompt, joined."""
    blocks = _content(value, path)
    parts = [text_in(block, "text", f"{path}[{at}]") for at, block in enumerate(blocks) if block["type"] == "text"]
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
