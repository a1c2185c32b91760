"""Read the conversation in a Converse body.

encode → ingest → encode gives the same body, except for parts that do not belong to a conversation:
``inferenceConfig``, ``toolChoice``, ``additionalModelRequestFields``, ``requestMetadata`` and cache points. Content
that only Converse has (remote images and files, search results) becomes text or the nearest canonical block.
"""

from base64 import b64encode
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
)
from ...types.media import UNKNOWN_TYPE
from ..common.reading import answers, as_list, as_object, as_text
from .files import TYPES
from .server_blocks import citations_signature, kind_of_block, readable
from .shapes import BLOCKS, OWN_FIELDS, blocks

NAME = "bedrock-converse"
Block = dict[str, Any]


def recognise(body: dict[str, Any]) -> int:
    """How much a body looks like this protocol: blocks have one key and no ``type``; some fields are unique.
    Without any message, it may be of several protocols."""
    if not isinstance(body.get("messages"), list) or "contents" in body:
        return 0
    found = [each.block for each in blocks(body)]
    typed = any("type" in block for block in found)
    if any("type" not in block and not BLOCKS.isdisjoint(block) for block in found):
        return 10 if typed else 100
    if typed or any(isinstance(turn, dict) and isinstance(turn.get("content"), str) for turn in body["messages"]):
        return 0
    return 20 if any(name in body for name in OWN_FIELDS) else int(not body["messages"])


def ingest(body: dict[str, Any], model: Model | None, now: int) -> Context:
    """The conversation; ``model`` is the origin of its answers."""
    reader = _Reader(model, now)
    for index, turn in enumerate(as_list(body.get("messages"), "messages")):
        reader.turn(turn, f"messages[{index}]")
    return Context(
        system_prompt=_system(body.get("system")),
        messages=reader.messages,
        tools=_tools(body.get("toolConfig")),
    )


class _Reader:
    """Turns to messages. A turn with results and other content becomes several messages."""

    def __init__(self, model: Model | None, now: int) -> None:
        self.messages: list[Message] = []
        self._answer = answers(NAME, model, now)
        self._names: dict[str, str] = {}  # of the tools called so far, by call id

    def turn(self, turn: Any, path: str) -> None:
        role = as_object(turn, path).get("role")
        if role not in ("user", "assistant", "system"):
            raise FormatError(f"the role must be user, assistant or system, not {role!r}", path=f"{path}.role")
        content: list[Any] = []
        for index, block in enumerate(as_list(turn.get("content"), f"{path}.content")):
            where = f"{path}.content[{index}]"
            key, value = _member(block, where)
            if key == "toolResult" and role != "assistant":
                self._add(role, content)
                content = []
                self.messages.append(self._result(as_object(value, f"{where}.{key}"), f"{where}.{key}"))
            elif role == "assistant":
                content += self._answer_block(key, value, f"{where}.{key}")
            else:
                content += _user_blocks(key, value, f"{where}.{key}")
        self._add(role, content)

    def _add(self, role: str, content: list[Any]) -> None:
        if not content:
            return
        if role != "assistant":
            self.messages.append(UserMessage(content, injected=role == "system"))
            return
        self.messages.append(self._answer(content, []))

    def _answer_block(self, key: str, value: Any, path: str) -> list[AssistantContent]:
        if key == "toolUse":
            if as_object(value, path).get("type"):  # of a tool that the provider runs
                return [_provided({key: value}, path)]
            call = _call(as_object(value, path), path)
            self._names[call.id] = call.name
            return [call]
        if key == "reasoningContent":
            return [_thinking(as_object(value, path), path)]
        if key == "citationsContent":
            return _cited_text(as_object(value, path), path)
        if key == "toolResult":
            return [_provided({key: value}, path)]
        # An answer cannot have images or documents: they become text.
        return [
            block if type(block) is TextContent else TextContent(f"({key})") for block in _user_blocks(key, value, path)
        ]

    def _result(self, value: Block, path: str) -> ToolResultMessage:
        call_id = as_text(value.get("toolUseId"), f"{path}.toolUseId")
        content: list[UserContent] = []
        for index, block in enumerate(as_list(value.get("content"), f"{path}.content")):
            where = f"{path}.content[{index}]"
            key, inner = _member(block, where)
            content += _user_blocks(key, inner, f"{where}.{key}")
        return ToolResultMessage(
            call_id, self._names.get(call_id, ""), content, is_error=value.get("status") == "error"
        )


