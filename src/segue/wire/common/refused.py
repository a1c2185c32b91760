"""Leave out what a target refuses: fields of the body, and keywords in the schemas of tools.

Values that are shared with others are copied where something is left out, and only there.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from .dataurl import to_builtins

SCHEMAS_BY_NAME = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
"""Keywords whose value has schemas under names of the user's. These names are not keywords."""
VALUES = frozenset({"enum", "const", "default", "examples", "required", "example"})
"""Keywords whose value is data, not a schema."""


def without_fields(body: Any, paths: Iterable[Sequence[str]], found: set[str]) -> Any:
    """``body`` without what is at these paths. Those at which there was something are added to ``found``."""
    for path in paths:
        smaller = without(body, path)
        if smaller is not body:
            found.add(".".join(path))
            body = smaller
    return body


def without(value: Any, path: Sequence[str]) -> Any:
    """``value`` without what is at ``path``; the same object if there is nothing."""
    step, rest = path[0], path[1:]
    if step == "**":
        return _without_name(value, rest[0])
    if isinstance(value, Struct):
        plain = to_builtins(value)
        smaller = without(plain, path)
        return value if smaller is plain else smaller
    if isinstance(value, list):
        if step != "*" or not rest:
            return value
        items = [without(item, rest) for item in value]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    if not isinstance(value, dict) or step not in value:
        return value
    if not rest:
        return {name: each for name, each in value.items() if name != step}
    below = without(value[step], rest)
    if below is value[step]:
        return value
    if below or not isinstance(below, dict):
        return value | {step: below}
    return {name: each for name, each in value.items() if name != step}


_USERS = frozenset({"input", "args", "arguments", "input_schema", "parameters", "parametersJsonSchema", "json"})
"""Fields with JSON of the user's, if it is an object."""


def _without_name(value: Any, name: str) -> Any:
    """``value`` without the field ``name`` at any depth, except in JSON of the user's."""
    if isinstance(value, list):
        items = [_without_name(item, name) for item in value]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    if not isinstance(value, dict):
        return value
    kept = {
        each: below if each in _USERS and isinstance(below, dict) else _without_name(below, name)
        for each, below in value.items()
        if each != name
    }
    same = len(kept) == len(value) and all(kept[each] is below for each, below in value.items())
    return value if same else kept


def without_keywords(schema: Any, keywords: Iterable[str]) -> Any:
    """A JSON Schema without these keywords, at every depth; the same object if it has none. Properties of that name
    stay."""
    refused = frozenset(keywords)

    def walk(value: Any) -> Any:
        if isinstance(value, list):
            items = [walk(item) for item in value]
            return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
        if not isinstance(value, dict):
            return value
        kept = {name: _below(name, each) for name, each in value.items() if name not in refused}
        same = len(kept) == len(value) and all(kept[name] is each for name, each in value.items())
        return value if same else kept

    def _below(name: str, value: Any) -> Any:
        if name in VALUES:
            return value
        if name in SCHEMAS_BY_NAME and isinstance(value, dict):
            named = {each: walk(schema) for each, schema in value.items()}
            return named if any(named[each] is not value[each] for each in value) else value
        return walk(value)

    return walk(schema)
