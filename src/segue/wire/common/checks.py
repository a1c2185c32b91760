"""Checks that the rules of several protocols share: half characters, empty keys, arguments that are not a JSON object,
repeated names.

All checks accept any JSON and do not recurse. Their cost is linear in the size of the body: paths are built only for
findings, and are shortened where a body is nested very deeply.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

Found = Iterator[tuple[str, str]]
Place = tuple["Place", str | int] | None
"""Where a value is: the place of its container, and its name or position in it."""

LONGEST_NAME, DEEPEST = 80, 32


def half_characters(body: Any) -> Found:
    """Every string with a lone surrogate, keys included. No provider's parser accepts one."""
    for place, value, is_key in _strings(body):
        if is_torn(value):
            what = f"the name {shown(value)!r} contains" if is_key else "the text contains"
            yield path_of(place), f"{what} half a character, a lone surrogate"


def is_torn(text: str) -> bool:
    """Whether a text contains a lone surrogate."""
    if text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _strings(value: Any) -> Iterator[tuple[Place, str, bool]]:
    """Every string below ``value`` with its place, in order, and whether it is a key; a key has its object's place."""
    waiting: list[tuple[Place, Any]] = [(None, value)]
    while waiting:
        place, item = waiting.pop()
        if isinstance(item, str):
            yield place, item, False
        elif isinstance(item, list):
            waiting += [((place, at), item[at]) for at in range(len(item) - 1, -1, -1)]
        elif isinstance(item, dict):
            yield from ((place, name, True) for name in item if isinstance(name, str))
            waiting += [((place, name), below) for name, below in reversed(item.items())]


def texts(value: Any) -> Iterator[str]:
    """Every string in ``value``, including keys, without recursion."""
    waiting: list[Any] = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, list):
            waiting += item
        elif isinstance(item, dict):
            waiting += item.values()
            waiting += item


def empty_keys(value: Any, path: str) -> Found:
    """Every object below ``value`` with a member whose name is empty."""
    waiting: list[tuple[Place, Any]] = [(None, value)]
    while waiting:
        place, item = waiting.pop()
        if isinstance(item, list):
            waiting += [((place, at), below) for at, below in enumerate(item) if isinstance(below, dict | list)]
        elif isinstance(item, dict):
            if "" in item:
                yield f"{path}.{path_of(place)}".rstrip("."), "an empty key"
            waiting += [((place, name), below) for name, below in item.items() if isinstance(below, dict | list)]


def path_of(place: Place) -> str:
    """A place as text, such as ``messages[0].content``. Only the last part of a very deep one."""
    names: list[str] = []
    while place is not None and len(names) < DEEPEST:
        place, name = place
        names.append(f"[{name}]" if isinstance(name, int) else f".{shown(name)}")
    return ("…" if place is not None else "") + "".join(reversed(names)).removeprefix(".")


def shown(value: Any) -> str:
    """A value as shown in a message: at most a line, without half characters."""
    if isinstance(value, str):
        text = value if len(value) <= LONGEST_NAME else f"{value[:LONGEST_NAME]}…"
        return text.encode("utf-8", "replace").decode()
    return f"{value!r}" if isinstance(value, int | float | bool | None) else type(value).__name__


def arguments_fault(text: Any) -> str:
    """What is wrong with the arguments of a call that are sent as a string; "" if they are a JSON object."""
    if not isinstance(text, str):
        return "arguments must be a string that contains a JSON object"
    try:
        value = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
    except msgspec.ValidationError:
        return "arguments must be a JSON object"
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return "arguments are not valid JSON, or are cut"
    del value
    return ""


def repeated(named: Iterable[tuple[str, Any]], what: str) -> Found:
    """Each repeated name, with its path. Values that are empty or not strings are ignored."""
    seen: set[str] = set()
    for path, name in named:
        if isinstance(name, str) and name:
            if name in seen:
                yield path, f"{what} {shown(name)!r} is used twice"
            seen.add(name)


ALTERNATIVES = ("oneOf", "anyOf", "allOf", "enum", "not")
"""Keywords that OpenAI does not accept at the root of a schema."""


def openai_schema_fault(schema: Any, is_strict: bool) -> str:
    """Why OpenAI refuses a schema whose root is an object; "" if it accepts it."""
    if found := [key for key in ALTERNATIVES if key in schema]:
        return f"the root of a schema must not have {found[0]!r}"
    if not isinstance(schema.get("properties", {}), dict):
        return "properties must be an object"
    return _strict_fault(schema) if is_strict else ""


NOT_STRICT = (
    "allOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependentRequired",
    "dependentSchemas",
    "patternProperties",
    "propertyNames",
)
"""Keywords that a strict schema must not have: "'propertyNames' is not permitted" (oh-my-pi#209, 2026-02), "'allOf' is
not permitted" and "'oneOf' is not permitted" (many reports); the rest as OpenAI's guide to structured outputs lists
them, "Some type-specific keywords are not yet supported" (2025-26)."""
_KINDS = ("type", "anyOf", "$ref", "enum", "const")


def _strict_fault(schema: Any) -> str:
    """Why a schema is not strict: each part must have a type, and each object must require exactly its properties and
    accept no others."""
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting += node
        if not isinstance(node, dict):
            continue
        if fault := _open_fault(node) or _keyword_fault(node) or _reference_fault(node, schema):
            return fault
        waiting += _below(node)
    return ""


def _open_fault(node: dict[str, Any]) -> str:
    """Why an object of a strict schema is not closed."""
    if node.get("type") not in ("object", ["object", "null"]):
        return ""
    required, properties = node.get("required"), node.get("properties")
    names = {name for name in required if isinstance(name, str)} if isinstance(required, list) else set()
    known = properties if isinstance(properties, dict) else {}
    if node.get("additionalProperties") is not False:
        return "a strict schema must have 'additionalProperties': false in every object"
    if not names.issuperset(known):
        return "a strict schema must require every property"
    if extra := names.difference(known):
        return f"{shown(min(extra))!r} is required, but is not a property"
    return ""


def _keyword_fault(node: dict[str, Any]) -> str:
    """Why a part of a strict schema is refused: a keyword, or no type."""
    if found := [key for key in NOT_STRICT if key in node]:
        return f"a strict schema must not have {found[0]!r}"
    # "schema must have a 'type' key" (oh-my-pi#210, 2026-02)
    return "" if any(key in node for key in _KINDS) else "every part of a strict schema must have a type"


def _reference_fault(node: dict[str, Any], root: Any) -> str:
    """Why a reference is refused: "reference to component '#/$defs/Shared' which was not found in the schema"
    (vercel/ai, issue-6454-nested-definitions-error.json, 2026)."""
    reference = node.get("$ref")
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return ""
    found = root
    for step in reference[2:].split("/"):
        found = found.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(found, dict) else None
    return "" if found is not None else f"the reference {shown(reference)!r} leads nowhere"


def _below(schema: dict[str, Any]) -> Iterator[Any]:
    """The schemas directly inside another."""
    for name in ("properties", "$defs", "definitions"):
        named = schema.get(name)
        yield from named.values() if isinstance(named, dict) else ()
    yield from (schema[name] for name in ("items", "anyOf") if name in schema)


def schema_fault(schema: Any) -> str:
    """Why a schema is not valid for the parameters of a tool; "" if its root is an object."""
    if not isinstance(schema, dict):
        return "a schema must be an object"
    kind = schema.get("type")
    return "" if kind == "object" else f"the root of a schema must be of type 'object', not {shown(kind)!r}"
