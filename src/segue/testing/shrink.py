"""Make a JSON document smaller, as long as a condition holds.

Nothing here knows what the document means: whether a part is needed is decided by the condition alone.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

Holds = Callable[[Any], bool]
LENGTHS = (0, 1, 8, 64)
"""Sizes to which a long text is cut, the smallest that works."""


def shrink(document: Any, holds: Holds) -> Any:
    """The document with everything left out that ``holds`` does not need. It must hold for the document itself."""
    while (smaller := _smaller(document, holds)) != document:
        document = smaller
    return document


def _smaller(value: Any, holds: Holds) -> Any:
    match value:
        case list():
            return _smaller_items(_fewer(value, holds), holds)
        case dict():
            return _smaller_fields(value, holds)
        case str():
            return _shorter(value, holds)
        case _:
            return value


def _fewer(items: list[Any], holds: Holds) -> list[Any]:
    """Leave out runs of items, long runs first. Runs may overlap, because a call and its result go together."""
    size = len(items)
    while size:
        at = 0
        while at < len(items):
            rest = items[:at] + items[at + size :]
            if len(rest) < len(items) and holds(rest):
                items = rest
            else:
                at += max(size // 2, 1)
        size //= 2
    return items


def _smaller_items(items: list[Any], holds: Holds) -> list[Any]:
    for at in range(len(items)):
        put = partial(_with_item, items, at)
        items = put(_smaller(items[at], _after(put, holds)))
    return items


def _smaller_fields(fields: dict[str, Any], holds: Holds) -> dict[str, Any]:
    for name in list(fields):
        rest = {key: value for key, value in fields.items() if key != name}
        if holds(rest):
            fields = rest
    for name in fields:
        put = partial(_with_field, fields, name)
        fields = put(_smaller(fields[name], _after(put, holds)))
    return fields


def _with_item(items: list[Any], at: int, new: Any) -> list[Any]:
    return [*items[:at], new, *items[at + 1 :]]


def _with_field(fields: dict[str, Any], name: str, new: Any) -> dict[str, Any]:
    return {**fields, name: new}


def _after(put: Callable[[Any], Any], holds: Holds) -> Holds:
    """The condition for a part: that it holds for the whole with this part in its place."""
    return lambda new: holds(put(new))


def _shorter(text: str, holds: Holds) -> str:
    return next((text[:length] for length in LENGTHS if length < len(text) and holds(text[:length])), text)
