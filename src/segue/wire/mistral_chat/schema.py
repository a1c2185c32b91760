"""Check and repair schemas by JSON Schema draft 7, which Mistral requires for the parameters of tools (MIS-11).

``faults`` finds the invalid places of a schema, ``repaired`` leaves them out. Both use the same tables. Only the form
of a schema is checked, not its meaning.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

# Levels below this are not checked: no tool has such a schema, and the check must not exhaust the stack.
DEPTH = 64
NO_PARAMETERS: dict[str, Any] = {"type": "object", "properties": {}}

_TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_positive(value: Any) -> bool:
    return _is_number(value) and value > 0


def _is_count(value: Any) -> bool:
    return _is_number(value) and value >= 0 and (isinstance(value, int) or value.is_integer())


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_pattern(value: Any) -> bool:
    """Whether Python can compile it: Mistral checks it in Python and refuses other syntax, such as ``\\p{L}``."""
    if not isinstance(value, str):
        return False
    try:
        re.compile(value)
    except (re.error, RecursionError, OverflowError):
        return False
    return True


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value)) and len(set(value)) == len(value)


def _is_type(value: Any) -> bool:
    if isinstance(value, str):
        return value in _TYPES
    return _are_texts(value) and bool(value) and _TYPES.issuperset(value)


Check = Callable[[Any], bool]

# Keywords by the kind of their value: a plain value, a schema, a list of schemas, schemas by name.
VALUES: dict[str, Check] = {
    **dict.fromkeys(("$id", "$schema", "$ref", "$comment", "title", "description"), _is_text),
    **dict.fromkeys(("format", "contentMediaType", "contentEncoding"), _is_text),
    **dict.fromkeys(("readOnly", "uniqueItems"), _is_flag),
    **dict.fromkeys(("maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum"), _is_number),
    **dict.fromkeys(("maxLength", "minLength", "maxItems", "minItems", "maxProperties", "minProperties"), _is_count),
    **dict.fromkeys(("enum", "examples"), _is_list),
    "multipleOf": _is_positive,
    "pattern": _is_pattern,
    "required": _are_texts,
    "type": _is_type,
}
SCHEMAS = frozenset(
    {"additionalItems", "additionalProperties", "contains", "propertyNames", "if", "then", "else", "not"}
)
LISTS = frozenset({"allOf", "anyOf", "oneOf"})
NAMED = frozenset({"definitions", "properties", "patternProperties"})


def faults(schema: Any, path: str, depth: int = 0) -> Iterator[tuple[str, str]]:
    """The path and a description of each place where ``schema`` is not valid in draft 7."""
    if isinstance(schema, bool) or depth > DEPTH:
        return
    if not isinstance(schema, dict):
        yield path, "a schema must be an object"
        return
    for keyword, value in schema.items():
        where = f"{path}.{keyword}"
        check = VALUES.get(keyword)
        if check is not None:
            if not check(value):
                yield where, f"{_short(value)} is not a valid value of {keyword!r}"
        elif not _holds_schemas(keyword, value):
            yield where, f"{keyword!r} does not contain schemas"
        else:
            for name, inner in _inner(keyword, value):
                yield from faults(inner, where + name, depth + 1)


def _holds_schemas(keyword: str, value: Any) -> bool:
    """Whether ``value`` has the outer form that ``keyword`` requires; true for unknown keywords."""
    if keyword in LISTS:
        return isinstance(value, list) and bool(value)
    if keyword == "patternProperties":
        return isinstance(value, dict) and all(map(_is_pattern, value))
    if keyword in NAMED:
        return isinstance(value, dict)
    if keyword == "dependencies":
        return isinstance(value, dict) and all(
            not isinstance(each, list) or _are_texts(each) for each in value.values()
        )
    return value != [] if keyword == "items" else True


def _inner(keyword: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The schemas directly below a keyword whose value has the right form."""
    if keyword in SCHEMAS or (keyword == "items" and not isinstance(value, list)):
        yield "", value
    elif keyword in LISTS or keyword == "items":
        for at, each in enumerate(value):
            yield f"[{at}]", each
    elif keyword in NAMED or keyword == "dependencies":
        for name, each in value.items():
            if not isinstance(each, list) or keyword != "dependencies":
                yield f".{name}", each


def repaired(schema: Any) -> Any:
    """Return ``schema`` if it is valid, otherwise a copy without invalid parts; the root is always an object."""
    if not isinstance(schema, dict):
        return NO_PARAMETERS
    return schema if next(faults(schema, ""), None) is None else _repaired(schema, 0)


def _repaired(schema: Any, depth: int) -> Any:
    if isinstance(schema, bool) or depth > DEPTH:
        return schema
    if not isinstance(schema, dict):
        return {}
    kept: dict[str, Any] = {}
    for keyword, value in schema.items():
        check = VALUES.get(keyword)
        if check is not None:
            if check(value):
                kept[keyword] = value
            elif keyword == "required" and isinstance(value, list):
                kept[keyword] = list(dict.fromkeys(filter(_is_text, value)))
            elif value is True and keyword in _OLD_BOUNDS:
                kept |= _as_bound(schema, keyword)
        elif keyword == "patternProperties" and isinstance(value, dict):
            kept[keyword] = _rebuilt(keyword, {name: each for name, each in value.items() if _is_pattern(name)}, depth)
        elif _holds_schemas(keyword, value):
            kept[keyword] = _rebuilt(keyword, value, depth + 1)
    for keyword, bound in _OLD_BOUNDS.items():
        if schema.get(keyword) is True and keyword in kept:
            kept.pop(bound, None)
    return kept


# Draft 4 has `"minimum": 5, "exclusiveMinimum": true` where draft 7 has `"exclusiveMinimum": 5`.
_OLD_BOUNDS = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}


def _as_bound(schema: dict[str, Any], keyword: str) -> dict[str, Any]:
    bound = schema.get(_OLD_BOUNDS[keyword])
    return {keyword: bound} if _is_number(bound) else {}


def _rebuilt(keyword: str, value: Any, depth: int) -> Any:
    """``value`` with the schemas directly below it repaired."""
    if keyword in SCHEMAS or (keyword == "items" and not isinstance(value, list)):
        return _repaired(value, depth)
    if keyword in LISTS or keyword == "items":
        return [_repaired(each, depth) for each in value]
    if keyword in NAMED:
        return {name: _repaired(each, depth) for name, each in value.items()}
    if keyword == "dependencies":
        return {name: each if isinstance(each, list) else _repaired(each, depth) for name, each in value.items()}
    return value


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:39] + "…"
