"""Alternatives and types, for targets that read only a part of them: ``anyOf`` alone, and a type in every schema."""

from typing import Any

from ....dialects import SchemaShape
from ..checks import Place
from .keywords import ANNOTATIONS, GONE, TYPES, Notes, Schema, is_number, mapped, without_gone
from .merge import conjoined, kinds_of
from .references import apart

ANY_TYPE = list(TYPES[:-1])
"""Every type; an integer is a number."""


def simple_unions(schema: Any, shape: SchemaShape, notes: Notes, place: Place = None) -> Any:
    """The schema with ``anyOf`` as its only union, which has only annotations beside it, at every level."""
    if not isinstance(schema, dict):
        return schema
    schema = _joined(schema, place, notes)
    schema = _without_const(schema, notes)
    if "oneOf" in schema:
        both = {"oneOf": GONE} if "anyOf" in schema else {"oneOf": GONE, "anyOf": schema["oneOf"]}
        schema = without_gone(schema | both)
        notes.loosen(place, "several alternatives of oneOf may match" if len(both) == 2 else "oneOf is left out")
    if isinstance(schema.get("anyOf"), list):
        choices = [each for each in schema["anyOf"] if each is not False]
        if len(choices) == 1 and isinstance(choices[0], dict) and "$ref" not in choices[0]:
            notes.change("a single alternative is the schema itself")
            only = conjoined(without_gone(schema | {"anyOf": GONE}), choices[0], place, notes)
            return simple_unions(only, shape, notes, place)
        schema = _alone(schema, choices, notes, place)
    if "$ref" in schema and len(schema) > 1:
        schema = apart(schema, place, notes)
    return mapped(schema, place, notes, lambda each, at: simple_unions(each, shape, notes, at))


def _joined(schema: Schema, place: Place, notes: Notes) -> Schema:
    """``allOf`` as one schema."""
    while isinstance(parts := schema.get("allOf"), list):
        schema = without_gone(schema | {"allOf": GONE})
        notes.change("allOf is one schema")
        for part in parts:
            schema = conjoined(schema, part, place, notes)
    return schema


def _without_const(schema: Schema, notes: Notes) -> Schema:
    if "const" not in schema:
        return schema
    notes.change("const is an enum")
    return conjoined(without_gone(schema | {"const": GONE}), {"enum": [schema["const"]]}, None, notes)


def _alone(schema: Schema, choices: list[Any], notes: Notes, place: Place) -> Schema:
    """The constraints beside ``anyOf`` in each of its alternatives."""
    outer = {keyword: value for keyword, value in schema.items() if keyword != "anyOf" and keyword not in _BESIDE}
    beside = {keyword: value for keyword, value in schema.items() if keyword in _BESIDE}
    if any(each is True or each == {} for each in choices) or not choices:
        return beside | outer
    if not outer:
        return schema if len(choices) == len(schema["anyOf"]) else beside | {"anyOf": choices}
    notes.change("alternatives have their own types")
    merged: list[Any] = []
    for at, each in enumerate(choices):
        if "$ref" in each:
            if outer:
                notes.loosen(((place, "anyOf"), at), "keywords beside a reference are left out")
            merged.append(each)
        else:
            merged.append(conjoined(each, outer, ((place, "anyOf"), at), notes))
    return beside | {"anyOf": merged}


_BESIDE = ANNOTATIONS | {"$defs", "$id", "$schema"}


# -- types -----------------------------------------------------------------------------------------------------------


def typed(schema: Any, shape: SchemaShape, notes: Notes, place: Place = None) -> Any:
    """The schema with a type at every level, and in ``enum`` only values of that type."""
    if not isinstance(schema, dict):
        return schema
    schema = mapped(schema, place, notes, lambda each, at: typed(each, shape, notes, at))
    if "anyOf" in schema or "$ref" in schema:
        return schema
    if isinstance(schema.get("enum"), list):
        return _valued(schema, place, notes)
    if schema.get("type") is not None:
        return schema
    notes.change("types are stated")
    return {"type": _implied(schema)} | schema


def _implied(schema: Schema) -> Any:
    """The type that the keywords of a schema without one are about; every type if there is no such keyword."""
    return next((kind for kind, keywords in _ABOUT.items() if not keywords.isdisjoint(schema)), ANY_TYPE)


_ABOUT: dict[str, frozenset[str]] = {
    "object": frozenset({"properties", "required", "additionalProperties", "patternProperties", "propertyNames"}),
    "array": frozenset({"items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"}),
    "string": frozenset({"minLength", "maxLength", "pattern", "format"}),
    "number": frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}),
}


def kind_of(value: Any) -> str:
    """The type of a JSON value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if is_number(value):
        return "integer" if isinstance(value, int) else "number"
    return "string" if isinstance(value, str) else "array" if isinstance(value, list) else "object"


def _valued(schema: Schema, place: Place, notes: Notes) -> Schema:
    """A schema with ``enum``: values of one type, or an alternative for each type."""
    kinds = kinds_of(schema.get("type"))
    by_kind: dict[str, list[Any]] = {}
    for value in schema["enum"]:
        kind = kind_of(value)
        if kinds and kind not in kinds:
            kind = "number" if kind == "integer" and "number" in kinds else ""
        if kind:
            by_kind.setdefault(kind, []).append(value)
    if "integer" in by_kind and "number" in by_kind:
        by_kind["number"] += by_kind.pop("integer")
    if list(by_kind.items()) == [(schema.get("type"), schema["enum"])] and "null" not in by_kind:
        return schema
    notes.change("values have the type of their schema")
    beside = {keyword: value for keyword, value in schema.items() if keyword in _BESIDE}
    outer = {keyword: value for keyword, value in schema.items() if keyword not in ("type", "enum", *beside)}
    branches = [_branch(kind, values, place, notes) | outer for kind, values in by_kind.items()]
    if not branches:  # no value is valid, which cannot be expressed
        notes.loosen(place, "no value was valid")
        return without_gone(schema | {"enum": GONE})
    return (branches[0] if len(branches) == 1 else {"anyOf": branches}) | beside


def _branch(kind: str, values: list[Any], place: Place, notes: Notes) -> Schema:
    if kind == "null":
        return {"type": "null"}
    if kind in ("array", "object"):
        notes.loosen(place, f"any {kind} is accepted")
        return {"type": kind}
    return {"type": kind, "enum": values}


def known_required(schema: Any, shape: SchemaShape, notes: Notes, place: Place = None) -> Any:
    """The schema without names in ``required`` that are not properties, at every level."""
    if not isinstance(schema, dict):
        return schema
    schema = mapped(schema, place, notes, lambda each, at: known_required(each, shape, notes, at))
    names, properties = schema.get("required"), schema.get("properties", {})
    if not isinstance(names, list) or all(name in properties for name in names):
        return schema
    lost = [name for name in names if name not in properties]
    notes.loosen(place, f"{', '.join(map(repr, lost))} is not required, because it is not defined")
    return without_gone(schema | {"required": [name for name in names if name in properties] or GONE})
