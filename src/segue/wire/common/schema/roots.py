"""The root of a schema: an object, because the arguments of a call are one, without alternatives."""

import re
from typing import Any

from ....dialects import SchemaShape
from ..checks import shown
from .keywords import GONE, Notes, Schema, without_gone
from .merge import conjoined, kinds_of, united
from .references import pointed_at, resolved_root

ALTERNATIVES = ("oneOf", "anyOf", "allOf", "enum", "not")
"""Keywords that most targets do not accept at the root of a schema."""


def adapted_root(schema: Any, shape: SchemaShape, notes: Notes) -> Schema:
    """The schema with a root as the target accepts it."""
    root: Schema = schema
    if not isinstance(schema, dict):
        notes.change("the root is an object")
        root = {"type": "object", "properties": {}}
    if shape.root == "any":
        return root
    root = resolved_root(root, notes)
    if shape.root == "plain":
        root = _without_alternatives(root, notes)
    root = _object(root, notes)
    if shape.root_properties and "properties" not in root:
        root = root | {"properties": {}}
    if shape.root_keywords is not None:
        root = _limited(root, shape.root_keywords, notes)
    if shape.property_names is not None:
        root = _named(root, shape.property_names, notes)
    return root


def _object(root: Schema, notes: Notes) -> Schema:
    kinds = kinds_of(root.get("type"))
    if root.get("type") == "object":
        return root
    notes.change("the root is an object")
    if kinds and "object" not in kinds:  # it accepts no arguments at all, which nobody means
        notes.loosen(None, f"the root was of type {' or '.join(kinds)}")
        return {"type": "object"} | {name: root[name] for name in ("title", "description", "$defs") if name in root}
    return root | {"type": "object"}


def _without_alternatives(root: Schema, notes: Notes) -> Schema:
    """One object for all alternatives at the root."""
    while any(keyword in root for keyword in ("allOf", "anyOf", "oneOf")):
        notes.change("the root has no alternatives")
        outer = {keyword: value for keyword, value in root.items() if keyword not in ("allOf", "anyOf", "oneOf")}
        for part in root.get("allOf", []):
            outer = conjoined(outer, _resolved(part, root), None, notes)
        choices = root.get("anyOf", root.get("oneOf"))
        if "anyOf" in root and "oneOf" in root:
            notes.loosen(None, "oneOf is left out")
        if isinstance(choices, list):
            resolved = [_resolved(part, root) for part in choices]
            objects = [each for each in resolved if "object" in (kinds_of(each.get("type")) or ["object"])]
            parts = [conjoined(outer, each, None, notes) | {"type": "object"} for each in objects]
            parts = [_without_alternatives(part, notes) for part in parts]
            if not parts:
                notes.loosen(None, "no alternative was an object")
            outer = united(parts, None, notes) if parts else outer
        root = outer
    for keyword in ("enum", "not", "const"):
        if keyword in root:
            notes.loosen(None, f"{keyword} is left out")
            root = without_gone(root | {keyword: GONE})
    return root


def _resolved(part: Any, root: Schema) -> Schema:
    """An alternative, with a definition in place of a reference; open if it is not an object."""
    seen: set[str] = set()
    while isinstance(part, dict) and isinstance(reference := part.get("$ref"), str) and reference not in seen:
        seen.add(reference)
        target = pointed_at(root, reference)
        beside = {keyword: value for keyword, value in part.items() if keyword != "$ref"}
        part = conjoined(beside, {} if target is None else target, None, Notes())
    if not isinstance(part, dict):
        return {}
    return {keyword: value for keyword, value in part.items() if keyword != "$ref"}


def _limited(root: Schema, keywords: frozenset[str], notes: Notes) -> Schema:
    """The root with these keywords only."""
    lost = [keyword for keyword in root if keyword not in keywords]
    if not lost:
        return root
    notes.change(f"the root has only {', '.join(sorted(keywords))}")
    for keyword in lost:
        if keyword not in _NOTHING:
            notes.loosen(None, f"{keyword} is left out")
    return {keyword: value for keyword, value in root.items() if keyword in keywords}


def bad_names(root: Schema, pattern: str) -> list[str]:
    """The names of properties of the root that do not match the pattern of the target."""
    properties = root.get("properties")
    return [name for name in properties if not re.fullmatch(pattern, name)] if isinstance(properties, dict) else []


def _named(root: Schema, pattern: str, notes: Notes) -> Schema:
    """The root without properties whose names the target refuses; they stay allowed, but are no longer described."""
    lost = dict.fromkeys(bad_names(root, pattern))
    if not lost:
        return root
    notes.change(f"the names of properties match {pattern}")
    for name in lost:
        notes.loosen(None, f"the property {shown(name)!r} is left out")
    kept = {keyword: value for keyword, value in root.items() if keyword not in _CLOSING}
    kept["properties"] = {name: value for name, value in root["properties"].items() if name not in lost}
    if isinstance(root.get("required"), list):
        kept["required"] = [name for name in root["required"] if name not in lost]
    return kept


_CLOSING = ("additionalProperties", "unevaluatedProperties")

_NOTHING = frozenset({"title", "description", "$schema", "$id", "$comment", "examples", "default"})
"""Keywords at the root without which the same arguments are accepted."""
