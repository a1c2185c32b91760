"""What other tools of this family write differently, turned into what we write. Tried only when the fast way fails.

They say ``api`` for ``protocol``, leave empty optionals in, write null for what is absent, and cut emoji in half.
Everything below a block stays raw text, so that numbers and key order are kept.
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
    }
)
_EMPTY = (b'""', b"null")
_object = msgspec.json.Decoder(dict[str, Raw]).decode
_array = msgspec.json.Decoder(list[Raw]).decode


def as_we_write_it(data: bytes) -> bytes:
    """The same document, or single message, in our words."""
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
        return raw  # whatever is wrong with it will be told with its place


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
    return {name: item for name, item in value.items() if not (name in _OPTIONAL and bytes(item) in _EMPTY)}
