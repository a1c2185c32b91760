"""Convert tool schemas to what the API accepts: JSON Schema draft 2020-12 with an object as root (ANT-55).

"JSON schema is invalid. It must match JSON Schema draft 2020-12" (claude-code#63673, Dokploy/mcp#74, 2026): what older
drafts and other dialects write differently is converted, and a root of alternatives becomes one object that allows all
of them. A valid schema is returned unchanged, so ``adapted(schema) is schema`` means that it was valid.
"""

from collections.abc import Callable
from typing import Any

Schema = dict[str, Any]

TYPES = frozenset({"null", "boolean", "object", "array", "number", "string", "integer"})
ALTERNATIVES = ("allOf", "anyOf", "oneOf")

# Keywords that contain schemas: one, a list, or an object of them.
_ONE = ("additionalProperties", "items", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedItems",
        "unevaluatedProperties")  # fmt: skip
_LIST = (*ALTERNATIVES, "prefixItems")
_NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")


def adapted(schema: Any) -> Schema:
    """``schema`` itself if the API accepts it, otherwise a copy that it accepts."""
    if not isinstance(schema, dict):
        return {"type": "object", "properties": {}}
    valid = _valid(schema)
    return _rooted(valid) if isinstance(valid, dict) else {"type": "object", "properties": {}}


def _rooted(schema: Schema) -> Schema:
    """ "input_schema does not support oneOf, allOf, or anyOf at the top level" (claude-code#40075, 2026-03)."""
    alternatives = [key for key in ALTERNATIVES if key in schema]
    if schema.get("type") == "object" and not alternatives:
        return schema
    root = {key: value for key, value in schema.items() if key not in ALTERNATIVES} | {"type": "object"}
    for key in alternatives:
        _merge(root, [part for part in schema[key] if isinstance(part, dict)], every=key == "allOf")
    return root


def _merge(root: Schema, parts: list[Schema], *, every: bool) -> None:
    """Add the properties of all parts to ``root``, and require what all parts (for ``allOf``: any part) require."""
    properties: Schema = {}
    for part in parts:
        for name, below in part.get("properties", {}).items():
            properties.setdefault(name, below)
    if properties:
        root["properties"] = properties | root.get("properties", {})
    demands = [part.get("required", []) for part in parts]
    names = list(dict.fromkeys(name for demand in demands for name in demand))
    wanted = names if every else [name for name in names if all(name in demand for demand in demands)]
    required = list(dict.fromkeys([*root.get("required", []), *wanted]))
    if required:
        root["required"] = required


# -- draft 2020-12 ---------------------------------------------------------------------------------------------------


def _valid(schema: Any) -> Any:
    """A valid schema below the root: an object or a boolean. Anything else becomes ``{}``, which allows everything."""
    if isinstance(schema, bool):
        return schema
    if not isinstance(schema, dict):
        return {}
    changed = {key: new for key, value in schema.items() if (new := _keyword(key, value, schema)) is not value}
    if not changed:
        return schema
    merged = schema | changed
    if isinstance(schema.get("items"), list):  # a tuple, before draft 2020-12
        merged["prefixItems"] = merged["items"]
        merged["items"] = _valid(schema.get("additionalItems", True))
    return {key: value for key, value in merged.items() if value is not _GONE}


_GONE: Any = object()


def _keyword(key: str, value: Any, schema: Schema) -> Any:
    """A valid value for the keyword: the same object if it is valid, ``_GONE`` if the keyword is left out."""
    if key in _ONE:
        return list(map(_valid, value)) if key == "items" and isinstance(value, list) else _valid(value)
    if key in _LIST:
        return _several(value) if isinstance(value, list) and value else _GONE
    if key in _NAMED:
        return _named(value) if isinstance(value, dict) else _GONE
    check = _KEYWORDS.get(key)
    return value if check is None or check(value) else _repaired(key, value, schema)


def _several(schemas: list[Any]) -> list[Any]:
    new = [_valid(schema) for schema in schemas]
    return schemas if all(a is b for a, b in zip(schemas, new, strict=True)) else new


def _named(schemas: dict[str, Any]) -> dict[str, Any]:
    changed = {name: new for name, schema in schemas.items() if (new := _valid(schema)) is not schema}
    return schemas | changed if changed else schemas


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value) and len(set(value)) == len(value)


def _is_type(value: Any) -> bool:
    if isinstance(value, str):
        return value in TYPES
    return _is_names(value) and bool(value) and TYPES.issuperset(value)


_KEYWORDS: dict[str, Callable[[Any], bool]] = {
    "type": _is_type,
    "required": _is_names,
    "enum": lambda value: isinstance(value, list),
    "exclusiveMinimum": _is_number,
    "exclusiveMaximum": _is_number,
    "minimum": _is_number,
    "maximum": _is_number,
    "description": lambda value: isinstance(value, str),
    "title": lambda value: isinstance(value, str),
}
"""Keywords whose values other drafts write differently, with a check for draft 2020-12."""


def _repaired(key: str, value: Any, schema: Schema) -> Any:
    bound = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}.get(key)
    if bound is not None and value is True and _is_number(schema.get(bound)):  # draft 4
        return schema[bound]
    if key == "required" and isinstance(value, list):
        return list(dict.fromkeys(name for name in value if isinstance(name, str)))
    if key == "type" and isinstance(value, list):
        return list(dict.fromkeys(kind for kind in value if isinstance(kind, str) and kind in TYPES)) or _GONE
    return _GONE
