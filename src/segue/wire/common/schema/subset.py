"""The subset of OpenAPI that Google's ``parameters`` accept (GEM-16), with the names of types as in JSON Schema.

Every schema has one type, or is ``anyOf`` alone; ``null`` is the flag ``nullable``. Constraints without a keyword in
the subset are moved to the description. A value of any type cannot be expressed completely: it is an alternative for
each type, and its lists do not contain lists.
"""

import math
from typing import Any

import msgspec

from ..checks import Place
from .keywords import Notes, Schema
from .merge import kinds_of

# Keywords that are copied, for the types that have them.
_KEPT: dict[str, tuple[str, ...]] = {
    "string": ("pattern", "minLength", "maxLength"),
    "number": ("minimum", "maximum"),
    "integer": ("minimum", "maximum"),
    "array": ("minItems", "maxItems"),
    "object": ("minProperties", "maxProperties", "propertyOrdering"),
    "boolean": (),
}
# "only 'enum' and 'date-time' are supported for STRING type" (gemini-cli#3178, 2025-07); numbers have widths.
FORMATS: dict[str, tuple[str, ...]] = {
    "string": ("enum", "date-time"),
    "number": ("float", "double"),
    "integer": ("int32", "int64"),
}
_TOLD = ("pattern", "format", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minimum",
         "maximum", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties")  # fmt: skip
"""Constraints that the description states if there is no keyword for them."""
_UNKNOWN = frozenset({"if", "not", "contains", "propertyNames", "dependentRequired", "dependentSchemas", "dependencies",
                      "unevaluatedItems", "unevaluatedProperties", "minContains", "maxContains"})  # fmt: skip
"""Constraints that cannot be expressed at all."""
_SCALARS = ("string", "number", "boolean", "object")


def to_subset(schema: Schema, notes: Notes, place: Place = None) -> Schema:
    """A schema with types at every level and ``anyOf`` alone, without references and tuples, in the subset."""
    choices = schema.get("anyOf")
    if isinstance(choices, list):
        return _union(schema, [each for each in choices if isinstance(each, dict)], notes, place)
    kinds = [kind for kind in kinds_of(schema.get("type")) if kind != "null"]
    nullable = "null" in kinds_of(schema.get("type")) or schema.get("nullable") is True
    if not kinds:  # only null: an object that is never sent
        kinds = ["object"]
    elif len(kinds) > 1:
        kinds = [kind for kind in kinds if kind != "integer" or "number" not in kinds]
    members = [_single(schema | {"type": kind}, kind, notes, place, len(kinds) > 1) for kind in kinds]
    members = [member | {"nullable": True} if nullable else member for member in members]
    return members[0] if len(members) == 1 else {"anyOf": members}


def _union(schema: Schema, choices: list[Schema], notes: Notes, place: Place) -> Schema:
    """ "When using any_of, it must be the only field set" (Vertex, Graphenium#37, 2026-07)."""
    kept = [each for each in choices if each.get("type") != "null" and each.get("type") != ["null"]]
    nullable = len(kept) < len(choices) or schema.get("nullable") is True
    beside = {keyword: schema[keyword] for keyword in ("title", "description") if keyword in schema}
    if len(kept) < 2:
        only = (kept or [{"type": "object"}])[0] | beside
        return to_subset(only | {"nullable": True} if nullable else only, notes, place)
    members: list[Schema] = []
    for at, each in enumerate(kept):
        made = to_subset(each | {"nullable": True} if nullable else each, notes, ((place, "anyOf"), at))
        members += made.get("anyOf", [made])
    if "description" in beside and "description" not in members[0]:
        members[0] = members[0] | {"description": beside["description"]}
    return {"anyOf": members}


def _single(schema: Schema, kind: str, notes: Notes, place: Place, is_one_of_many: bool) -> Schema:
    made: Schema = {"type": kind}
    made |= {keyword: schema[keyword] for keyword in ("title", "description") if isinstance(schema.get(keyword), str)}
    made |= {keyword: schema[keyword] for keyword in _KEPT[kind] if keyword in schema}
    if schema.get("format") in FORMATS.get(kind, ()):
        made["format"] = schema["format"]
    _add_exclusive(made, schema, kind)
    hints = _hints(schema, made, notes, place)
    if is_one_of_many:  # the same constraints may be about another type
        hints = []
    _add_values(made, schema, kind, hints, notes, place)
    if made.get("format") == "enum" and "enum" not in made:
        del made["format"]
    if kind == "array":  # ".items: missing field."
        made["items"] = _element(schema.get("items"), notes, (place, "items"))
    if kind == "object":
        _add_properties(made, schema, notes, place)
    if hints:
        made["description"] = f"{made.get('description', '')} ({'; '.join(hints)})".lstrip()
    return made


def _hints(schema: Schema, made: Schema, notes: Notes, place: Place) -> list[str]:
    """The constraints that are left out, as texts for the description."""
    lost = [keyword for keyword in _TOLD if keyword in schema and keyword not in made]
    exact = [name for name in ("exclusiveMinimum", "exclusiveMaximum") if made["type"] == "integer" and name in lost]
    lost = [keyword for keyword in lost if keyword not in exact]
    for keyword in lost:
        notes.loosen(place, f"{keyword} is only described")
    for keyword in (each for each in schema if each in _UNKNOWN):
        notes.loosen(place, f"{keyword} is left out")
    return [f"{keyword}: {_json(schema[keyword])}" for keyword in lost]


def _add_exclusive(made: Schema, schema: Schema, kind: str) -> None:
    """Exclusive bounds of whole numbers as inclusive ones; for other numbers the bound itself is included."""
    if kind not in ("integer", "number"):
        return
    if "exclusiveMinimum" in schema:
        least = math.floor(schema["exclusiveMinimum"]) + 1 if kind == "integer" else schema["exclusiveMinimum"]
        made["minimum"] = max(least, made.get("minimum", least))
    if "exclusiveMaximum" in schema:
        most = math.ceil(schema["exclusiveMaximum"]) - 1 if kind == "integer" else schema["exclusiveMaximum"]
        made["maximum"] = min(most, made.get("maximum", most))


def _add_values(made: Schema, schema: Schema, kind: str, hints: list[str], notes: Notes, place: Place) -> None:
    """``.enum: only allowed for STRING type``, and no value may be empty: other values are only described."""
    values = schema.get("enum")
    if not isinstance(values, list) or not values:
        return
    if kind == "string" and all(isinstance(value, str) and value for value in values):
        made["enum"] = values
    else:
        hints.append(f"one of: {', '.join(msgspec.json.encode(value).decode() for value in values)}")
        notes.loosen(place, "the values are only described")


def _element(schema: Any, notes: Notes, place: Place) -> Schema:
    """The schema of the elements of an array. Elements of any type are not arrays."""
    if not isinstance(schema, dict) or not schema or set(kinds_of(schema.get("type"))) >= {*_SCALARS, "array"}:
        return {"anyOf": [{"type": kind, "nullable": True} for kind in _SCALARS]}
    return to_subset(schema, notes, place)


def _add_properties(made: Schema, schema: Schema, notes: Notes, place: Place) -> None:
    found = schema.get("properties")
    others = schema.get("additionalProperties", True)
    if others not in (True, {}) or "patternProperties" in schema:
        notes.loosen(place, "other properties may have any name and value")
    found = found if isinstance(found, dict) else {}
    lost = [name for name in schema.get("required", []) if name not in found]
    if lost:
        notes.loosen(place, f"{', '.join(map(repr, lost))} is not required, because it is not defined")
    if not found:
        made.pop("propertyOrdering", None)
        return
    made["properties"] = {name: to_subset(each, notes, ((place, "properties"), name)) for name, each in found.items()}
    for keyword in ("required", "propertyOrdering"):
        names = schema[keyword] if isinstance(schema.get(keyword), list) else []
        known = [name for name in dict.fromkeys(name for name in names if isinstance(name, str)) if name in found]
        made.pop(keyword, None)
        if known:
            made[keyword] = known


def _json(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
