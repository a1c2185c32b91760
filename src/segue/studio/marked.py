"""Text from outside as parts of a page: safe, shortened, with the words that were searched for marked."""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Literal

import htpy as h

from ..types.printable import one_line as whole_line, printable

LONGEST = 1_400
"""Characters of a text that are shown before the user asks for all."""
MOST_LINES = 22
"""Lines of a text that are shown before the user asks for all."""
MOST_WORDS = 20_000
"""Characters up to which two texts are compared by words; longer ones are compared by lines."""

MOST_ON_A_LINE = 800
"""Characters of a name, an id or a detail that are shown."""
MOST_OF_A_PIECE = 2_000
"""Characters of a piece of a difference that are shown."""

_WORDS = re.compile(r"\s+|\w+|[^\w\s]")
_LINES = re.compile(r"[^\n]*\n|[^\n]+")

Piece = tuple[Literal["same", "old", "new"], str]


def safe(text: str, find: str = "") -> h.Node:
    """The text as it can be shown, with every place marked at which ``find`` occurs."""
    shown = printable(text)
    return list(_found(shown, find)) if find else shown


def _found(text: str, find: str) -> Iterator[h.Node]:
    at = 0
    for match in pattern_of(find).finditer(text):
        yield text[at : match.start()]
        yield h.mark[match.group()]
        at = match.end()
    yield text[at:]


def one_line(text: str) -> str:
    """A name, an id or a detail on one line, cut if it is long."""
    return whole_line(text if len(text) <= MOST_ON_A_LINE else f"{text[:MOST_ON_A_LINE]}…")


def shorten(text: str, length: int) -> str:
    """The beginning of a text on one line, with a sign that there is more."""
    return text if len(text) <= length else f"{text[: length - 1].rstrip()}…"


def pattern_of(find: str) -> "re.Pattern[str]":
    """What finds a text as the user wrote it, in capitals or not."""
    return re.compile(re.escape(find), re.IGNORECASE)


def head_of(text: str) -> str:
    """The beginning of a long text; the whole of a short one."""
    head = text[:LONGEST]
    lines = head.split("\n", MOST_LINES)
    if len(lines) > MOST_LINES:
        head = "\n".join(lines[:MOST_LINES])
    return head if len(text) - len(head) > 80 else text  # do not hide less than the link to it needs


def cut(text: str) -> str:
    """A piece of a difference, without its middle if it is long."""
    if len(text) <= MOST_OF_A_PIECE:
        return text
    kept = MOST_OF_A_PIECE // 2
    return f"{text[:kept]} … {len(text) - 2 * kept:,} more characters … {text[-kept:]}"


def differences(old: str, new: str) -> Iterator[Piece]:
    """The words, or lines of long texts, that two texts share and that only one of them has."""
    split = _WORDS if len(old) + len(new) <= MOST_WORDS else _LINES
    before, after = split.findall(old), split.findall(new)
    for kind, i1, i2, j1, j2 in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind == "equal":
            yield "same", "".join(before[i1:i2])
            continue
        if i1 < i2:
            yield "old", "".join(before[i1:i2])
        if j1 < j2:
            yield "new", "".join(after[j1:j2])
