"""The one function between text from outside and a terminal.

Replaced are characters that control a terminal, that change the order in which others are shown, and that are not
shown at all, so that two texts which differ also look different. Each is replaced by exactly one character.
"""

import re

# Characters that are drawn as nothing: Default_Ignorable_Code_Point of Unicode 17, DerivedCoreProperties.txt (seen
# 2026-11-17). Marks of direction and joiners are among them.
_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
# Controls (C0 but the newline, DEL, C1), other ends of lines, halves of characters, marks of annotations.
_CONTROLS = "\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufff9-\ufffb"

_BASE = f"[^\x00-\x7f{_CONTROLS}{_INVISIBLE}]"
_SELECTOR = "[\ufe00-\ufe0f\u180b-\u180d\u180f\U000e0100-\U000e01ef]"
_JOINER = "[\u200c\u200d]"
# Where an invisible character belongs to what is seen: in emoji and in scripts that join letters. After ASCII it does
# not, except in keycaps. The last are the flags of England, Scotland and Wales.
_ORDINARY = (
    f"{_BASE}(?:{_SELECTOR}{_JOINER}?|{_JOINER})",
    "[0-9#*]\ufe0f\u20e3",
    "\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f",
)
_FOUND = re.compile(f"({'|'.join(_ORDINARY)})|[{_CONTROLS}{_INVISIBLE}]")


def printable(text: str) -> str:
    """Text that may be written to a terminal. Lines stay lines; tabs become spaces."""
    return masked(text.replace("\r\n", "\n").expandtabs(4))


def flat(text: str) -> str:
    """Text that may be written to a terminal, in one line."""
    return " ".join(masked(" ".join(text.split())).split())


def masked(text: str) -> str:
    """Text of the same length, with each unsafe character replaced."""
    if text.isascii() and text.isprintable():
        return text
    return _FOUND.sub(lambda found: found[1] or "\N{REPLACEMENT CHARACTER}", text)


def escaped(document: str) -> str:
    """The same JSON, with each unsafe character written as an escape. Reading it gives the same values."""
    return _FOUND.sub(lambda found: found[1] or _escape(found[0]), document)


def _escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{int.from_bytes(units[at : at + 2]):04x}" for at in range(0, len(units), 2))
