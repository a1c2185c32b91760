"""Images as data URLs that are put together only when they are written: until then the stored text is shared."""

from typing import Any

import msgspec


class DataUrl:
    """The ``data:`` URL of an image."""

    __slots__ = ("data", "kind")

    def __init__(self, kind: str, data: str) -> None:
        self.kind = kind
        self.data = data


def _spelled(value: Any) -> str:
    if type(value) is DataUrl:
        return f"data:{value.kind};base64,{value.data}"
    raise TypeError(f"{type(value).__name__} cannot be written")


to_json = msgspec.json.Encoder(enc_hook=_spelled).encode
"""The bytes of a body, or of a part of one."""


def to_builtins(value: Any) -> Any:
    """A body, or a part of one, as nothing but dicts, lists, texts and numbers."""
    return msgspec.to_builtins(value, enc_hook=_spelled)
