"""Replace everything in a request body that is the user's, and keep what belongs to the protocol.

A text is replaced by another one with the same kinds of characters, so that rules about characters and lengths still
apply. Equal texts stay equal, so that calls and results still belong together.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from ..catalog import list_models
from ..errors import FormatError
from ..rules.shape import Table

Path = tuple[str | int, ...]
Holds = Callable[[Any], bool]

_USER_JSON = frozenset({"arguments", "input", "args", "response", "json", "metadata", "labels"})
"""Fields whose objects are the user's, with all their names and values."""
_SCHEMAS = re.compile(r"(?i).*schema|parameters")
"""Fields that contain a JSON Schema."""
_NAMED_SCHEMAS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
"""Keywords of a schema whose objects have names of the user's."""
_KEYWORDS = _NAMED_SCHEMAS | {
    *("$schema", "$ref", "$id", "$comment", "type", "format", "title", "description", "default", "examples", "enum"),
    *("const", "items", "prefixItems", "contains", "minItems", "maxItems", "uniqueItems", "required", "propertyNames"),
    *("additionalProperties", "minProperties", "maxProperties", "propertyOrdering", "anyOf", "oneOf", "allOf", "not"),
    *("if", "then", "else", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength"),
    *("maxLength", "pattern", "nullable", "readOnly", "strict", "json"),
}
_TYPES = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})
_VALUES = frozenset({"enum", "const", "default", "examples"})
"""Keywords of a schema whose values are the user's."""
_ROLES = frozenset({"user", "assistant", "model", "system", "developer", "tool", "function"})
_MIME_TYPES = frozenset({"media_type", "mime_type", "mimeType"})
_MIME_TYPE = re.compile(r"(?:image|audio|video|text|application)/[\w.+-]+")
_DATA_URL = re.compile(r"data:[\w/.+-]*;base64,")
_PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
"""A picture of ours, where a rule looks into pictures."""


class JsonText(Struct):
    """A text that is JSON, such as the arguments of a call in Chat Completions."""

    value: Any


def opened(value: Any) -> Any:
    """The document with JSON inside of texts as values."""
    match value:
        case dict():
            return {key: opened(item) for key, item in value.items()}
        case list():
            return [opened(item) for item in value]
        case str() if value[:1] in ("{", "["):
            try:
                return JsonText(json.loads(value))
            except (ValueError, RecursionError):
                return value
        case _:
            return value


def closed(value: Any) -> Any:
    """The inverse of ``opened``."""
    match value:
        case dict():
            return {key: closed(item) for key, item in value.items()}
        case list():
            return [closed(item) for item in value]
        case JsonText():
            return json.dumps(value.value, ensure_ascii=False)
        case _:
            return value


class Vocabulary:
    """The names and values that belong to a protocol."""

    def __init__(self, table: Table) -> None:
        self.names = frozenset(name for record in table.records.values() for name in record.fields)
        self._models = frozenset(name.partition("/")[2] for name in list_models())
        self._values: dict[str, set[str]] = {}
        for record in table.records.values():
            for name, node in record.fields.items():
                if node.text is not None and node.text.values:
                    self._values.setdefault(name, set()).update(node.text.values)

    def has_value(self, name: str | int | None, value: str) -> bool:
        """Whether ``value`` is one of the values that the protocol lists for a field, or a public name."""
        if name in ("model", "modelId"):
            return value in self._models
        if name == "role":
            return value in _ROLES
        return value in self._values.get(str(name), ()) or (
            name in _MIME_TYPES and _MIME_TYPE.fullmatch(value) is not None
        )


class Place(Struct, frozen=True):
    """A text of the user's: the value at a path, or the last name of the path."""

    path: Path
    is_name: bool
    text: str


def disguise(document: Any, vocabulary: Vocabulary, holds: Holds) -> Any:
    """The document with every text, name and number of the user's replaced, as long as ``holds`` stays true."""
    document = opened(document)
    done: set[str] = set()
    while (place := next((each for each in _places(document, vocabulary) if each.text not in done), None)) is not None:
        document, new = _replaced(document, vocabulary, place, len(done), holds)
        done |= {place.text, new}
    return closed(_with_numbers(document, holds))


def _replaced(document: Any, vocabulary: Vocabulary, place: Place, count: int, holds: Holds) -> tuple[Any, str]:
    for new in _others(place.text, count):
        changed = _rewritten(document, vocabulary, place.text, new)
        if holds(closed(changed)):
            return changed, new
    if place.is_name:  # a field that the protocol's types do not have, and that is refused or required
        return document, place.text
    where = ".".join(map(str, place.path))
    raise FormatError(
        f"{where}: what is refused depends on this very text, so a reproduction would contain it; "
        "replace it yourself first"
    )