# -- answers ---------------------------------------------------------------------------------------------------------


def _call(value: Block, path: str) -> ToolCall:
    arguments = value.get("input")
    if not isinstance(arguments, dict):
        raise FormatError("the input of a call must be an object", path=f"{path}.input")
    return ToolCall(
        as_text(value.get("toolUseId"), f"{path}.toolUseId"), as_text(value.get("name"), f"{path}.name"), arguments
    )


def _thinking(value: Block, path: str) -> ThinkingContent:
    if "redactedContent" in value:
        payload = _base64(value["redactedContent"], f"{path}.redactedContent")
        return ThinkingContent("", payload, redacted=True)
    inner = as_object(value.get("reasoningText"), f"{path}.reasoningText")
    signature = inner.get("signature")
    if signature is not None:
        signature = as_text(signature, f"{path}.reasoningText.signature")
    return ThinkingContent(as_text(inner.get("text"), f"{path}.reasoningText.text"), signature)


def _cited_text(value: Block, path: str) -> list[AssistantContent]:
    """A text with its citations."""
    citations = as_list(value.get("citations") or [], f"{path}.citations")
    text = "".join(_texts(value.get("content")))
    return [TextContent(text, citations_signature(citations))] if text or citations else []


def _provided(block: Block, path: str) -> ProviderContent:
    """A block that only the API can read back."""
    try:
        return ProviderContent(block, kind_of_block(block), readable(block))
    except (FormatError, RecursionError, TypeError, OverflowError) as error:
        raise FormatError(str(error), path=path) from None


# -- text, images and others -----------------------------------------------------------------------------------------


def _user_blocks(key: str, value: Any, path: str) -> list[UserContent]:
    reader = _READERS.get(key)
    if reader is None:
        return [TextContent(f"({key} block)")]
    return reader(value, path)


def _text(value: Any, path: str) -> list[UserContent]:
    return [TextContent(as_text(value, path))]


def _json(value: Any, path: str) -> list[UserContent]:
    return [TextContent(msgspec.json.encode(value).decode())]


def _image(value: Any, path: str) -> list[UserContent]:
    image = as_object(value, path)
    source = as_object(image.get("source"), f"{path}.source")
    if "bytes" in source:
        kind = as_text(image.get("format"), f"{path}.format")
        return [ImageContent(_base64(source["bytes"], f"{path}.source.bytes"), f"image/{kind}")]
    return [TextContent(f"(image at {_uri(source)})")]


def _document(value: Any, path: str) -> list[UserContent]:
    document = as_object(value, path)
    source = as_object(document.get("source"), f"{path}.source")
    name = document.get("name") if isinstance(document.get("name"), str) else None
    if "bytes" in source:
        mime_type = TYPES.get(("document", str(document.get("format") or "")), UNKNOWN_TYPE)
        return [FileContent(_base64(source["bytes"], f"{path}.source.bytes"), mime_type, name=name)]
    title = " ".join(str(part) for part in ("document", document.get("name"), document.get("format")) if part)
    if isinstance(source.get("text"), str):
        return [FileContent(source["text"].encode("utf-8", "replace"), "text/plain", name=name)]
    if isinstance(source.get("content"), list):
        return [TextContent("\n".join([f"({title})", *_texts(source["content"])]))]
    return [TextContent(f"({title} at {_uri(source)})" if "s3Location" in source else f"({title})")]


