"""Unexpected values, and functions to put them anywhere in a JSON document."""

import json
import math
from collections.abc import Iterator
from typing import Any

DEEP: Any = json.loads("[" * 600 + "]" * 600)
DEEP_OBJECT: Any = json.loads('{"a":' * 600 + "1" + "}" * 600)
HOSTILE: list[Any] = [
    None,
    True,
    -1,
    10**400,
    1e308,
    math.nan,
    math.inf,
    "",
    "\ud83d",
    "\x00",
    [],
    {},
    [None],
    [[]],
    [{}],
    {"": None},
    {"type": {}},
    {"type": []},
    {"role": {}},
    [{"type": {}}],
    DEEP,
    DEEP_OBJECT,
]


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from paths(item, (*path, key))


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(value[path[0]], path[1:], new)
    return copy


def shape(body: Any, path: tuple[Any, ...]) -> tuple[Any, ...]:
    """A path without list indexes, and with the types of the objects on it: one path of each shape is enough."""
    names: list[Any] = []
    for key in path:
        kind = body.get("type") or body.get("role") if isinstance(body, dict) else None
        names.append((key if isinstance(key, str) else "[]", kind if isinstance(kind, str) else None))
        body = body[key]
    return tuple(names)


def mutants(documents: list[Any]) -> Iterator[Any]:
    """Each document with each hostile value at each place; places of one shape are used once for all documents."""
    for at, path in places(documents):
        for new in HOSTILE:
            yield replaced(documents[at], path, new)


def places(documents: list[Any]) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """The index of a document and a path in it, for every shape of path."""
    seen: set[Any] = set()
    for at, document in enumerate(documents):
        for path in paths(document):
            place = shape(document, path)
            if place not in seen:
                seen.add(place)
                yield at, path
