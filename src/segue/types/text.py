"""Clean texts before they are sent: lone surrogates, and names inside labels.

A lone surrogate is half of a character: another tool has cut an emoji in two. No provider accepts it in JSON. It is
replaced by U+FFFD when a conversation is read, written or projected; the two halves of a pair are joined.
"""

import re
import unicodedata
from collections.abc import Callable
from typing import Any

REPLACEMENT = "\ufffd"
"""The replacement for a lone surrogate."""

# Matches one JSON escape at a time, so that `\\ud800` (an escaped backslash and letters) is not read as a surrogate.
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # a pair: kept
    rb"|(u[dD][89a-fA-F][0-9a-fA-F]{2})"  # half of one
    rb"|.)",
    re.DOTALL,
)


def scrub_escapes(data: bytes) -> bytes:
    """Replace every escaped lone surrogate in JSON text."""
    return _ESCAPE.sub(lambda match: rb"\ufffd" if match[1] else match[0], data)


def has_surrogate_escapes(data: bytes) -> bool:
    """Whether JSON text contains an escaped lone surrogate."""
    if b"\\ud" not in data and b"\\uD" not in data:
        return False
    return any(match[1] for match in _ESCAPE.finditer(data))


def scrub(text: str) -> str:
    """Replace every lone surrogate in ``text``; without one, return the same object."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


LONGEST_LABEL = 64
_BRACKETS = frozenset({"Ps", "Pe"})
_BREAKS = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp", "Zs"})


def in_label(name: str) -> str:
    """Clean a name from outside (of a tool, of a file type) for use in a label in brackets: no brackets, line breaks or
    control characters, at most 64 characters."""
    kept = []
    for character in name:
        category = unicodedata.category(character)
        if category not in _BRACKETS:
            kept.append(" " if category in _BREAKS else character)
    return " ".join("".join(kept).split())[:LONGEST_LABEL].rstrip()


def copy_json(value: dict[str, Any]) -> dict[str, Any]:
    """Make a deep copy of a JSON object, without recursion."""
    return scrub_json(value, str)


def scrub_json(value: dict[str, Any], clean: Callable[[str], str] = scrub, empty_keys: bool = True) -> dict[str, Any]:
    """Make a deep copy of a JSON object, without recursion. Lone surrogates are replaced, in keys too; entries with an
    empty key are left out unless ``empty_keys``."""
    root: dict[str, Any] = {}
    waiting: list[tuple[Any, Any]] = [(value, root)]
    copies: dict[int, Any] = {id(value): root}  # a value that contains itself is not JSON, but must not loop for ever
    while waiting:
        source, target = waiting.pop()
        for key, item in source.items() if isinstance(source, dict) else enumerate(source):
            if key == "" and not empty_keys:
                continue
            copy: Any = item
            if isinstance(item, str):
                copy = clean(item)
            elif isinstance(item, (dict, list, tuple)):
                if id(item) not in copies:
                    copies[id(item)] = {} if isinstance(item, dict) else [None] * len(item)
                    waiting.append((item, copies[id(item)]))
                copy = copies[id(item)]
            target[clean(key) if isinstance(key, str) else key] = copy
    return root


def whole_number(text: str) -> int | None:
    """The number that ``text`` writes in ASCII digits; ``None`` for anything else, and for more than 18 digits.

    Text from outside is read here: ``int`` raises for long numbers, and for digits such as a superscript two.
    """
    return int(text) if text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS else None


MOST_DIGITS = 18
"""As many as fit into 64 bits."""


def count_of(count: int, noun: str) -> str:
    """A count with its noun, such as ``3 messages``."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")
