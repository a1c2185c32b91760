"""Convert entries to rows and back. An entry that could not be read again is refused before anything is written."""

from hashlib import blake2b
from typing import Any, NamedTuple, cast

import msgspec

from ..errors import FormatError, SessionError
from ..types.codec import UNREADABLE, read, write
from ..types.text import scrub
from .entries import AnyEntry

MAX_KEY = 256
"""Bytes of a key that are stored unchanged. PostgreSQL cannot index keys of several kilobytes."""

MAX_NAME = 200
MAX_TIME = 2**63 - 1
"""The largest number of a 64-bit column."""

_decode = msgspec.json.Decoder(cast(Any, AnyEntry)).decode


class Row(NamedTuple):
    """The columns of an entry."""

    key: bytes
    kind: str
    body: bytes
    time: int


def row_of(entry: AnyEntry) -> Row:
    """The row of an entry; ``FormatError`` if JSON cannot hold it, or if it could not be read again."""
    body = write(entry)
    try:
        # Constructors do not check types: an entry with a field of the wrong type would make its session unreadable.
        _decode(body)
    except UNREADABLE:
        read(body, cast(type[AnyEntry], AnyEntry))  # raises an error with the reason and the path
    return Row(key_of(entry.key), str(type(entry).__struct_config__.tag), body, entry.time)


def key_of(key: str) -> bytes:
    """The stored form of a key: the key itself, or a digest of a very long one."""
    data = scrub(key).encode()
    if len(data) <= MAX_KEY:
        return data
    return data[: MAX_KEY // 2] + b"#" + blake2b(data, digest_size=32).hexdigest().encode()


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


def check_name(session: str) -> str:
    """Return the name of a session if any database can hold it and any terminal can show it."""
    if isinstance(session, str) and 0 < len(session) <= MAX_NAME and session.isprintable():
        return session
    raise SessionError(
        f"{str(session)[:40]!r} cannot be the name of a session: use 1 to {MAX_NAME} printable characters"
    )


def clean_title(title: str) -> str:
    """A title that any database can hold."""
    return scrub(title).replace("\0", "\N{REPLACEMENT CHARACTER}")
