"""Two schemas as one: both must hold (``conjoined``), or one of several objects must (``united``).

The result accepts at least what it should. Where it accepts more, that is noted.
"""

from collections.abc import Callable
from typing import Any

from ..checks import Place
from .keywords import ANNOTATIONS, GONE, Notes, Schema, without_gone

_GROUPS = (("if", "then", "else"), ("contains", "minContains", "maxContains"))
"""Keywords that have a meaning only together."""


def conjoined(first: Any, second: Any, place: Place, notes: Notes) -> Schema:
    """A schema for values that satisfy both. Annotations are those of ``first``, where it has them."""
    if first is False or second is False:
        return {"not": {}}
    if not isinstance(first, dict) or not isinstance(second, dict):
        return next((each for each in (first, second) if isinstance(each, dict)), {})
    joined = dict(first)
    if _is_closed_to(first, second) or _is_closed_to(second, first):
        notes.loosen(place, "properties of both schemas are accepted")
    for group in _GROUPS:
        if any(keyword in first for keyword in group) and any(keyword in second for keyword in group):
            second = {keyword: value for keyword, value in second.items() if keyword not in group}
            notes.loosen(place, f"one of two {group[0]!r} is left out")
    for keyword, value in second.items():
        if keyword not in joined:
            joined[keyword] = value
        elif keyword not in ANNOTATIONS and joined[keyword] != value:
            joined[keyword] = _both(keyword, joined[keyword], value, place, notes)
    return joined


def _is_closed_to(schema: Schema, other: Schema) -> bool:
    """Whether a schema limits properties that only another one defines."""
    limits = any(schema.get(name, True) is not True for name in ("additionalProperties", "unevaluatedProperties"))
    return limits and not set(other.get("properties", ())) <= set(schema.get("properties", ()))


def _both(keyword: str, first: Any, second: Any, place: Place, notes: Notes) -> Any:
    join = _JOINS.get(keyword)
    joined = None if join is None else join(first, second, (place, keyword), notes)
    if joined is None:
        notes.loosen(place, f"one of two {keyword!r} is left out")
        return first
    return joined


Join = Callable[[Any, Any, Place, Notes], Any]


def _properties(first: Schema, second: Schema, place: Place, notes: Notes) -> Schema:
    joined = dict(first)
    for name, schema in second.items():
        joined[name] = conjoined(joined[name], schema, (place, name), notes) if name in joined else schema
    return joined


def _names(first: list[str], second: list[str], place: Place, notes: Notes) -> list[str]:
    return [*first, *(name for name in second if name not in first)]


def _types(first: Any, second: Any, place: Place, notes: Notes) -> Any:
    one, other = kinds_of(first), kinds_of(second)
    common = [kind for kind in one if kind in other or (kind == "integer" and "number" in other)]
    if "integer" in other and "number" in one and "integer" not in common:
        common.append("integer")
    return None if not common else common[0] if len(common) == 1 else common


def _enum(first: list[Any], second: list[Any], place: Place, notes: Notes) -> Any:
    return [value for value in first if value in second] or None


def _largest(first: Any, second: Any, place: Place, notes: Notes) -> Any:
    return max(first, second)


def _smallest(first: Any, second: Any, place: Place, notes: Notes) -> Any:
    return min(first, second)


def _concatenated(first: list[Any], second: list[Any], place: Place, notes: Notes) -> list[Any]:
    return [*first, *second]


_JOINS: dict[str, Join] = {
    "properties": _properties,
    "$defs": _properties,
    "required": _names,
    "type": _types,
    "enum": _enum,
    "allOf": _concatenated,
    **dict.fromkeys(("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"), _largest),
    **dict.fromkeys(("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"), _smallest),
}


def kinds_of(kind: Any) -> list[str]:
    """The types in the value of ``type``; none if there is no such keyword."""
    kinds = kind if isinstance(kind, list) else [kind]
    return [each for each in kinds if isinstance(each, str)]


def united(parts: list[Schema], place: Place, notes: Notes) -> Schema:
    """One schema of type object for values that satisfy any of ``parts``, which all are of type object."""
    if len(parts) == 1:
        return parts[0]
    notes.loosen(place, "which properties go together is left out")
    names = list(dict.fromkeys(name for part in parts for name in part.get("properties", {})))
    root: Schema = {}
    for keyword, value in parts[0].items():
        if all(part.get(keyword, GONE) == value for part in parts):
            root[keyword] = value
    root["properties"] = {name: _either([_of(part, name) for part in parts]) for name in names}
    needed = [part.get("required", []) for part in parts]
    required = [name for name in needed[0] if all(name in each for each in needed)]
    root["required"] = required or GONE
    if any("patternProperties" in part for part in parts) and "patternProperties" not in root:
        root["additionalProperties"] = GONE  # names that match a pattern of one part would not be accepted otherwise
    return without_gone(root | {"type": "object"})


def _of(part: Schema, name: str) -> Any:
    """What a part says about a property; ``GONE`` if it does not accept one of this name."""
    if name in part.get("properties", {}):
        return part["properties"][name]
    others = part.get("additionalProperties", True)
    if others is False and not part.get("patternProperties"):
        return GONE
    return others if isinstance(others, dict) and not part.get("patternProperties") else {}


def _either(schemas: list[Any]) -> Any:
    """A schema for a property that satisfies any of ``schemas``."""
    distinct: list[Any] = []
    for schema in schemas:
        schema = {} if schema is True else schema
        if schema is not GONE and schema is not False and schema not in distinct:
            distinct.append(schema)
    if len(distinct) < 2:
        return distinct[0] if distinct else {}
    return {"anyOf": distinct}
