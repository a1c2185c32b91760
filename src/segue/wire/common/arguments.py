"""Read the arguments of a call from JSON text that may be damaged or cut. Nothing here raises.

First strictly; then repaired (raw control characters, unknown escapes); then completed where the text breaks off; then
an empty object. The caller learns how they were read, because a call with guessed arguments must not run.
"""

import re
from typing import Any, Literal

from ...errors import FormatError
from ...types import refuse_non_finite
from ...types.codec import UNREADABLE, read_json
from ...types.text import scrub_escapes

Reading = Literal["strict", "repaired", "truncated", "unreadable"]
"""How arguments were read."""

_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)', re.DOTALL)
_ESCAPE = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|\\|[\x00-\x1f]')
_CUT_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?\Z")


def read_arguments(text: str) -> tuple[dict[str, Any], Reading]:
    """The object in ``text``, and how it was read. Empty text is an empty object."""
    if not text or text.isspace():
        return {}, "strict"
    found = _strict(text)
    if found is not None:
        return found, "strict"
    found = _strict(repaired := _repaired(text))
    if found is not None:
        return found, "repaired"
    found = _completed(_repaired(_without_cut_escape(text)) if repaired != text else text)
    return ({}, "unreadable") if found is None else (found, "truncated")


def read_so_far(text: str) -> dict[str, Any]:
    """The readable part of arguments that are still streaming, for the live view, where a guess does no harm."""
    return _completed(text) or {}


def _strict(text: str) -> dict[str, Any] | None:
    try:
        found = read_json(text.encode())
    except (*UNREADABLE, UnicodeEncodeError):
        return None
    return found if isinstance(found, dict) else None


def _completed(text: str) -> dict[str, Any] | None:
    import jiter  # imported here, as only damaged and partial arguments need it

    data = text.encode("utf-8", "replace")
    for attempt in (data, scrub_escapes(data)):  # half a character at the end is cut, elsewhere it is a fault
        try:
            # Cut strings are kept. A cut number looks like a whole one, so the call is marked.
            found = jiter.from_json(attempt, partial_mode="trailing-strings", allow_inf_nan=False)
            refuse_non_finite(found)
        except (ValueError, FormatError):
            continue
        return found if isinstance(found, dict) else None
    return None


def _repaired(text: str) -> str:
    return _STRING.sub(lambda string: _ESCAPE.sub(_mended, string[0]), text)


def _mended(fault: re.Match[str]) -> str:
    found = fault[0]
    if len(found) > 1:
        return found
    return "\\\\" if found == "\\" else f"\\u{ord(found):04x}"


def _without_cut_escape(text: str) -> str:
    """Remove half an escape at the end: there the text was cut, which is not a fault."""
    before = len(text) - len(text.rstrip("\\"))
    return text if before and before % 2 == 0 else _CUT_ESCAPE.sub("", text)


_IN_STRING = re.compile(
    r'[^"\\\x00-\x1f]+|"|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|(?P<cut>\\(?:u[0-9a-fA-F]{0,3})?\Z)|(?P<fault>[\\\x00-\x1f])'
)
_UNUSUAL = re.compile(r"[\\\x00-\x1f]")


class Mender:
    """Repairs arguments while they are streamed, in the same way as ``read_arguments`` repairs them at their end."""

    def __init__(self) -> None:
        self._in_string = False
        self._held = ""  # possibly half of an escape

    def feed(self, delta: str) -> str:
        """The repaired text of the next piece. Half of an escape at its end is held back."""
        text, self._held = self._held + delta, ""
        if _UNUSUAL.search(text) is None:
            self._in_string ^= text.count('"') % 2 == 1
            return text
        written: list[str] = []
        at = 0
        while at < len(text):
            if not self._in_string:
                quote = text.find('"', at)
                end = len(text) if quote < 0 else quote + 1
                written.append(text[at:end])
                self._in_string, at = quote >= 0, end
                continue
            found = _IN_STRING.match(text, at)
            assert found is not None
            at = found.end()
            if found["cut"] is not None:
                self._held = found["cut"]
            else:
                written.append(found[0] if found["fault"] is None else _mended(found))
                self._in_string = found[0] != '"'
        return "".join(written)

    def close(self) -> str:
        """The rest, as it arrived: the arguments broke off in it."""
        held, self._held = self._held, ""
        return held
