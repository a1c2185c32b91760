"""The keywords of JSON Schema, as tables: the values that they may have, and which of them contain schemas.

``faults`` finds keywords with invalid values, ``well_formed`` repairs them; both use the same tables. ``mapped``
applies a function to the schemas directly inside another, and is how all other modules of this folder walk through a
schema.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

from ..checks import Place, path_of

Schema = dict[str, Any]
Draft = Literal["2020-12", "7"]

TYPES = ("string", "number", "boolean", "object", "array", "null", "integer")
ANNOTATIONS = frozenset(
    {
        "title",
        "description",
        "default",
        "examples",
        "example",
        "deprecated",
        "readOnly",
        "writeOnly",
        "$comment",
        "discriminator",
    }
)
"""Keywords that do not change which values are valid."""
MAX_DEPTH = 64
"""Schemas below this level are left open: no tool has them, and reading them must not exhaust the stack."""


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Whether a value is a JSON number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_positive(value: Any) -> bool:
    return is_number(value) and value > 0


def _is_count(value: Any) -> bool:
    return is_number(value) and value >= 0 and (isinstance(value, int) or value.is_integer())


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value)) and len(set(value)) == len(value)


def _is_type(value: Any) -> bool:
    if isinstance(value, str):
        return value in TYPES
    return _are_texts(value) and bool(value) and set(TYPES).issuperset(value)


Check = Callable[[Any], bool]

_VALUES: dict[str, Check] = {
    **dict.fromkeys(("$id", "$schema", "$ref", "$comment", "title", "description"), _is_text),
    **dict.fromkeys(("format", "contentMediaType", "contentEncoding", "pattern"), _is_text),
    **dict.fromkeys(("readOnly", "uniqueItems"), _is_flag),
    **dict.fromkeys(("maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum"), is_number),
    **dict.fromkeys(("maxLength", "minLength", "maxItems", "minItems", "maxProperties", "minProperties"), _is_count),
    **dict.fromkeys(("enum", "examples"), _is_list),
    "multipleOf": _is_positive,
    "required": _are_texts,
    "type": _is_type,
}
_NEW_VALUES: dict[str, Check] = {
    **dict.fromkeys(("writeOnly", "deprecated"), _is_flag),
    **dict.fromkeys(("minContains", "maxContains"), _is_count),
    "dependentRequired": lambda value: isinstance(value, dict) and all(map(_are_texts, value.values())),
}


class Keywords(NamedTuple):
    """The keywords of a draft: those with a plain value, and those with one schema, a list or an object of schemas."""

    values: dict[str, Check]
    one: frozenset[str]
    several: frozenset[str]
    named: frozenset[str]


_ONE = {"additionalProperties", "contains", "propertyNames", "if", "then", "else", "not", "items"}
_SEVERAL = {"allOf", "anyOf", "oneOf"}
_NAMED = {"definitions", "properties", "patternProperties"}

DRAFTS: dict[Draft, Keywords] = {
    "7": Keywords(_VALUES, frozenset(_ONE | {"additionalItems"}), frozenset(_SEVERAL), frozenset(_NAMED)),
    "2020-12": Keywords(
        _VALUES | _NEW_VALUES,
        frozenset(_ONE | {"unevaluatedItems", "unevaluatedProperties", "contentSchema"}),
        frozenset(_SEVERAL | {"prefixItems"}),
        frozenset(_NAMED | {"$defs", "dependentSchemas"}),
    ),
}
"""Both have `dependencies`, too: schemas or lists of names."""

_ALL = Keywords(
    {}, DRAFTS["7"].one | DRAFTS["2020-12"].one, DRAFTS["2020-12"].several, DRAFTS["2020-12"].named | {"dependencies"}
)
_HOLDERS = _ALL.one | _ALL.several | _ALL.named
"""All keywords that contain schemas in some draft."""
READ: dict[Draft, frozenset[str]] = {
    "7": DRAFTS["7"].one | DRAFTS["7"].several | DRAFTS["7"].named | {"dependencies"},
    "2020-12": DRAFTS["2020-12"].one | DRAFTS["2020-12"].several | DRAFTS["2020-12"].named | {"dependencies"},
}
"""Those of each draft; others are not read."""


class Notes:
    """What was changed in a schema, and what of it accepts more than before; texts in order, without repetitions."""

    def __init__(self) -> None:
        self.changes: dict[str, None] = {}
        self.loosened: dict[str, None] = {}

    def change(self, text: str) -> None:
        """Note a change."""
        self.changes[text] = None

    def loosen(self, place: Place, text: str) -> None:
        """Note that the schema at ``place`` accepts more than before."""
        self.loosened[f"{path_of(place) or 'the root'}: {text}"] = None


Visit = Callable[[Any, Place], Any]
GONE: Any = object()
"""In place of a keyword that is left out."""


def mapped(schema: Schema, place: Place, notes: Notes, visit: Visit, only: frozenset[str] = _HOLDERS) -> Schema:
    """The schema with every schema directly inside it visited; the same object if none of them changed. ``only``: the
    keywords whose schemas are visited.

    A schema inside `not` or `if` must not accept more than before, because then the outer one accepts less: these are
    left out if it does, and `oneOf` becomes `anyOf`.
    """
    changed: Schema = {}
    for keyword, value in schema.items():
        if keyword not in only:
            continue
        before = len(notes.loosened)
        new = _visited(keyword, value, (place, keyword), visit)
        if new is value:
            continue
        changed[keyword] = new
        if len(notes.loosened) > before and keyword in ("not", "if", "oneOf"):
            changed |= _given_up(schema, keyword, new, place, notes)
    return without_gone(schema | changed) if changed else schema


def _given_up(schema: Schema, keyword: str, new: Any, place: Place, notes: Notes) -> Schema:
    if keyword == "oneOf" and "anyOf" not in schema:
        notes.loosen(place, "several alternatives of oneOf may match")
        return {"oneOf": GONE, "anyOf": new}
    notes.loosen(place, f"{keyword} is left out")
    return dict.fromkeys(("if", "then", "else") if keyword == "if" else (keyword,), GONE)


def without_gone(schema: Schema) -> Schema:
    """The schema without keywords that are left out."""
    return {keyword: value for keyword, value in schema.items() if value is not GONE}


def _visited(keyword: str, value: Any, place: Place, visit: Visit) -> Any:
    if isinstance(value, list) and (keyword in _ALL.several or keyword == "items"):
        several = [visit(each, (place, at)) for at, each in enumerate(value)]
        return value if all(a is b for a, b in zip(value, several, strict=True)) else several
    if isinstance(value, dict) and keyword in _ALL.named:
        named = {
            name: each if keyword == "dependencies" and isinstance(each, list) else visit(each, (place, name))
            for name, each in value.items()
        }
        return value if all(named[name] is each for name, each in value.items()) else named
    return visit(value, place) if keyword in _ALL.one else value


def inner(schema: Schema, place: Place = None, only: frozenset[str] = _HOLDERS) -> Iterator[tuple[Place, Any]]:
    """The schemas directly inside another, with their places."""
    found: list[tuple[Place, Any]] = []

    def keep(each: Any, where: Place) -> Any:
        found.append((where, each))
        return each

    mapped(schema, place, Notes(), keep, only)
    return iter(found)


# -- keywords with invalid values ------------------------------------------------------------------------------------


def faults(schema: Any, draft: Draft, place: Place = None, depth: int = 0) -> Iterator[tuple[Place, str]]:
    """The place and a description of every keyword that is not valid in a draft."""
    if isinstance(schema, bool) or depth > MAX_DEPTH:
        return
    if not isinstance(schema, dict):
        yield place, "a schema must be an object"
        return
    table = DRAFTS[draft]
    for keyword, value in schema.items():
        where = (place, keyword)
        check = table.values.get(keyword)
        if check is not None and not check(value):
            yield where, f"{_short(value)} is not a valid value of {keyword!r}"
        elif check is None and not _holds_schemas(keyword, value, draft):
            yield where, f"{keyword!r} does not contain schemas"
        elif check is None:
            for below, each in _held(keyword, value, where, draft):
                yield from faults(each, draft, below, depth + 1)


def _holds_schemas(keyword: str, value: Any, draft: Draft) -> bool:
    """Whether ``value`` has the outer form that ``keyword`` requires; true for unknown keywords."""
    table = DRAFTS[draft]
    if keyword in table.several:
        return isinstance(value, list) and bool(value)
    if keyword in table.named:
        return isinstance(value, dict)
    if keyword == "dependencies":
        return isinstance(value, dict) and all(
            not isinstance(each, list) or _are_texts(each) for each in value.values()
        )
    return value != [] if keyword == "items" else True


def _held(keyword: str, value: Any, place: Place, draft: Draft) -> Iterator[tuple[Place, Any]]:
    """The schemas directly below a keyword whose value has the right form. A list in `items` is of draft 7."""
    table = DRAFTS[draft]
    if keyword in table.several or (keyword == "items" and isinstance(value, list) and draft == "7"):
        yield from (((place, at), each) for at, each in enumerate(value))
    elif keyword in table.one:
        yield place, value
    elif keyword in table.named or keyword == "dependencies":
        for name, each in value.items():
            if not isinstance(each, list) or keyword != "dependencies":
                yield (place, name), each


def well_formed(schema: Any, draft: Draft, notes: Notes, place: Place = None, depth: int = 0) -> Any:
    """The schema if it is valid in the draft, otherwise a copy without invalid keywords."""
    if isinstance(schema, bool):
        return schema
    if not isinstance(schema, dict) or depth > MAX_DEPTH:
        notes.loosen(place, "not a schema" if depth <= MAX_DEPTH else f"nested deeper than {MAX_DEPTH} levels")
        return {}
    table, kept = DRAFTS[draft], dict[str, Any]()
    for keyword, value in schema.items():
        check = table.values.get(keyword)
        if (check is None and _holds_schemas(keyword, value, draft)) or (check is not None and check(value)):
            kept[keyword] = value
        elif (repaired := _repaired(keyword, value, schema)) is not GONE:
            kept[keyword] = repaired
            notes.change(f"the value of {keyword!r} is repaired")
        else:
            notes.loosen(place, f"{keyword!r} has an invalid value and is left out")
    for keyword, bound in _OLD_BOUNDS.items():
        if schema.get(keyword) is True and keyword in kept:
            kept.pop(bound, None)
    new = mapped(kept, place, notes, lambda each, at: well_formed(each, draft, notes, at, depth + 1), READ[draft])
    return schema if len(new) == len(schema) and all(new.get(key) is schema[key] for key in schema) else new


# Draft 4 has `"minimum": 5, "exclusiveMinimum": true` where later drafts have `"exclusiveMinimum": 5`.
_OLD_BOUNDS = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}


def _repaired(keyword: str, value: Any, schema: Schema) -> Any:
    """A valid value with the same meaning, or ``GONE``."""
    if value is True and keyword in _OLD_BOUNDS and is_number(schema.get(_OLD_BOUNDS[keyword])):
        return schema[_OLD_BOUNDS[keyword]]
    if keyword == "required" and isinstance(value, list):
        return list(dict.fromkeys(filter(_is_text, value)))
    if keyword == "type" and isinstance(value, list):
        return list(dict.fromkeys(kind for kind in value if isinstance(kind, str) and kind in TYPES)) or GONE
    return GONE


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:39] + "…"


# -- regular expressions ---------------------------------------------------------------------------------------------

_LOOKAROUND = re.compile(r"\(\?<?[=!]")


def is_pattern(value: Any, patterns: Literal["any", "python", "plain"]) -> bool:
    """Whether a target accepts this regular expression. Python's syntax lacks some of JavaScript's, as ``\\p{L}``."""
    if patterns == "any" or not isinstance(value, str):
        return True
    try:
        re.compile(value)
    except (re.error, RecursionError, OverflowError):
        return False
    return patterns == "python" or not _LOOKAROUND.search(value)
