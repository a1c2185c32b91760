"""Single keywords: tuples, arrays, regular expressions, and the schemas ``true`` and ``false``."""

from typing import Any

from ....dialects import SchemaShape
from ..checks import Place
from .keywords import GONE, READ, Notes, Schema, is_pattern, mapped, without_gone
from .merge import kinds_of


def is_array(schema: Schema) -> bool:
    """Whether the type of a schema is, or may be, an array."""
    return "array" in kinds_of(schema.get("type"))


def adapted_parts(schema: Any, shape: SchemaShape, notes: Notes, place: Place = None) -> Any:
    """The schema with all of these as the target accepts them, at every level."""
    if isinstance(schema, bool):
        return _boolean(schema, shape, notes)
    changed = _tuple(schema, shape, notes, place)
    if shape.array_items and is_array(changed) and "items" not in changed:  # "array schema missing items"
        changed = changed | {"items": {}}
        notes.change("arrays have 'items'")
    if shape.patterns != "any":
        changed = _patterns(changed, shape, notes, place)
    flags = {keyword: changed[keyword] for keyword in _FLAGS if isinstance(changed.get(keyword), bool)}
    read = READ[shape.draft]
    return mapped(changed, place, notes, lambda each, at: adapted_parts(each, shape, notes, at), read) | flags


_FLAGS = ("additionalProperties", "unevaluatedProperties", "unevaluatedItems")
"""Keywords whose value may be a boolean everywhere."""


def _boolean(schema: bool, shape: SchemaShape, notes: Notes) -> Any:
    if shape.booleans:
        return schema
    notes.change("schemas are objects")
    return {} if schema else {"not": {}}


# -- tuples ----------------------------------------------------------------------------------------------------------


def _tuple(schema: Schema, shape: SchemaShape, notes: Notes, place: Place) -> Schema:
    """A tuple as the target writes it. Before draft 2020-12, it is a list in ``items``."""
    if shape.tuples == "any":
        return schema
    if isinstance(schema.get("items"), list):
        listed = {} if "prefixItems" in schema else {"prefixItems": schema["items"]}
        schema = without_gone(schema | {"items": schema.get("additionalItems", GONE), "additionalItems": GONE} | listed)
        notes.change("tuples have 'prefixItems'")
    if "prefixItems" in schema and schema.get("items") is False:
        most = len(schema["prefixItems"])
        longest = min(most, schema.get("maxItems", most))
        schema = without_gone(schema | {"items": GONE, "maxItems": longest})
        notes.change("tuples have 'maxItems'")
    if shape.tuples == "one" and "prefixItems" in schema:
        return _one_for_all(schema, notes, place)
    return schema


def _one_for_all(schema: Schema, notes: Notes, place: Place) -> Schema:
    """A tuple as an array: one schema for all elements."""
    first, rest = schema["prefixItems"], schema.get("items", True)
    members: list[Any] = [*first, *([rest] if schema.get("maxItems", len(first) + 1) > len(first) else [])]
    notes.change("tuples are arrays of one kind")
    if any(each is True or each == {} for each in members):
        items: Any = {}
    else:
        distinct = [each for at, each in enumerate(members) if each is not False and each not in members[:at]]
        items = distinct[0] if len(distinct) == 1 else {"anyOf": distinct} if distinct else {}
    if "anyOf" in items or items == {}:
        notes.loosen(place, "elements may be in any order")
    return without_gone(schema | {"prefixItems": GONE, "items": items or GONE})


# -- regular expressions ---------------------------------------------------------------------------------------------


def _patterns(schema: Schema, shape: SchemaShape, notes: Notes, place: Place) -> Schema:
    """The schema without regular expressions that the target cannot read."""
    if not is_pattern(schema.get("pattern"), shape.patterns):
        notes.loosen(place, "the target cannot read the pattern")
        schema = without_gone(schema | {"pattern": GONE})
    named = schema.get("patternProperties")
    if isinstance(named, dict) and not all(is_pattern(name, shape.patterns) for name in named):
        kept = {name: each for name, each in named.items() if is_pattern(name, shape.patterns)}
        notes.loosen(place, "the target cannot read the pattern of some properties, so that all are accepted")
        schema = without_gone(
            schema | {"patternProperties": kept or GONE, "additionalProperties": GONE, "unevaluatedProperties": GONE}
        )
    return schema
