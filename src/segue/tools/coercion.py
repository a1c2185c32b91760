"""Harmless mismatches of arguments, mended: the same value, written in another type than the schema asks for.

``"3"`` is taken for 3, ``"true"`` for true, 3.0 for 3, JSON text for an object or a list, one value for a list of it,
and null for an optional that was left out. Nothing is guessed: what could mean two things stays, and is refused.
"""

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

IsValid = Callable[[Any, Any], bool]
"""Whether a value is valid under a part of the schema."""

_KINDS: dict[type, tuple[str, ...]] = {
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
"""Looks at parts of one value: unions within unions would otherwise be tried without end."""


class Coercion:
    """Mends values for one schema. ``is_valid`` decides between the branches of a union."""

    def __init__(self, schema: Any, is_valid: IsValid) -> None:
        self.schema = schema
        self.is_valid = is_valid
        self._steps = 0

    def mended(self, value: Any) -> Any:
        """``value``, mended where that is harmless; a copy where anything was changed."""
        self._steps = 0
        return self._value(self.schema, value, 0)

    def _value(self, schema: Any, value: Any, depth: int) -> Any:
        schema = self._resolved(schema)
        self._steps += 1
        if not isinstance(schema, dict) or depth > MAX_DEPTH or self._steps > MAX_STEPS:
            return value
        for keyword in ("anyOf", "oneOf"):
            if isinstance(schema.get(keyword), list):
                value = self._of_a_union(schema[keyword], value, depth)
        for part in schema.get("allOf") or ():
            value = self._value(part, value, depth + 1)
        value = _listed(schema, value)
        value = self._of_a_type(schema, value, depth)
        if isinstance(value, dict):
            return self._object(schema, value, depth)
        if isinstance(value, list):
            return self._array(schema, value, depth)
        return value

    def _of_a_union(self, branches: list[Any], value: Any, depth: int) -> Any:
        """As the first branch has it that takes it as it is, else mended; unchanged if none does."""
        for branch in branches:
            if self.is_valid(branch, value):
                return self._value(branch, value, depth + 1)  # it may still hold 3.0 where 3 is meant
        for branch in branches:
            tried = self._value(branch, value, depth + 1)
            if self.is_valid(branch, tried):
                return tried
        return value

    def _of_a_type(self, schema: dict[str, Any], value: Any, depth: int) -> Any:
        wanted = _types(schema)
        kinds = _KINDS.get(type(value), ())
        if not wanted or any(kind in wanted for kind in kinds):
            return value
        for kind in wanted:
            found, made = _CONVERSIONS.get(kind, _no)(value)
            if found:
                return made
        if "array" in wanted and value is not None and value != "":
            return self._wrapped(schema, value, depth)
        return value

    def _wrapped(self, schema: dict[str, Any], value: Any, depth: int) -> Any:
        """One value where a list is asked for, if it could stand in that list."""
        items = schema.get("items", {})
        if isinstance(items, list):
            return value
        one = self._value(items, value, depth + 1)
        return [one] if self.is_valid(items, one) else value

    def _object(self, schema: dict[str, Any], value: dict[str, Any], depth: int) -> dict[str, Any]:
        known = schema.get("properties")
        known = known if isinstance(known, dict) else {}
        others = schema.get("additionalProperties")
        required = schema.get("required") or ()
        made = {}
        for name, item in value.items():
            inner = known.get(name, others)
            if inner is None or inner is True or inner is False:
                made[name] = item
                continue
            if item is None and name not in required and not self.is_valid(inner, None):
                continue  # an optional one that was left out
            made[name] = self._value(inner, item, depth + 1)
        return made

    def _array(self, schema: dict[str, Any], value: list[Any], depth: int) -> list[Any]:
        first, rest = schema.get("prefixItems") or (), schema.get("items", {})
        if isinstance(rest, list):  # as older drafts say it
            first, rest = rest, schema.get("additionalItems", {})
        return [self._value(first[at] if at < len(first) else rest, item, depth + 1) for at, item in enumerate(value)]

    def _resolved(self, schema: Any) -> Any:
        """The schema behind a reference within the document."""
        for _ in range(MAX_DEPTH):
            reference = schema.get("$ref") if isinstance(schema, dict) else None
            if not isinstance(reference, str) or not reference.startswith("#"):
                return schema
            schema = _at(self.schema, reference)
        return None


def _at(document: Any, reference: str) -> Any:
    for part in reference[1:].split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        document = document.get(key) if isinstance(document, Mapping) else None
    return document


def _types(schema: dict[str, Any]) -> tuple[str, ...]:
    given = schema.get("type")
    if isinstance(given, str):
        return (given,)
    return tuple(given) if isinstance(given, list) else ()


def _listed(schema: dict[str, Any], value: Any) -> Any:
    """The one value of an enumeration that reads the same as ``value``: 3 for "3", "3" for 3."""
    listed = schema["enum"] if isinstance(schema.get("enum"), list) else []
    listed = [*listed, schema["const"]] if "const" in schema else listed
    if not listed or isinstance(value, dict | list):  # those read the same only if they are
        return value
    if any(type(item) is type(value) and item == value for item in listed):
        return value
    same = [item for item in listed if _read(item) == _read(value)]
    return same[0] if len(same) == 1 else value


def _read(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, str) else json.dumps(value)


# -- from one type to another: (whether it can be done, the value) -----------------------------------------------------

_Made = tuple[bool, Any]


def _no(value: Any) -> _Made:
    return False, value


def _integer(value: Any) -> _Made:
    found, number = _number(value)
    if not found or isinstance(number, int):
        return found, number
    return (True, int(number)) if number.is_integer() else (False, value)


def _number(value: Any) -> _Made:
    if isinstance(value, float):
        return math.isfinite(value), value
    if not isinstance(value, str):
        return False, value
    try:
        number = json.loads(value.strip(), parse_constant=lambda text: text)
    except (ValueError, RecursionError):
        return False, value
    fits = type(number) is int or (type(number) is float and math.isfinite(number))
    return fits, number if fits else value


def _boolean(value: Any) -> _Made:
    known = {"true": True, "false": False}
    word = value.strip().lower() if isinstance(value, str) else ""
    return word in known, known.get(word, value)


def _null(value: Any) -> _Made:
    fits = isinstance(value, str) and value.strip().lower() in ("null", "none")
    return fits, None if fits else value


def _string(value: Any) -> _Made:
    fits = type(value) in (int, float)
    return fits, json.dumps(value) if fits else value


def _json_of(kind: type) -> Callable[[Any], _Made]:
    def read(value: Any) -> _Made:
        try:
            made = json.loads(value) if isinstance(value, str) else value
        except (ValueError, RecursionError):
            return False, value
        return isinstance(made, kind), made if isinstance(made, kind) else value

    return read


_CONVERSIONS: dict[str, Callable[[Any], _Made]] = {
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "null": _null,
    "object": _json_of(dict),
    "array": _json_of(list),
    "string": _string,
}
"""In the order of the schema's own list of types; a list of one value is tried last."""
