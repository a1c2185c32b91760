"""Secrets: detect headers that hold one, show addresses without them, and remove them from text.

Every text from outside that is shown or stored (errors, events, diagnostics, logs) first goes through ``Secrets``. A
secret is found verbatim and in the forms in which servers and libraries repeat it: escaped for JSON, Python, HTML or a
URL, also twice, and inside base64.
"""

import base64
import html
import json
import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import quote, quote_plus, unquote

from msgspec import Struct

HIDDEN = "[key]"
"""The text that replaces a secret."""

SHORTEST = 8
"""The least number of characters of a secret. Shorter values occur inside ordinary words, so they are not hidden."""

LONGEST_TEXT = 16_384
"""A text from outside is cut to this number of characters before it is shown or stored."""

_NAME = re.compile(
    r"authorization|cookie|passw|passphrase|credential|key|token|secret|bearer|jwt|signature"
    r"|(?:^|[-_])(?:auth|pass|pwd|pat|sas)(?:[-_]|$)",  # only as separate words: not x-author, nor x-compass
    re.IGNORECASE,
)
_SCHEME = re.compile(r"\s*(?:bearer|basic|digest|token)\s+\S", re.IGNORECASE)

_ESCAPE = re.compile(
    r"\\+u00([0-9a-f]{2})|\\+x([0-9a-f]{2})|%([0-9a-f]{2})|&#0*([0-9]{2,3});|&#x0*([0-9a-f]{2});"
    r"|&(quot|amp|lt|gt|apos);|\\+",
    re.IGNORECASE,
)
_ENTITIES = {"quot": '"', "amp": "&", "lt": "<", "gt": ">", "apos": "'"}
_ROUNDS = 3
_GROWTH = 12
"""How many times longer than the secret an escaped form may be."""


def is_secret_header(name: str, value: str = "") -> bool:
    """Whether a header of this name and value holds a secret."""
    return _is_secret_name(name) or _SCHEME.match(value) is not None


@lru_cache(maxsize=1024)
def _is_secret_name(name: str) -> bool:
    return _NAME.search(name) is not None


def shown_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers with secret values hidden."""
    return {name: HIDDEN if is_secret_header(name, value) else value for name, value in headers.items()}


def shown_address(address: str) -> str:
    """Return the address without user, password and query."""
    # A password may contain an unescaped slash or question mark, so everything up to the last @ is removed.
    scheme, found, rest = address.partition("://")
    shown = (rest if found else address).rpartition("@")[2].partition("?")[0]
    return f"{scheme.rpartition('@')[2]}://{shown}" if found else shown


class Secrets:
    """The secrets of one connection. More can be added later, such as a token that was fetched."""

    __slots__ = ("_forms", "_values")

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._values: set[str] = set()
        self._forms: list[str] | None = None
        self.add(*values)

    def copy(self) -> "Secrets":
        """The same secrets, to which more can be added."""
        made = Secrets()
        made._forms = self._all_forms()
        made._values = set(self._values)
        return made

    def add(self, *values: str) -> None:
        """Add secrets; values that are too short are ignored."""
        new = {each for each in (value.strip() for value in values) if len(each) >= SHORTEST} - self._values
        if new:
            self._values |= new
            self._forms = None

    def add_headers(self, headers: Mapping[str, str]) -> None:
        """Add the values of all headers that hold a secret."""
        for name, value in headers.items():
            if is_secret_header(name, value):
                self.add(value, *_parts(value))

    def hide(self, text: str) -> str:
        """Return ``text`` without the secrets. If one is found in an escaped form, the whole text is unescaped."""
        if not self._values or not text:
            return text
        forms = self._all_forms()
        text = _replaced(text, forms)
        plain = text
        for _ in range(_ROUNDS):
            further = _unescaped(plain)
            if further == plain:
                break
            plain = _replaced(further, forms)
            if plain != further:
                text = plain
        return text

    def shown(self, text: str, longest: int = LONGEST_TEXT) -> str:
        """Return ``text`` without the secrets, cut to ``longest`` characters.

        Secrets are hidden first, and only in the part of a long text that can be shown. A secret that the end of that
        part cuts in two is not recognised, so the last characters, as many as a secret may have, are dropped.
        """
        margin = _GROWTH * max(map(len, self._values), default=0)
        hidden = self.hide(text[: longest + 2 * margin])
        if margin and len(text) > longest + 2 * margin:
            hidden = hidden[:-margin]
        return hidden[:longest]

    def _all_forms(self) -> list[str]:
        if self._forms is None:
            found = {form for value in self._values for form in _forms_of(value)}
            self._forms = sorted(found, key=len, reverse=True)  # a form that contains another goes first
        return self._forms


NO_SECRETS = Secrets()
"""For texts that do not belong to a connection: they are only cut."""


def address_secrets(address: str) -> list[str]:
    """Return the user name and password in an address, verbatim and unescaped."""
    rest = address.partition("://")[2] or address
    user, found, _ = rest.rpartition("@")
    if not found:
        return []
    name, _, password = user.partition(":")
    return [each for part in (user, name, password) for each in (part, unquote(part)) if each]


def _parts(value: str) -> list[str]:
    """Return the parts of a header's value without its scheme (``Bearer …``) or its names (``session=…; user=…``)."""
    scheme, _, credentials = value.strip().partition(" ")
    found = [credentials] if scheme.isalpha() else []
    return found + [each.partition("=")[2].strip() for each in value.split(";") if "=" in each]


def _forms_of(value: str) -> set[str]:
    in_json = json.dumps(value)[1:-1]
    plain = {value, in_json, in_json.replace("/", "\\/"), json.dumps(in_json)[1:-1], repr(value)[1:-1]}
    plain |= {quote(value), quote(value, safe=""), quote_plus(value), html.escape(value), value.replace(" ", "+")}
    plain.add(" ".join(value.split()))  # for texts with normalised white space
    for _ in range(_ROUNDS):
        plain |= {_unescaped(form) for form in plain}
    return {form for form in plain | _in_base64(value) if len(form) >= SHORTEST}


def _in_base64(value: str) -> set[str]:
    """Return the part of its base64 that does not depend on the text around it, for each of the three offsets."""
    data, found = value.encode(), set()
    for offset in range(3):
        encoded = base64.b64encode(bytes(offset) + data).decode()
        core = encoded[(offset * 8 + 5) // 6 : (offset + len(data)) * 8 // 6]
        found |= {core, core.replace("+", "-").replace("/", "_")}
    return found


def _replaced(text: str, forms: list[str]) -> str:
    for form in forms:
        text = text.replace(form, HIDDEN)
    return text


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(_character, text)


def _character(escape: "re.Match[str]") -> str:
    unicode, byte, percent, decimal, hexadecimal, entity = escape.groups()
    if entity:
        return _ENTITIES[entity.lower()]
    code = int(decimal) if decimal else int(unicode or byte or percent or hexadecimal or "0", 16)
    # Secrets are printable ASCII, so other escapes are kept. A lone backslash is an escape and is removed.
    return chr(code) if 0x20 <= code < 0x7F else "" if escape[0].startswith("\\") and not code else escape[0]


_SHOWN: dict[str, Callable[[Any], object]] = {
    "api_key": lambda key: "given" if key else None,
    "base_url": lambda address: None if address is None else shown_address(address),
    "headers": shown_headers,
}


class Guarded(Struct, frozen=True):
    """A record whose ``repr`` hides the secrets in its key, address and headers."""

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        fields = [(name, getattr(self, name)) for name in self.__struct_fields__]
        return [(name, _SHOWN[name](value) if name in _SHOWN else value) for name, value in fields]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.__rich_repr__())})"
