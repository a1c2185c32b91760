"""What targets refuse in a tool schema: one check for each field of ``SchemaShape``. ``adapt`` prevents all of it.

The texts about unions, types and references are those of Moonshot's validator (MoonshotAI/walle, 2026-11).
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ....dialects import SchemaShape
from ..checks import Place, path_of, shown
from . import keywords
from .keywords import MAX_DEPTH, READ, Schema, inner, is_pattern
from .merge import kinds_of
from .parts import is_array
from .roots import ALTERNATIVES, bad_names
from .unions import kind_of

Texts = Iterator[tuple[str, str]]
"""The keyword that a fault is about, or "", and a text."""


class _Node(NamedTuple):
    """A schema, and the keyword of the schema around it that contains it; "" at the root."""

    schema: Schema
    keyword: str


def refused(schema: Any, shape: SchemaShape, path: str) -> Iterator[tuple[str, str]]:
    """The path and a text for everything in a schema that the target refuses."""
    if not isinstance(schema, dict):
        yield path, "a schema must be an object"
        return
    for place, text in keywords.faults(schema, shape.draft):
        yield _joined(path, place), text
    waiting: list[tuple[Place, Any, str, int]] = [(None, schema, "", 0)]
    while waiting:
        place, each, keyword, depth = waiting.pop()
        if isinstance(each, bool) and not shape.booleans and keyword not in ("additionalProperties", "not"):
            yield _joined(path, place), "a schema must be an object"
        if not isinstance(each, dict) or depth > MAX_DEPTH:
            continue
        for check in _CHECKS:
            for name, text in check(_Node(each, keyword), shape):
                yield _joined(path, (place, name) if name else place), text
        waiting += [
            (where, below, _keyword(where, place), depth + 1) for where, below in inner(each, place, READ[shape.draft])
        ]


def _joined(path: str, place: Place) -> str:
    return ".".join(part for part in (path, path_of(place)) if part)


def _keyword(place: Place, outer: Place) -> str:
    """The keyword of the outer schema in which a place is."""
    while place is not None and place[0] is not outer:
        place = place[0]
    return "" if place is None else str(place[1])


# -- checks ----------------------------------------------------------------------------------------------------------


def _root(node: _Node, shape: SchemaShape) -> Texts:
    if node.keyword or shape.root == "any":
        return
    schema = node.schema
    if schema.get("type") != "object":
        yield "type", f"the root of a schema must be of type 'object', not {shown(schema.get('type'))!r}"
    if shape.root == "plain":
        yield from ((name, f"the root of a schema must not have {name!r}") for name in ALTERNATIVES if name in schema)
    allowed = shape.root_keywords
    if allowed is not None:
        yield from ((name, f"the root has only {', '.join(sorted(allowed))}") for name in schema if name not in allowed)
    if shape.property_names is not None:
        for name in bad_names(schema, shape.property_names):
            yield "properties", f"the name {shown(name)!r} does not match {shape.property_names}"


def _tuples(node: _Node, shape: SchemaShape) -> Texts:
    items = node.schema.get("items")
    if shape.tuples == "one" and isinstance(items, list):
        yield "items", "items must be an object"
    if shape.tuples == "one" and "prefixItems" in node.schema:
        yield "prefixItems", "tuples are not supported"
    if shape.array_items and is_array(node.schema) and "items" not in node.schema:
        yield "", "array schema missing items"


def _patterns(node: _Node, shape: SchemaShape) -> Texts:
    if not is_pattern(node.schema.get("pattern"), shape.patterns):
        yield "pattern", f"{shown(node.schema['pattern'])!r} is not a 'regex'"
    named = node.schema.get("patternProperties")
    for name in named if isinstance(named, dict) else ():
        if not is_pattern(name, shape.patterns):
            yield "patternProperties", f"{shown(name)!r} is not a 'regex'"


def _unions(node: _Node, shape: SchemaShape) -> Texts:
    if shape.unions == "any":
        return
    schema = node.schema
    choices = schema.get("anyOf")
    if isinstance(choices, list):
        if "type" in schema:
            yield "", "when using anyOf, type should be defined in anyOf items instead of the parent schema"
        outer = set(schema) - {"anyOf", "type", "description", "title"}
        both = sorted({name for each in choices if isinstance(each, dict) for name in outer & set(each)})
        if both:
            yield "", f"conflicting keywords found in anyOf with parent: {', '.join(both)}"


def _types(node: _Node, shape: SchemaShape) -> Texts:
    schema, kind = node.schema, node.schema.get("type")
    if not shape.typed:
        return
    if kind is None and not any(name in schema for name in ("anyOf", "$ref", "oneOf", "allOf")):
        yield "", "type is not defined"
    values = schema.get("enum")
    if isinstance(values, list) and kind is not None:
        kinds = kinds_of(kind)
        for value in values:
            if kind_of(value) not in kinds and not (kind_of(value) == "integer" and "number" in kinds):
                yield "enum", f"enum value ({shown(value)}) does not match any type in {kinds}"


def _required(node: _Node, shape: SchemaShape) -> Texts:
    names, properties = node.schema.get("required"), node.schema.get("properties")
    if shape.known_required and isinstance(names, list):
        for name in names:
            if isinstance(name, str) and not (isinstance(properties, dict) and name in properties):
                yield "required", f"required property {shown(name)!r} is not defined in properties"


def _references(node: _Node, shape: SchemaShape) -> Texts:
    reference = node.schema.get("$ref")
    if reference is None or shape.refs == "keep":
        return
    if shape.refs == "none":
        yield "$ref", "references are not supported"
        return
    if not isinstance(reference, str) or not reference.startswith("#/$defs/"):
        yield "$ref", "references must start with #/$defs/"
    beside = sorted(name for name in node.schema if name not in ("$ref", "$defs", "$id"))
    if beside:
        yield "", f"conflicting keywords found after $ref expansion: {', '.join(beside)}"


_CHECKS: tuple[Callable[[_Node, SchemaShape], Texts], ...] = (
    _root,
    _tuples,
    _patterns,
    _unions,
    _types,
    _required,
    _references,
)
