"""JSON both ways, for every canonical value: strict by kind, lenient by field, and never half-read.

Reading first takes the fast way, which is all there is to a document that we wrote. Only when that fails is a second
look taken: at what other tools write differently (``api`` for ``protocol``, lone surrogates), and then at how to say
what is wrong.
"""

import math
import re
from collections.abc import Hashable
from functools import cache
from typing import Any, TypeVar, cast, get_args

import msgspec
from msgspec import Raw, Struct

from ..errors import FormatError, VersionError
from .content import Block, ImageContent, TextContent, ThinkingContent, ToolCall
from .messages import StopReason
from .text import scrub, scrub_escapes, scrub_json
from .value import Value, encode

T = TypeVar("T")

VERSION = 1
"""The version that stands on a Context; a document without one is read as this."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@cache
def _decoder(kind: Hashable) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(cast(Any, kind))


# ---------------------------------------------------------------------------------------------------------- reading


def read(data: bytes | str, kind: type[T]) -> T:
    """The value of ``kind`` that ``data`` holds, or a ``FormatError`` that says what is wrong, and where."""
    if isinstance(data, str):
        data = scrub(data).encode()
    data = data.removeprefix(_BYTE_ORDER_MARK)
    try:
        value: T = _decoder(cast(Hashable, kind)).decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return _read_again(data, kind, error)
    return value


def _read_again(data: bytes, kind: type[T], error: Exception) -> T:
    for repair in (scrub_escapes, _as_we_write_it):
        repaired = repair(data)
        if repaired != data:
            data = repaired
            try:
                value: T = _decoder(cast(Hashable, kind)).decode(data)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as other:
                error = other
            else:
                return value
    raise _explain(error, data) from None


_OPTIONAL = frozenset(
    {
        "systemPrompt",
        "textSignature",
        "thinkingSignature",
        "thoughtSignature",
        "responseModel",
        "responseId",
        "errorMessage",
        "endpoint",
        "prefixDigest",
    }
)
_Objects = list[dict[str, Raw]]


def _as_we_write_it(data: bytes) -> bytes:
    """The same document with ``protocol`` where other tools say ``api``, and without empty optionals.

    Everything below a block stays raw text.
    """
    try:
        document = _decoder(dict[str, Raw]).decode(data)
        messages = _decoder(_Objects).decode(document["messages"]) if "messages" in document else [document]
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return data
    for message in messages:
        if "api" in message and "protocol" not in message:
            message["protocol"] = message.pop("api")
        _drop_empty(message)
        if bytes(message.get("content", b"")).lstrip().startswith(b"["):
            message["content"] = _plain_blocks(message["content"])
    if "messages" in document:
        _drop_empty(document)
        document["messages"] = Raw(encode(messages))
    return encode(document)


def _plain_blocks(content: Raw) -> Raw:
    try:
        blocks = _decoder(_Objects).decode(content)
    except msgspec.MsgspecError:
        return content
    for block in blocks:
        _drop_empty(block)
    return Raw(encode(blocks))


def _drop_empty(value: dict[str, Raw]) -> None:
    for name in [name for name, item in value.items() if name in _OPTIONAL and bytes(item) == b'""']:
        del value[name]


def _explain(error: Exception, data: bytes) -> FormatError:
    """One line for a person: what is wrong with ``data`` and where."""
    if isinstance(error, RecursionError):
        return FormatError("nested too deeply to be read")
    if isinstance(error, UnicodeDecodeError):
        return FormatError(_broken_utf8(data))
    if not isinstance(error, msgspec.ValidationError):
        return FormatError(f"not JSON: {_syntax(str(error), data)}")
    try:
        document = _decoder(Any).decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as deeper:
        return _explain(deeper, data)
    if isinstance(document, dict) and (version := document.get("version", VERSION)) != VERSION:
        return VersionError(
            f"version {version!r} is not one that this segue reads (it knows {VERSION}); update segue", path="version"
        )
    reason, _, path = str(error).partition(" - at `$")
    path = path.rstrip("`").removeprefix(".")
    if isinstance(document, list | str | int | float | bool | None) and not path:
        return FormatError(f"expected a JSON object, found {_kind_name(document)}")
    if path.endswith("stopReason"):
        reason += f"; it is one of {', '.join(get_args(StopReason))}"
    return _explain_tag(reason, path, document) or FormatError(reason.replace("`", "'"), path=path)


def _explain_tag(reason: str, path: str, document: Any) -> FormatError | None:
    """Words for an unknown role or block type, and for a block in a message that may not hold it."""
    owner, _, tag = path.rpartition(".")
    if not reason.startswith("Invalid value") or tag not in ("role", "type"):
        return None
    value = _follow(document, path)
    if tag == "role":
        return FormatError(f"unknown role {value!r}; a message is of user, assistant or toolResult", path=owner)
    if value not in BLOCK_TAGS:
        return FormatError(f"unknown block type {value!r}; the blocks are {', '.join(BLOCK_TAGS)}", path=owner)
    message, _, _ = owner.rpartition(".")
    role = _follow(document, f"{message}.role" if message else "role")
    return FormatError(f"a {value} block may not stand in a {role} message", path=owner)


BLOCK_TAGS: dict[str, type[Block]] = {
    "text": TextContent,
    "image": ImageContent,
    "thinking": ThinkingContent,
    "toolCall": ToolCall,
}


def _follow(document: Any, path: str) -> Any:
    """What stands at ``messages[3].content[1].type``."""
    for key, index in re.findall(r"([^.\[\]]+)|\[(\d+)\]", path):
        document = document[int(index)] if index else document[key]
    return document


def _kind_name(document: Any) -> str:
    names = {list: "an array", str: "a string", bool: "a boolean", int: "a number", float: "a number"}
    return names.get(type(document), "null")


def _broken_utf8(data: bytes) -> str:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return f"not UTF-8: byte 0x{data[error.start]:02x} at offset {error.start}"
    return "not UTF-8"


def _syntax(text: str, data: bytes) -> str:
    if "truncated" in text:
        return "the text is empty" if not data.strip() else "the text ends in the middle of a value"
    return text.removeprefix("JSON is malformed: ")


# ---------------------------------------------------------------------------------------------------------- writing


def write(value: Any) -> bytes:
    """Canonical JSON of ``value``; a ``FormatError`` for numbers and objects that JSON cannot hold."""
    try:
        data = encode(value)
    except UnicodeEncodeError:
        return write(_scrubbed(value))
    except RecursionError:
        raise FormatError("nested too deeply to be written") from None
    except (TypeError, OverflowError, ValueError) as error:
        raise FormatError(f"cannot be written as JSON: {error}") from None
    # The encoder writes NaN and infinities as null, without a word.
    if not isinstance(value, Value) or value._may_hide_nan():
        refuse_non_finite(value)
    return data


def _scrubbed(value: Any) -> Any:
    """A copy of a canonical value without lone surrogates."""
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, dict):
        return scrub_json(value)
    if isinstance(value, list):
        return [_scrubbed(item) for item in value]
    if isinstance(value, Struct):
        return type(value)(**{name: _scrubbed(getattr(value, name)) for name in value.__struct_fields__})
    return value


def refuse_non_finite(value: Any) -> None:
    """Raise for the first NaN or infinity in ``value``, with its path."""
    waiting: list[tuple[str, Any]] = [("", value)]
    while waiting:
        path, item = waiting.pop()
        if isinstance(item, float) and not math.isfinite(item):
            raise FormatError(f"{item} is a number that JSON cannot hold; put a string or null there", path=path)
        if isinstance(item, Struct):
            children = [(_camel(name), getattr(item, name)) for name in item.__struct_fields__]
        elif isinstance(item, dict):
            children = list(item.items())
        elif isinstance(item, list | tuple):
            waiting += [(f"{path}[{index}]", child) for index, child in reversed(list(enumerate(item)))]
            continue
        else:
            continue
        waiting += [(f"{path}.{name}" if path else str(name), child) for name, child in reversed(children)]


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)