def _recording(kind: str) -> Callable[[Any, str], list[UserContent]]:
    def read(value: Any, path: str) -> list[UserContent]:
        media = as_object(value, path)
        source = media.get("source")
        mime_type = TYPES.get((kind, str(media.get("format"))))
        if isinstance(source, dict) and "bytes" in source and mime_type is not None:
            return [FileContent(_base64(source["bytes"], f"{path}.source.bytes"), mime_type)]
        where = f" at {_uri(source)}" if isinstance(source, dict) and "s3Location" in source else ""
        return [TextContent(f"({kind}{where})")]

    return read


def _cited(value: Any, path: str) -> list[UserContent]:
    return [TextContent(text) for text in _texts(as_object(value, path).get("content"))]


def _search_result(value: Any, path: str) -> list[UserContent]:
    found = as_object(value, path)
    title = f"(search result: {found.get('title', '')}, {found.get('source', '')})"
    return [TextContent("\n".join([title, *_texts(found.get("content"))]))]


def _guarded(value: Any, path: str) -> list[UserContent]:
    guarded = as_object(value, path)
    if "image" in guarded:
        return _image(guarded["image"], f"{path}.image")
    inner = as_object(guarded.get("text"), f"{path}.text")
    return _text(inner.get("text"), f"{path}.text.text")


def _tool_change(verb: str) -> Callable[[Any, str], list[UserContent]]:
    def read(value: Any, path: str) -> list[UserContent]:
        tool = as_object(value, path).get("tool")
        return [TextContent(f"(tool {verb}: {tool.get('name', '') if isinstance(tool, dict) else ''})")]

    return read


def _nothing(value: Any, path: str) -> list[UserContent]:
    return []


_READERS: dict[str, Callable[[Any, str], list[UserContent]]] = {
    "text": _text,
    "json": _json,
    "image": _image,
    "document": _document,
    "video": _recording("video"),
    "audio": _recording("audio"),
    "citationsContent": _cited,
    "searchResult": _search_result,
    "guardContent": _guarded,
    "toolAddition": _tool_change("added"),
    "toolRemoval": _tool_change("removed"),
    "cachePoint": _nothing,
}


# -- the rest --------------------------------------------------------------------------------------------------------


def _system(value: Any) -> str | None:
    if value is None:
        return None
    texts: list[str] = []
    for index, block in enumerate(as_list(value, "system")):
        key, inner = _member(block, f"system[{index}]")
        found = _user_blocks(key, inner, f"system[{index}].{key}")
        texts += [block.text for block in found if type(block) is TextContent]
    return "\n\n".join(texts) or None


def _tools(value: Any) -> list[ToolDefinition]:
    if value is None:
        return []
    tools: list[ToolDefinition] = []
    for index, entry in enumerate(as_list(as_object(value, "toolConfig").get("tools"), "toolConfig.tools")):
        path = f"toolConfig.tools[{index}]"
        key, inner = _member(entry, path)
        if key == "cachePoint":
            continue
        spec = as_object(inner, f"{path}.{key}")
        name, description = as_text(spec.get("name"), f"{path}.{key}.name"), spec.get("description")
        schema = spec.get("inputSchema")
        schema = schema.get("json") if isinstance(schema, dict) else None
        tools.append(
            ToolDefinition(
                name,
                description if isinstance(description, str) else "",
                schema if isinstance(schema, dict) else {"type": "object", "properties": {}},
            )
        )
    return tools


def _member(block: Any, path: str) -> tuple[str, Any]:
    """The one field of a union. Fields that are null do not count."""
    found = [(key, value) for key, value in as_object(block, path).items() if value is not None]
    if len(found) != 1:
        raise FormatError(f"a block must have exactly one field, not {len(found)}", path=path)
    return found[0]


def _texts(value: Any) -> list[str]:
    blocks = value if isinstance(value, list) else []
    return [block["text"] for block in blocks if isinstance(block, dict) and isinstance(block.get("text"), str)]


def _uri(source: Block) -> str:
    location = source.get("s3Location")
    return str(location.get("uri", "")) if isinstance(location, dict) else "an unknown place"


def _base64(value: Any, path: str) -> str:
    """Data as base64; it is base64 in the REST API and ``bytes`` in boto3."""
    return b64encode(value).decode() if isinstance(value, bytes | bytearray) else as_text(value, path)
