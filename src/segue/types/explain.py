"""Explain in one readable line what is wrong with a document: the path, and a clearer text than the decoder's."""

import re
from typing import Any, get_args

import msgspec

from ..errors import FormatError, VersionError
from .content import Block
from .messages import StopReason

BLOCK_TAGS: dict[str, type[Block]] = {kind.__struct_config__.tag: kind for kind in get_args(Block)}


def explain(error: Exception, data: bytes, version: int | None) -> FormatError:
    """Turn the decoder's error into a ``FormatError``.

    ``version`` is the version that documents of this kind have, or ``None`` if they have none.
    """
    if isinstance(error, RecursionError):
        return FormatError("nested too deeply to be read")
    if isinstance(error, UnicodeDecodeError):
        return FormatError(_broken_utf8(data))
    if not isinstance(error, msgspec.ValidationError):
        return FormatError(f"not JSON: {_syntax(str(error), data)}")
    try:
        document = msgspec.json.decode(data)
    except msgspec.ValidationError:  # the same error: a number out of range
        document = None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as deeper:
        return explain(deeper, data, version)
    else:
        if not isinstance(document, dict):
            return FormatError(f"expected a JSON object, found {_kind_name(document)}")
        if version is not None and (found := document.get("version", version)) != version:
            return _wrong_version(found, version)
    return _explain_validation(str(error), document)


def _wrong_version(found: object, known: int) -> VersionError:
    advice = "; update segue" if isinstance(found, int) and found > known else ""
    return VersionError(
        f"version {_short(found)} is not supported: this segue reads version {known}{advice}", path="version"
    )


def _explain_validation(text: str, document: Any) -> FormatError:
    reason, _, path = text.partition(" - at `$")
    path = path.rstrip("`").removeprefix(".")
    owner, _, tag = path.rpartition(".")
    if reason.startswith("Invalid value") and tag in ("role", "type") and document is not None:
        return _explain_tag(owner, tag, document)
    if tag == "stopReason":
        reason += f"; it is one of {', '.join(get_args(StopReason))}"
    return FormatError(reason.replace("`", "'")[:300], path=path)


def _explain_tag(owner: str, tag: str, document: Any) -> FormatError:
    """Explain an unknown role or block type, or a block in a message that may not hold it."""
    value = _follow(document, f"{owner}.{tag}" if owner else tag)
    if tag == "role":
        return FormatError(f"unknown role {_short(value)}; the roles are user, assistant and toolResult", path=owner)
    if value not in BLOCK_TAGS:
        return FormatError(f"unknown block type {_short(value)}; the blocks are {', '.join(BLOCK_TAGS)}", path=owner)
    message, _, _ = owner.rpartition(".")
    role = _follow(document, f"{message}.role" if message else "role")
    return FormatError(f"{_a(value)} block is not allowed in {_a(role)} message", path=owner)


def _follow(document: Any, path: str) -> Any:
    """Return the value at a path such as ``messages[3].content[1].type``."""
    for key, index in re.findall(r"([^.\[\]]+)|\[(\d+)\]", path):
        document = document[int(index)] if index else document[key]
    return document


def _a(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' and noun != 'user' else 'a'} {noun}"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:79] + "…"


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
