"""Makes text from outside safe to show, on a terminal and on a page.

Characters are replaced if they control the terminal, change the order in which text is shown, or are invisible, so
that two texts that differ also look different. Each is replaced by exactly one character.
"""

import re

# Invisible characters: Default_Ignorable_Code_Point of Unicode 17, DerivedCoreProperties.txt (seen 2026-11-17). They
# include direction marks and joiners.
_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
# Control characters (C0 except newline, DEL, C1), other line separators, surrogates, interlinear annotation marks.
_CONTROLS = "\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufff9-\ufffb"

_BASE = f"[^\x00-\x7f{_CONTROLS}{_INVISIBLE}]"
_SELECTOR = "[\ufe00-\ufe0f\u180b-\u180d\u180f\U000e0100-\U000e01ef]"
_JOINER = "[\u200c\u200d]"
# Sequences in which an invisible character is part of a visible one: emoji, and scripts that join letters. After ASCII
# that is only the case in keycaps. The last pattern is the flags of England, Scotland and Wales.
_ORDINARY = (
    f"{_BASE}(?:{_SELECTOR}{_JOINER}?|{_JOINER})",
    "[0-9#*]\ufe0f\u20e3",
    "\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f",
)
_FOUND = re.compile(f"({'|'.join(_ORDINARY)})|[{_CONTROLS}{_INVISIBLE}]")


def printable(text: str) -> str:
    """Make text safe for a terminal. Newlines are kept; tabs become spaces."""
    return mask(text.replace("\r\n", "\n").expandtabs(4))


def one_line(text: str) -> str:
    """Make text safe for a terminal, and join its lines to one."""
    return " ".join(mask(" ".join(text.split())).split())


def mask(text: str) -> str:
    """Replace each unsafe character with U+FFFD. The length stays the same."""
    if text.isascii() and text.isprintable():
        return text
    return _FOUND.sub(lambda found: found[1] or "\N{REPLACEMENT CHARACTER}", text)


def escape_json(document: str) -> str:
    """Write each unsafe character of a JSON document as an escape. The values it contains stay the same."""
    return _FOUND.sub(lambda found: found[1] or _escape(found[0]), document)


def _escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{int.from_bytes(units[at : at + 2]):04x}" for at in range(0, len(units), 2))
