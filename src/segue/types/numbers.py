"""Numbers that JSON cannot hold: NaN and infinities. The encoder would silently write them as null."""

import math
from typing import Any

from msgspec import Struct

from ..errors import FormatError


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
