"""The shape of request bodies as data, and a check that finds every difference of a body from its shape.

A table lists the objects of a protocol: their fields, which fields are required, and what each may hold. The tables are
generated from the request types of the providers' SDKs by ``scripts/shapes.py``, and are stored beside the rules of
their protocol. The alternatives of a node are separated by JSON type, so that at most one of them fits a value; objects
are distinguished by their tags. The check takes linear time and does not recurse.

The sorts of faults: ``unknown`` (field), ``absent`` (a field that only another API of the protocol has), ``missing`` (a
required field), ``kind`` (another JSON type), ``null``, ``value`` (not one of those listed, or a pattern that does not
match), ``union`` (none or several of the members that exclude each other), ``size``.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from .rule import Fault

TAGS = ("type", "role")
"""The fields that distinguish objects."""


class Text(Struct, frozen=True, omit_defaults=True):
    """A string; sizes are in characters."""

    values: tuple[str, ...] | None = None  # None: any
    any_case: bool = False
    min: int = 0
    max: int | None = None
    pattern: str | None = None  # of the whole string


class Number(Struct, frozen=True, omit_defaults=True):
    whole: bool = False
    values: tuple[float, ...] | None = None
    min: float | None = None
    max: float | None = None


class Items(Struct, frozen=True, omit_defaults=True):
    """A list."""

    of: "Node"
    min: int = 0
    max: int | None = None


class Entries(Struct, frozen=True, omit_defaults=True):
    """An object with arbitrary keys."""

    of: "Node"
    min: int = 0
    max: int | None = None
    key: Text | None = None


class Node(Struct, frozen=True, omit_defaults=True):
    """What a value may be: any of the alternatives that are set."""

    any: bool = False
    null: bool = False
    flag: bool = False
    flags: tuple[bool, ...] | None = None  # the allowed values of a flag
    text: Text | None = None
    number: Number | None = None
    items: Items | None = None
    entries: Entries | None = None
    objects: tuple[str, ...] = ()  # names of records


class Record(Struct, frozen=True, omit_defaults=True):
    """An object with known fields."""

    fields: dict[str, Node] = {}
    required: tuple[str, ...] = ()
    union: bool = False  # exactly one field is present
    open: bool = False  # other fields are accepted, too


class Table(Struct, frozen=True, omit_defaults=True):
    """All records of a protocol."""

    sources: dict[str, str]  # package: version
    root: str
    records: dict[str, Record]
    # Fields may also be written with underscores (Protocol Buffers read both spellings).
    both_spellings: bool = False
    # If a protocol has several APIs: by API and record, the fields that this API does not have.
    absent: dict[str, dict[str, tuple[str, ...]]] = {}


Names = Mapping[str, frozenset[str]]
"""Names of fields, by record."""
_NONE: Names = {}

Place = tuple[Any, str | int] | None
"""The place of a value: the place of its container, and its key there. Formatted only for a fault."""


@cache
def load(file: Path) -> Table:
    """Return the table in a file, which is read when it is first needed."""
    table = msgspec.json.decode(file.read_bytes(), type=Table)
    if not table.both_spellings:
        return table
    records = {name: _in_both_spellings(record) for name, record in table.records.items()}
    absent = {
        surface: {record: (*fields, *map(snake, fields)) for record, fields in rows.items()}
        for surface, rows in table.absent.items()
    }
    return msgspec.structs.replace(table, records=records, absent=absent)


def _in_both_spellings(record: Record) -> Record:
    other = {snake(name): node for name, node in record.fields.items()}
    return msgspec.structs.replace(record, fields=other | record.fields)


def snake(name: str) -> str:
    """Convert ``functionCall`` to ``function_call``."""
    return re.sub("[A-Z]", lambda hump: "_" + hump[0].lower(), name)


def faults(body: Any, table: Table, extra: Names = _NONE, absent: Names = _NONE) -> Iterator[Fault]:
    """Yield every difference of ``body`` from the table, in the order of the body. A target may have more fields
    (``extra``, whose values are not checked) or fewer (``absent``)."""
    if not isinstance(body, dict):
        yield Fault("kind", "", f"a request body is a JSON object, not {kind_name(body)}")
        return
    yield from _Walk(table, extra, absent).walk(body, Node(objects=(table.root,)), None)


class _Walk:
    """The check of one body against its table."""

    def __init__(self, table: Table, extra: Names, absent: Names) -> None:
        self.records = table.records
        self.extra = extra
        self.absent = absent

    def walk(self, value: Any, node: Node, path: Place) -> Iterator[Fault]:
        waiting: list[tuple[Any, Node, Place]] = [(value, node, path)]
        while waiting:
            value, node, path = waiting.pop()
            if node.any:
                continue
            if isinstance(value, dict) and (node.entries is not None or node.objects):
                inside = self._entries if node.entries is not None else self._object
                yield from inside(value, node, path, waiting)
            elif isinstance(value, list) and node.items is not None:
                yield from _size(len(value), node.items, path, "items")
                of = node.items.of
                waiting += [(value[at], of, (path, at)) for at in range(len(value) - 1, -1, -1)]
            else:
                yield from _plain(value, node, path)

    def _entries(
        self, value: dict[str, Any], node: Node, path: Place, waiting: list[tuple[Any, Node, Place]]
    ) -> Iterator[Fault]:
        assert node.entries is not None
        yield from _size(len(value), node.entries, path, "entries")
        if node.entries.key is not None:
            for key in value:
                yield from _text(str(key), node.entries.key, (path, key))
        of = node.entries.of
        if not of.any:
            waiting += [(value[key], of, (path, key)) for key in reversed(value)]

    def _object(
        self, value: dict[str, Any], node: Node, path: Place, waiting: list[tuple[Any, Node, Place]]
    ) -> Iterator[Fault]:
        names = node.objects
        for tag in TAGS if len(names) > 1 else ():
            left = [name for name in names if _fits(value, self.records[name], tag)]
            if not left:
                yield self._no_such_tag(value, names, tag, path)
                return
            names = tuple(left)
        if len(names) > 1:
            yield from self._closest(value, names, path)
            return
        record = self.records[names[0]]
        known = self.extra.get(names[0], frozenset())
        yield from _fields(value, record, known, path)
        absent = self.absent.get(names[0], frozenset())
        for name in value if absent else ():
            if name in absent and value[name] is not None:
                yield Fault("absent", _written((path, name)), "this API does not have this field")
        fields = record.fields
        waiting += [(value[key], fields[key], (path, key)) for key in reversed(value) if key in fields]

    def _no_such_tag(self, value: dict[str, Any], names: tuple[str, ...], tag: str, path: Place) -> Fault:
        known: dict[str, None] = {}
        for name in names:
            field = self.records[name].fields.get(tag)
            known |= dict.fromkeys((field.text.values or ()) if field is not None and field.text is not None else ())
        listed = ", ".join(known)
        if tag not in value:
            return Fault("missing", _written((path, tag)), f"{tag!r} is required: one of {listed}")
        return Fault("value", _written((path, tag)), f"{_shown(value[tag])} is not one of {listed}")

    def _closest(self, value: dict[str, Any], names: tuple[str, ...], path: Place) -> Iterator[Fault]:
        """If the tags fit several records, yield the faults of the record that fits best. Such records never contain
        themselves (a test checks that), so this costs only a constant factor."""
        best: list[Fault] | None = None
        for name in names:
            found = list(self.walk(value, Node(objects=(name,)), path))
            if not found:
                return
            if best is None or _distance(found) < _distance(best):
                best = found
        yield from best or ()


def _distance(found: list[Fault]) -> tuple[int, int]:
    """How different an object is from a record; unknown fields count most."""
    return sum(fault.sort == "unknown" for fault in found), len(found)


def _fits(value: dict[str, Any], record: Record, tag: str) -> bool:
    """Whether the record allows the tag of an object, or, if the object has none, does not require it."""
    node = record.fields.get(tag)
    if tag not in value:
        return tag not in record.required
    if node is None:
        return record.open
    if node.text is None or node.text.values is None:
        return True
    found = value[tag]
    return (found is None and node.null) or (isinstance(found, str) and found in node.text.values)


def _fields(value: dict[str, Any], record: Record, extra: frozenset[str], path: Place) -> Iterator[Fault]:
    for name in record.required:
        if name not in value:
            yield Fault("missing", _written((path, name)), f"{name!r} is required")
    if not record.open:
        for name in value:
            if name not in record.fields and name not in extra:
                known = f"; the fields are {', '.join(record.fields)}" if len(record.fields) <= 12 else ""
                yield Fault("unknown", _written((path, name)), f"unknown field {_shown(name)}{known}")
    if record.union:
        members = [name for name in value if name in record.fields]
        if len(members) > 1:
            yield Fault("union", _written(path), f"{', '.join(members)} exclude each other: exactly one is required")
        elif not members:
            yield Fault("union", _written(path), f"exactly one is required of {', '.join(record.fields)}")


# -- plain values ----------------------------------------------------------------------------------------------------


def _plain(value: Any, node: Node, path: Place) -> Iterator[Fault]:
    if value is None:
        if not node.null:
            yield Fault("null", _written(path), f"expected {_wanted(node)}, not null; leave the field out")
    elif isinstance(value, str) and node.text is not None:
        yield from _text(value, node.text, path)
    elif isinstance(value, bool) and node.flag:
        if node.flags is not None and value not in node.flags:
            yield Fault("value", _written(path), f"only {str(not value).lower()} is allowed here")
    elif isinstance(value, int | float) and not isinstance(value, bool) and node.number is not None:
        yield from _number(value, node.number, path)
    else:
        yield Fault("kind", _written(path), f"expected {_wanted(node)}, not {kind_name(value)}")


def _text(value: str, text: Text, path: Place) -> Iterator[Fault]:
    if text.values is not None:
        known = [each.lower() for each in text.values] if text.any_case else text.values
        if (value.lower() if text.any_case else value) not in known:
            yield Fault("value", _written(path), f"{_shown(value)} is not one of {', '.join(text.values)}")
        return
    yield from _size(len(value), text, path, "characters")
    if text.pattern is not None and len(value) >= text.min and not _compiled(text.pattern).fullmatch(value):
        yield Fault("value", _written(path), f"{_shown(value)} does not match {text.pattern}")


def _number(value: float, number: Number, path: Place) -> Iterator[Fault]:
    if number.whole and isinstance(value, float) and not value.is_integer():
        yield Fault("kind", _written(path), f"expected a whole number, not {value}")
    elif number.values is not None and value not in number.values:
        yield Fault("value", _written(path), f"{value} is not one of {', '.join(map(str, number.values))}")
    elif number.min is not None and value < number.min:
        yield Fault("size", _written(path), f"{value}; the minimum is {number.min:g}")
    elif number.max is not None and value > number.max:
        yield Fault("size", _written(path), f"{value}; the maximum is {number.max:g}")


def _size(size: int, limits: Text | Items | Entries, path: Place, of: str) -> Iterator[Fault]:
    if size < limits.min:
        yield Fault("size", _written(path), f"{size} {of}; the minimum is {limits.min}")
    elif limits.max is not None and size > limits.max:
        yield Fault("size", _written(path), f"{size} {of}; the maximum is {limits.max}")


# -- texts -----------------------------------------------------------------------------------------------------------

_compiled = cache(re.compile)

_KINDS = {
    str: "a string",
    bool: "true or false",
    int: "a number",
    float: "a number",
    list: "a list",
    dict: "an object",
    type(None): "null",
}


def kind_name(value: Any) -> str:
    """The kind of a JSON value, such as ``a list``."""
    return _KINDS.get(type(value), f"a Python {type(value).__name__}")


def _wanted(node: Node) -> str:
    """Describe what a value may be."""
    kinds = (
        (node.text is not None, "a string"),
        (node.number is not None, "a whole number" if node.number is not None and node.number.whole else "a number"),
        (node.flag, "true or false"),
        (node.items is not None, "a list"),
        (node.entries is not None or bool(node.objects), "an object"),
    )
    return " or ".join(name for applies, name in kinds if applies) or "nothing"


def _shown(value: Any) -> str:
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 80 else text[:79] + "…"


def _written(path: Place) -> str:
    pieces: list[str] = []
    while path is not None:
        path, key = path
        pieces.append(f"[{key}]" if isinstance(key, int) else f".{key}")
    return "".join(reversed(pieces)).removeprefix(".").encode("utf-8", "replace").decode()
