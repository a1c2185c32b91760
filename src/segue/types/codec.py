"""Read and write the JSON of every canonical value. Types are strict, unknown fields are ignored.

A document that segue wrote is decoded in one step. Only if that fails, spellings of other tools are normalised
(``other_tools``) and the document is decoded again; if that fails too, ``explain`` makes the error.
"""

import json
from collections.abc import Hashable
from functools import cache
from typing import Any, TypeVar, cast

import msgspec
from msgspec import Struct

from ..errors import FormatError
from .explain import explain
from .numbers import refuse_non_finite
from .other_tools import normalised
from .text import scrub, scrub_escapes, scrub_json
from .value import UNREADABLE, Value, encode

__all__ = [
    "BYTE_ORDER_MARK",
    "UNREADABLE",
    "VERSION",
    "encode",
    "json_text",
    "read",
    "read_document",
    "read_json",
    "read_json_with_surrogates",
    "write",
]

T = TypeVar("T")

VERSION = 1
"""The version that is written into a Context; a document without one is read as this version."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@cache
def _decoder(kind: Hashable) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(cast(Any, kind))


_any = msgspec.json.Decoder().decode

# ---------------------------------------------------------------------------------------------------------- reading


def read(data: bytes | str, kind: type[T]) -> T:
    """Read a value of ``kind`` from JSON. A ``FormatError`` states what is wrong, and where."""
    if isinstance(data, str):
        data = scrub(data).encode()
    elif not isinstance(data, bytes):
        raise TypeError(f"JSON is read from bytes or str, not {type(data).__name__}")
    data = data.removeprefix(BYTE_ORDER_MARK)
    decode = _decoder(cast(Hashable, kind)).decode
    try:
        return cast(T, decode(data))
    except UNREADABLE as error:
        first = error
    repaired = normalised(data)
    if repaired == data:
        raise _explained(first, data, kind)
    try:
        return cast(T, decode(repaired))
    except UNREADABLE as error:
        raise _explained(error, repaired, kind) from None


def read_document(data: bytes) -> Any:
    """Read any JSON document; lone surrogates are replaced. A ``FormatError`` states what is wrong."""
    try:
        data.decode()
        return read_json(data)
    except UNREADABLE as error:
        raise explain(error, data, None) from None


def read_json(data: bytes) -> Any:
    """Read any JSON document; lone surrogates are replaced. Raises one of ``UNREADABLE``."""
    try:
        return _any(data)
    except msgspec.DecodeError:
        repaired = scrub_escapes(data)
        if repaired == data:
            raise
        return _any(repaired)


def read_json_with_surrogates(data: bytes) -> Any:
    """Read any JSON document and keep lone surrogates: the other half of the character may be in the next document.
    Raises one of ``UNREADABLE``."""
    try:
        return _any(data)
    except msgspec.DecodeError:
        repaired = scrub_escapes(data)
        if repaired == data:
            raise
        _any(repaired)  # raises if something else is wrong: numbers, constants, nesting
        return json.loads(data)


def json_text(value: Any) -> str:
    """Write what ``read_json_with_surrogates`` returned as JSON text; lone surrogates are kept."""
    try:
        return encode(value).decode()
    except UnicodeEncodeError:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _explained(error: Exception, data: bytes, kind: Any) -> FormatError:
    """Explain a decoding error. Only a conversation has a version, as the tag of its struct."""
    config = getattr(kind, "__struct_config__", None)
    return explain(error, data, VERSION if config is not None and config.tag_field == "version" else None)


# ---------------------------------------------------------------------------------------------------------- writing


def write(value: Any) -> bytes:
    """Write ``value`` as canonical JSON. Raises ``FormatError`` for numbers and objects that JSON cannot hold."""
    try:
        data = _encoded(value)
    except UnicodeEncodeError:
        value = _scrubbed(value)
        data = _encoded(value)
    # The encoder silently writes NaN and infinities as null.
    if (not isinstance(value, Value) or value._may_hide_nan()) and b"null" in data:
        refuse_non_finite(value)
    return data


def _encoded(value: Any) -> bytes:
    try:
        return encode(value)
    except UnicodeEncodeError:
        raise
    except RecursionError:
        raise FormatError("nested too deeply to be written as JSON") from None
    except (TypeError, OverflowError, ValueError) as error:
        raise FormatError(f"cannot be written as JSON: {error}") from None


def _scrubbed(value: Any) -> Any:
    """A copy of a canonical value without lone surrogates."""
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, dict):
        return scrub_json(value)
    if isinstance(value, list | tuple):
        return [_scrubbed(item) for item in value]
    if isinstance(value, Struct):
        return type(value)(**{name: _scrubbed(getattr(value, name)) for name in value.__struct_fields__})
    return value
