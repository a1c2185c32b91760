"""Texts that are cleaned before they are sent: lone surrogates, and names inside labels.

Lone surrogates are half characters that other tools cut out of an emoji, and that no JSON parser of a provider accepts.
They are replaced by U+FFFD when a conversation is read, written or projected; a whole pair is joined.
"""

import re
import unicodedata
from collections.abc import Callable
from typing import Any

REPLACED = "\ufffd"
"""What stands for half a character."""

# One JSON escape at a time, so that `\\ud800` (an escaped backslash and letters) is not taken for a surrogate.
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # a pair: kept
    rb"|(u[dD][89a-fA-F][0-9a-fA-F]{2})"  # half of one
    rb"|.)",
    re.DOTALL,
)


def scrub_escapes(data: bytes) -> bytes:
    """JSON text with every escaped lone surrogate replaced."""
    return _ESCAPE.sub(lambda match: rb"\ufffd" if match[1] else match[0], data)


def has_half_escapes(data: bytes) -> bool:
    """Whether JSON text holds an escaped lone surrogate."""
    if b"\\ud" not in data and b"\\uD" not in data:
        return False
    return any(match[1] for match in _ESCAPE.finditer(data))


def scrub(text: str) -> str:
    """``text`` with every lone surrogate replaced; the same object if there is none."""
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
    """A foreign name (of a tool, of a type of file) as it is written into a label, which it must not end: without
    brackets, line breaks and control characters, at most 64 characters."""
    kept = []
    for character in name:
        category = unicodedata.category(character)
        if category not in _BRACKETS:
            kept.append(" " if category in _BREAKS else character)
    return " ".join("".join(kept).split())[:LONGEST_LABEL].rstrip()


def copy_json(value: dict[str, Any]) -> dict[str, Any]:
    """A deep copy of a JSON object. Nesting costs no stack."""
    return scrub_json(value, str)


def scrub_json(value: dict[str, Any], clean: Callable[[str], str] = scrub, empty_keys: bool = True) -> dict[str, Any]:
    """A deep copy of a JSON object with every lone surrogate replaced, in keys too, and with or without entries that
    have an empty key. Nesting costs no stack."""
    root: dict[str, Any] = {}
    waiting: list[tuple[Any, Any]] = [(value, root)]
    copies: dict[int, Any] = {id(value): root}  # a value that holds itself is no JSON, but must not hang us
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