def _others(text: str, count: int) -> Iterator[str]:
    head = found[0] if (found := _DATA_URL.match(text)) else ""
    yield head + other(text[len(head) :], count)
    yield head + _PIXEL


def other(text: str, count: int) -> str:
    """A text with the same kinds of characters, which is another one for each ``count``."""
    fresh = []
    for character in text:
        if "a" <= character <= "z":
            fresh.append(chr(97 + count % 26))
        elif "A" <= character <= "Z":
            fresh.append(chr(65 + count % 26))
        elif "0" <= character <= "9":
            fresh.append(chr(48 + count % 10))
        else:
            fresh.append("é" if character.isalpha() else character)
            continue
        count //= 26 if character.isalpha() else 10
    new = "".join(fresh)
    return new if new != text or count > 2 else other(text, count + 1)


def _places(value: Any, vocabulary: Vocabulary) -> Iterator[Place]:
    yield from _Walk(vocabulary).places(value, (), "protocol")


class _Walk(Struct):
    """Goes through a document and knows in each place whose names and values it has: of the ``protocol``, of a
    ``schema``, of an object with ``names`` of schemas, or of the ``user``."""

    vocabulary: Vocabulary

    def places(self, value: Any, path: Path, region: str) -> Iterator[Place]:
        match value:
            case JsonText():
                yield from self.places(value.value, path, "user")
            case list():
                for at, item in enumerate(value):
                    yield from self.places(item, (*path, at), region)
            case dict():
                for name, item in value.items():
                    if not self._keeps_name(name, region):
                        yield Place((*path, name), True, name)
                    yield from self.places(item, (*path, name), self.inside(name, item, region))
            case str() if value and not self._keeps_value(path, value, region):
                yield Place(path, False, value)

    def inside(self, name: str, item: Any, region: str) -> str:
        if region == "user" or (region == "protocol" and name in _USER_JSON and isinstance(item, dict | JsonText)):
            return "user"
        if region == "protocol":
            return "schema" if _SCHEMAS.fullmatch(name) and isinstance(item, dict) else "protocol"
        if region == "names":
            return "schema"
        return "user" if name in _VALUES else "names" if name in _NAMED_SCHEMAS else "schema"

    def _keeps_name(self, name: str, region: str) -> bool:
        return name in (self.vocabulary.names if region == "protocol" else _KEYWORDS if region == "schema" else ())

    def _keeps_value(self, path: Path, value: str, region: str) -> bool:
        name = next((step for step in reversed(path) if isinstance(step, str)), None)
        if region == "schema":
            return (name in ("type", "items") and value.lower() in _TYPES) or name in ("$schema", "format")
        return region == "protocol" and self.vocabulary.has_value(name, value)


def _rewritten(document: Any, vocabulary: Vocabulary, text: str, new: str) -> Any:
    """The document with every place of ``text`` changed to ``new``; in references to definitions, too."""
    for place in list(_places(document, vocabulary)):
        if place.text == text:
            document = _set(document, place, new)
        elif place.text.startswith("#/") and text in (steps := place.text.split("/")):
            document = _set(document, place, "/".join(new if step == text else step for step in steps))
    return document


def _set(value: Any, place: Place, new: str) -> Any:
    return _set_at(value, place.path, place.is_name, new)


def _set_at(value: Any, path: Path, is_name: bool, new: str) -> Any:
    if isinstance(value, JsonText):
        return JsonText(_set_at(value.value, path, is_name, new))
    if not path:
        return new
    step, rest = path[0], path[1:]
    if isinstance(value, list):
        return [_set_at(item, rest, is_name, new) if at == step else item for at, item in enumerate(value)]
    if is_name and not rest:
        return {(new if key == step else key): item for key, item in value.items()}
    return {key: _set_at(item, rest, is_name, new) if key == step else item for key, item in value.items()}


def _with_numbers(document: Any, holds: Holds) -> Any:
    for path, number in list(_numbers(document)):
        fresh = type(number)(1)
        if number != fresh:
            changed = _set_at(document, path, False, fresh)  # type: ignore[arg-type]  # any value, not only a text
            document = changed if holds(closed(changed)) else document
    return document


def _numbers(value: Any, path: Path = ()) -> Iterator[tuple[Path, int | float]]:
    match value:
        case JsonText():
            yield from _numbers(value.value, path)
        case bool():
            return
        case int() | float():
            yield path, value
        case dict():
            for key, item in value.items():
                yield from _numbers(item, (*path, key))
        case list():
            for at, item in enumerate(value):
                yield from _numbers(item, (*path, at))
