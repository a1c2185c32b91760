"""Example bodies from a table, one for each field of each record, and mutations of a body."""

import copy
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from segue.rules.shape import TAGS, Node, Record, Table, Text

Place = tuple[str | int, ...]


class Mutant(NamedTuple):
    """A body with one change: what was changed, and where."""

    done: str
    at: Place
    body: Any


OTHERS: tuple[Any, ...] = (None, 7, "\u2603", ["\u2603"], {"\u2603": {"\u2603": 7}}, "", [], {})
"""Replacements for a value: other types of JSON, and empty values."""


def mutants(body: Any, start: Place = ()) -> Iterator[Mutant]:
    """The body with each value at or below ``start`` removed, replaced, emptied, extended with an unknown field,
    doubled or made too long."""
    for at, value in list(_places(_get(body, start), start)):
        for other in OTHERS:
            if type(other) is not type(value) or other in ("", [], {}):
                yield Mutant(f"made {other!r}", at, _changed(body, at, other))
        if at and isinstance(at[-1], str):
            yield Mutant("removed", at, _without(body, at))
        if isinstance(value, dict):
            yield Mutant("an unknown field", at, _changed(body, at, value | {"\u2603": 7}))
        if isinstance(value, list) and value:
            yield Mutant("doubled", at, _changed(body, at, [*value, copy.deepcopy(value[0])]))
            yield Mutant("too long", at, _changed(body, at, [copy.deepcopy(value[0]) for _ in range(1_000)]))
        if isinstance(value, str):
            yield Mutant("of another form", at, _changed(body, at, value + "\u2603"))
            yield Mutant("too long", at, _changed(body, at, value + "x" * 3_000))


def _places(value: Any, at: Place) -> Iterator[tuple[Place, Any]]:
    yield at, value
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inside:
        yield from _places(item, (*at, key))


def _get(body: Any, at: Place) -> Any:
    for key in at:
        body = body[key]
    return body


def _changed(body: Any, at: Place, value: Any) -> Any:
    if not at:
        return value
    key = at[0]
    changed = list(body) if isinstance(body, list) else dict(body)
    changed[key] = _changed(body[key], at[1:], value)  # type: ignore[index]
    return changed


def _without(body: Any, at: Place) -> Any:
    holder = dict(_get(body, at[:-1]))
    del holder[at[-1]]
    return _changed(body, at[:-1], holder)


# -- bodies from a table ---------------------------------------------------------------------------------------------

TEXTS = ("abcd", "123456789012", "s3://bucket/key", "1", "2026-11-17T12:00:00Z")


class Examples:
    """The smallest body for each field of each record of a table; another table may define the required fields."""

    def __init__(self, table: Table, required: Table | None = None) -> None:
        self.records = table.records
        self.required = table.records if required is None else required.records
        self.root = table.root
        # By record: the record and field that contain it, on the shortest path from the root.
        self.parents: dict[str, tuple[str, str]] = {}
        waiting = [table.root]
        for holder in waiting:
            for field, node in table.records[holder].fields.items():
                if snake_twin(field, table.records[holder]):
                    continue
                for name in _records_in(node):
                    if name != table.root and name not in self.parents:
                        self.parents[name] = (holder, field)
                        waiting.append(name)

    def bodies(self) -> Iterator[tuple[str, Place, Any]]:
        """For each field of each record: its name, its place, and a body that has it."""
        for name in (self.root, *self.parents):
            for field in self.records[name].fields:
                if snake_twin(field, self.records[name]):
                    continue
                value = self.smallest(name, field)
                at: Place = (field,)
                here = name
                while here != self.root:
                    holder, above = self.parents[here]
                    value, below = self.around(value, holder, above, here)
                    at, here = (*below, *at), holder
                yield f"{name}.{field}", at, value

    def around(self, value: Any, holder: str, field: str, name: str) -> tuple[Any, Place]:
        """The record ``holder`` around a record, and the place of the record in it."""
        node = self.records[holder].fields[field]
        whole = self.smallest(holder, field)
        if node.items is not None and name in node.items.of.objects:
            return whole | {field: [value]}, (field, 0)
        if name in node.objects:
            return whole | {field: value}, (field,)
        return whole | {field: {"x": value}}, (field, "x")

    def smallest(self, name: str, *more: str) -> dict[str, Any]:
        record = self.records[name]
        tags = [tag for tag in TAGS if tag in record.fields]  # included even if they are optional
        fields = more if record.union else dict.fromkeys((*self._required(name), *tags, *more))
        if record.union and not more:
            fields = (next(iter(record.fields)),)
        return {field: self.example(record.fields[field]) for field in fields}

    def _required(self, name: str) -> tuple[str, ...]:
        return (self.required if name in self.required else self.records)[name].required

    def example(self, node: Node) -> Any:
        if node.any:
            return {}
        if node.items is not None:
            return [self.example(node.items.of)] * max(1, node.items.min)
        if node.objects:
            return self.smallest(node.objects[0])
        if node.entries is not None:
            return {"x": self.example(node.entries.of)}
        if node.number is not None:
            return int(node.number.values[0]) if node.number.values else 1
        if node.text is not None:
            return _text(node.text)
        assert node.flag or node.null, "a place without an example"
        return None if not node.flag else True if node.flags is None else node.flags[0]


def snake_twin(field: str, record: Record) -> bool:
    """Whether a field is the other spelling of one in camel case."""
    return "_" in field and re.sub("_([a-z])", lambda hump: hump[1].upper(), field) in record.fields


def _text(text: Text) -> str:
    if text.values is not None:
        return text.values[0]
    for example in TEXTS:
        fits = text.pattern is None or re.fullmatch(text.pattern, example)
        if fits and len(example) >= text.min:
            return example
    raise AssertionError(f"no example of {text}")


def _records_in(node: Node) -> Iterator[str]:
    yield from node.objects
    for inner in (node.items, node.entries):
        if inner is not None:
            yield from _records_in(inner.of)
