"""Normalise documents that other tools of this family wrote. Used only if a document cannot be read as it is.

They write ``api`` for ``protocol``, write empty or null values for absent ones, and cut emoji in half. Values inside a
block stay raw text, so that numbers and the order of keys are kept.
"""

import msgspec
from msgspec import Raw

from .text import scrub_escapes
from .value import UNREADABLE, encode

_OPTIONAL = frozenset(
    {
        "systemPrompt",
        "tools",
        "textSignature",
        "thinkingSignature",
        "thoughtSignature",
        "redacted",
        "usage",
        "timestamp",
        "responseModel",
        "responseId",
        "errorMessage",
        "diagnostics",
        "endpoint",
        "prefixDigest",
        "isError",
        "synthetic",
        "injected",
        "meta",
        "namespace",
    }
)
_EMPTY = (b'""', b"null")
_object = msgspec.json.Decoder(dict[str, Raw]).decode
_array = msgspec.json.Decoder(list[Raw]).decode


def normalised(data: bytes) -> bytes:
    """Return the same document (or single message) in our spelling."""
    data = scrub_escapes(data)
    try:
        document = _object(data)
        if "messages" not in document:
            return encode(_message(document))
        document["messages"] = Raw(encode([_plain_message(message) for message in _array(document["messages"])]))
    except UNREADABLE:
        return data
    return encode(_without_empty(document))


def _plain_message(raw: Raw) -> Raw:
    try:
        return Raw(encode(_message(_object(raw))))
    except UNREADABLE:
        return raw  # the error that follows names the place


def _message(message: dict[str, Raw]) -> dict[str, Raw]:
    message = _without_empty(message)
    if "api" in message and bytes(message.get("protocol", b"null")) == b"null":
        message["protocol"] = message.pop("api")
    if bytes(message.get("content", b"")).lstrip().startswith(b"["):
        message["content"] = Raw(encode([_plain_block(block) for block in _array(message["content"])]))
    return message


def _plain_block(raw: Raw) -> Raw:
    try:
        return Raw(encode(_without_empty(_object(raw))))
    except UNREADABLE:
        return raw


def _without_empty(value: dict[str, Raw]) -> dict[str, Raw]:
    return {name: item for name, item in value.items() if not (name in _OPTIONAL and _is_empty(name, bytes(item)))}


def _is_empty(name: str, value: bytes) -> bool:
    return value in _EMPTY or (name == "meta" and value == b"{}")
