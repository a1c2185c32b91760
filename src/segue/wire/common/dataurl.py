"""Images as data URLs. The URL is built only when the body is written, so the stored base64 is shared until then."""

from typing import Any

import msgspec


class DataUrl:
    """The ``data:`` URL of an image."""

    __slots__ = ("data", "kind")

    def __init__(self, kind: str, data: str) -> None:
        self.kind = kind
        self.data = data


def _as_text(value: Any) -> str:
    if type(value) is DataUrl:
        return f"data:{value.kind};base64,{value.data}"
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


to_json = msgspec.json.Encoder(enc_hook=_as_text).encode
"""Write a body, or a part of one, as JSON."""


def to_builtins(value: Any) -> Any:
    """A body, or a part of one, as dicts, lists, texts and numbers only."""
    return msgspec.to_builtins(value, enc_hook=_as_text)
