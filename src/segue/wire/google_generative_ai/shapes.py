"""Access to a body of this protocol: field names in both spellings, and lists that may be a single object.

The API reads Protocol Buffers from JSON: ``functionCall`` and ``function_call`` are the same field, and a single object
is accepted where a list is expected (Google's own examples use both).
"""

import re
from typing import Any

from ...rules import shared

# The data fields of a part, which has exactly one of them (google-genai 3.1.0, types.Part).
DATA = (
    "text",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
)
# Dummy signatures that Google documents for missing ones (GEM-20), plain and in base64.
DUMMIES = frozenset(
    {
        "skip_thought_signature_validator",
        "context_engineering_is_the_way_to_go",
        "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I=",
        "Y29udGV4dF9lbmdpbmVlcmluZ19pc190aGVfd2F5X3RvX2dv",
    }
)

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]+={0,2}").fullmatch
_HUMP = re.compile(r"[A-Z]")


def is_base64(text: str) -> bool:
    """Whether ``text`` is complete base64 of either alphabet: the API accepts both (python-genai sends URL-safe)."""
    return len(text) % 4 == 0 and _BASE64(text) is not None


def padded(text: str) -> str:
    """Base64 with its padding, which the API requires."""
    return text if len(text) % 4 == 0 else text + "=" * (-len(text) % 4)


def standard_base64(text: str) -> str:
    """Base64 of either alphabet in the standard one."""
    return text.replace("-", "+").replace("_", "/")


def snake(name: str) -> str:
    """The name of a field in snake case."""
    return _HUMP.sub(lambda match: "_" + match[0].lower(), name)


_SNAKE = {name: snake(name) for name in DATA}


# Every spelling of a data field.
_FIELDS = {spelling: name for name in DATA for spelling in (name, _SNAKE[name])}


SOURCES = ("citationMetadata", "groundingMetadata", "urlContextMetadata")
"""Fields of a candidate: what its answer is based on."""
IMAGE_TYPES = ("image/png", "image/jpeg", "image/webp", "image/heic", "image/heif")
"""The images that the API reads (ai.google.dev, 'Image understanding', 2026-11). "Unsupported MIME type: image/gif"
(vscode#286628, MaiBot#1435, until 2026-01)."""
UNREADABLE_BY = {"vertex": "https://generativelanguage.googleapis.com/", "gemini": "gs://"}
"""The beginning of file addresses that a surface cannot read."""


def get(value: Any, name: str) -> Any:
    """A field of an object in either spelling; ``None`` if it is missing or ``value`` is not an object."""
    if not isinstance(value, dict):
        return None
    found = value.get(name)
    if found is None:
        other = _SNAKE.get(name) or _SNAKE.setdefault(name, snake(name))
        found = value.get(other)
    return found


def many(value: Any) -> list[Any]:
    """A repeated field as a list; empty if it is neither a list nor a single object."""
    if isinstance(value, list):
        return value
    return [value] if isinstance(value, dict) else []


def kinds(part: Any) -> list[str]:
    """The data fields of a part; exactly one if it is valid."""
    found = [] if not isinstance(part, dict) else [key for key in part if key in _FIELDS and part[key] is not None]
    return list(dict.fromkeys(_FIELDS[key] for key in found))


@shared
def contents(body: Any) -> list[Any]:
    return many(get(body, "contents"))


def parts(content: Any) -> list[Any]:
    return many(get(content, "parts"))


def role(content: Any) -> Any:
    """The role of a content; the default is user."""
    found = get(content, "role")
    return "user" if found is None or found == "" else found


def held(content: Any, name: str) -> list[tuple[int, Any]]:
    """Position and field value of every part of a content that has the field ``name``."""
    return [(at, found) for at, part in enumerate(parts(content)) if (found := get(part, name)) is not None]


@shared
def every_part(body: Any) -> list[tuple[str, Any]]:
    """Every part of every content, with its path."""
    return [
        (f"contents[{index}].parts[{at}]", part)
        for index, content in enumerate(contents(body))
        for at, part in enumerate(parts(content))
    ]


@shared
def _with_field(body: Any) -> dict[str, list[tuple[str, Any]]]:
    """All parts that have a field, by field."""
    found: dict[str, list[tuple[str, Any]]] = {}
    for path, part in every_part(body):
        for name in kinds(part):
            found.setdefault(name, []).append((path, part))
    return found


def parts_with(body: Any, *names: str) -> list[tuple[str, str, Any]]:
    """Path, field and its value of every part that has one of these fields; the first field first."""
    found = _with_field(body)
    return [(path, name, get(part, name)) for name in names for path, part in found.get(name, ())]


@shared
def declarations(body: Any) -> list[tuple[str, Any]]:
    """Every function that the request declares, with its path."""
    return [
        (f"tools[{index}].functionDeclarations[{at}]", declaration)
        for index, tool in enumerate(many(get(body, "tools")))
        for at, declaration in enumerate(many(get(tool, "functionDeclarations")))
    ]
