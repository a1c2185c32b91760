"""Coerce arguments to the types of their schema where the mismatch is harmless: the same value in another type.

``"3"`` becomes 3, ``"true"`` true, 3.0 3, JSON text an object or a list, one value a list with this value, and null
for an optional property is left out. Nothing is guessed: an ambiguous value stays unchanged, and is refused later.
"""

from collections.abc import Callable, Mapping
from typing import Any

from .conversions import CONVERSIONS, FAILED, reads_same

IsValid = Callable[[Any, Any], bool]
"""Whether a value (the second argument) is valid under a part of the schema (the first)."""

_JSON_TYPES: dict[type, tuple[str, ...]] = {
    bool: ("boolean",),
    int: ("integer", "number"),
    float: ("number",),
    str: ("string",),
    dict: ("object",),
    list: ("array",),
    type(None): ("null",),
}
MAX_DEPTH = 50
MAX_STEPS = 10_000
"""Visits to parts of one value. Nested unions could otherwise be tried almost without end."""


class Coercion:
    """Coerces values for one schema. ``is_valid`` decides between the branches of a union."""

    def __init__(self, schema: Any, is_valid: IsValid) -> None:
        self.schema = schema
        self.is_valid = is_valid
        self._steps = 0

    def coerce(self, value: Any) -> Any:
        """Return ``value``, coerced where that is harmless; a copy where anything was changed."""
        self._steps = 0
        return self._coerce(self.schema, value, 0)

    def _coerce(self, schema: Any, value: Any, depth: int) -> Any:
        schema = self._resolve(schema)
        self._steps += 1
        if not isinstance(schema, dict) or depth > MAX_DEPTH or self._steps > MAX_STEPS:
            return value
        for keyword in ("anyOf", "oneOf"):
            if isinstance(schema.get(keyword), list):
                value = self._coerce_union(schema[keyword], value, depth)
        for part in schema.get("allOf") or ():
            value = self._coerce(part, value, depth + 1)
        value = _coerce_enum(schema, value)
        value = self._coerce_type(schema, value, depth)
        if isinstance(value, dict):
            return self._coerce_object(schema, value, depth)
        if isinstance(value, list):
            return self._coerce_array(schema, value, depth)
        return value

    def _coerce_union(self, branches: list[Any], value: Any, depth: int) -> Any:
        """Use the first branch that accepts the value, otherwise the first that accepts it after coercion."""
        for branch in branches:
            if self.is_valid(branch, value):
                return self._coerce(branch, value, depth + 1)  # it may still hold 3.0 where 3 is meant
        for branch in branches:
            coerced = self._coerce(branch, value, depth + 1)
            if self.is_valid(branch, coerced):
                return coerced
        return value

    def _coerce_type(self, schema: dict[str, Any], value: Any, depth: int) -> Any:
        """Convert the value to the first type of the schema that is possible; a list of one value is tried last."""
        wanted = _types(schema)
        if not wanted or any(kind in wanted for kind in _JSON_TYPES.get(type(value), ())):
            return value
        for kind in wanted:
            converted = CONVERSIONS[kind](value) if kind in CONVERSIONS else FAILED
            if converted is not FAILED:
                return converted
        if "array" in wanted and value is not None and value != "":
            return self._wrap_in_list(schema, value, depth)
        return value

    def _wrap_in_list(self, schema: dict[str, Any], value: Any, depth: int) -> Any:
        """Put a single value into a list, if it is a valid item."""
        items = schema.get("items", {})
        if isinstance(items, list):
            return value
        item = self._coerce(items, value, depth + 1)
        return [item] if self.is_valid(items, item) else value

    def _coerce_object(self, schema: dict[str, Any], value: dict[str, Any], depth: int) -> dict[str, Any]:
        known = schema.get("properties")
        known = known if isinstance(known, dict) else {}
        others = schema.get("additionalProperties")
        required = schema.get("required") or ()
        coerced = {}
        for name, item in value.items():
            inner = known.get(name, others)
            if inner is None or inner is True or inner is False:
                coerced[name] = item
                continue
            if item is None and name not in required and not self.is_valid(inner, None):
                continue  # null for an optional property
            coerced[name] = self._coerce(inner, item, depth + 1)
        return coerced

    def _coerce_array(self, schema: dict[str, Any], value: list[Any], depth: int) -> list[Any]:
        first, rest = schema.get("prefixItems") or (), schema.get("items", {})
        if isinstance(rest, list):  # the form of older drafts
            first, rest = rest, schema.get("additionalItems", {})
        return [self._coerce(first[at] if at < len(first) else rest, item, depth + 1) for at, item in enumerate(value)]

    def _resolve(self, schema: Any) -> Any:
        """Follow references within the document; ``None`` for a cycle."""
        for _ in range(MAX_DEPTH):
            reference = schema.get("$ref") if isinstance(schema, dict) else None
            if not isinstance(reference, str) or not reference.startswith("#"):
                return schema
            schema = _look_up(self.schema, reference)
        return None


def _look_up(document: Any, reference: str) -> Any:
    for part in reference[1:].split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        document = document.get(key) if isinstance(document, Mapping) else None
    return document


def _types(schema: dict[str, Any]) -> tuple[str, ...]:
    types = schema.get("type")
    if isinstance(types, str):
        return (types,)
    return tuple(types) if isinstance(types, list) else ()


def _coerce_enum(schema: dict[str, Any], value: Any) -> Any:
    """The only value of ``enum`` or ``const`` with the same text as ``value``: 3 for ``"3"``, ``"3"`` for 3."""
    allowed = schema["enum"] if isinstance(schema.get("enum"), list) else []
    allowed = [*allowed, schema["const"]] if "const" in schema else allowed
    if not allowed or isinstance(value, dict | list):
        return value
    if any(type(item) is type(value) and item == value for item in allowed):
        return value
    same = [item for item in allowed if reads_same(item, value)]
    return same[0] if len(same) == 1 else value
