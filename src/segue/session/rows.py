"""An entry as a row, and back. What is not whole, or could not be read again, is refused before anything is written."""

from hashlib import blake2b
from typing import Any, NamedTuple, cast

import msgspec

from ..errors import FormatError, SessionError
from ..types.codec import UNREADABLE, read, write
from ..types.text import scrub
from .entries import AnyEntry

LONGEST_KEY = 256
"""Bytes of a key that are stored as they are. PostgreSQL has no index over keys of some kilobytes."""

LONGEST_NAME = 200
MAX_TIME = 2**63 - 1
"""What a 64-bit column holds."""

_decode = msgspec.json.Decoder(cast(Any, AnyEntry)).decode


class Row(NamedTuple):
    """What a table holds of an entry."""

    key: bytes
    kind: str
    body: bytes
    time: int


def row_of(entry: AnyEntry) -> Row:
    """The row of an entry; a ``FormatError`` if it holds what JSON cannot, or what could not be read again."""
    body = write(entry)
    try:
        # Constructors check nothing: an entry with a field of the wrong type would make its session unreadable.
        _decode(body)
    except UNREADABLE:
        read(body, cast(type[AnyEntry], AnyEntry))  # says what is wrong, and where
    return Row(key_of(entry.key), str(type(entry).__struct_config__.tag), body, entry.time)


def key_of(key: str) -> bytes:
    """A key as it is looked for: itself, unless it is very long."""
    data = scrub(key).encode()
    if len(data) <= LONGEST_KEY:
        return data
    return data[: LONGEST_KEY // 2] + b"#" + blake2b(data, digest_size=32).hexdigest().encode()


def entry_of(body: bytes, session: str, number: int) -> AnyEntry:
    """The entry of a row."""
    try:
        return cast(AnyEntry, _decode(body))
    except UNREADABLE:
        pass
    try:
        return read(body, cast(type[AnyEntry], AnyEntry))
    except FormatError as error:
        raise SessionError(f"entry {number} of session {session} cannot be read: {error}") from None


def checked_name(session: str) -> str:
    """The name of a session, if it may be one: any database holds it, and any terminal shows it."""
    if isinstance(session, str) and 0 < len(session) <= LONGEST_NAME and session.isprintable():
        return session
    raise SessionError(
        f"{str(session)[:40]!r} cannot be the name of a session: it has 1 to {LONGEST_NAME} printable characters"
    )


def clean_title(title: str) -> str:
    """A title that any database holds."""
    return scrub(title).replace("\0", "\N{REPLACEMENT CHARACTER}")
