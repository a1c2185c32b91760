"""A session as JSONL, out of one store and into another.

The first line says which session it is and how many entries follow; then there is one entry a line, exactly as it is
stored. Exporting what was imported gives the same bytes.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple, cast

import msgspec
from msgspec import Struct

from ..errors import FormatError, TransferError, VersionError
from ..types.codec import BYTE_ORDER_MARK, read, write
from .entries import AnyEntry
from .rows import key_of
from .store import SessionInfo, Store

VERSION = 1
"""The version that stands on the first line."""


class Header(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, tag_field="entry", tag="session"):
    """The first line. It is told from entries by the same field that tells entries from each other."""

    version: int
    id: str
    created: int
    changed: int
    entries: int
    title: str = ""
    parent: str | None = None
    parent_entry: int | None = None


class Imported(NamedTuple):
    """What came of an import: the session, and how many of its entries were not there yet."""

    session: str
    added: int


def export_session(store: Store, session: str) -> Iterator[bytes]:
    """The lines of a session. ``SessionError``, at once, if there is none of that name."""
    info = store.info(session)
    return _lines(info, islice((stored.entry for stored in store.read(session)), info.entries))


def import_session(store: Store, lines: Iterable[bytes], *, session: str | None = None, source: str = "") -> Imported:
    """Put an exported session into a store, all or nothing.

    ``session`` gives it another name, ``source`` names the file in errors. Importing what is there already has no
    effect. A ``TransferError`` has every line that cannot be read; a session of that name with other entries is a
    ``ConflictError``.
    """
    header, entries = _read(lines, source)
    info = SessionInfo(
        id=session or header.id,
        created=header.created,
        changed=header.changed,
        entries=header.entries,
        title=header.title,
        parent=header.parent,
        parent_entry=header.parent_entry,
    )
    return Imported(info.id, store.restore(info, entries))


def _lines(info: SessionInfo, entries: Iterable[AnyEntry]) -> Iterator[bytes]:
    yield write(Header(version=VERSION, **msgspec.structs.asdict(info))) + b"\n"
    for entry in entries:
        yield write(entry) + b"\n"


def _read(lines: Iterable[bytes], source: str) -> tuple[Header, list[AnyEntry]]:
    """The header and the entries. Every line is looked at before anything is said."""
    header: Header | None = None
    entries: list[AnyEntry] = []
    faults: list[FormatError] = []
    keys: dict[bytes, int] = {}
    number = 0
    for number, line in enumerate(lines, 1):
        try:
            if not line.strip():
                continue
            if header is None:
                header = _header(line)
                continue
            entry = read(line, cast(type[AnyEntry], AnyEntry))
            first = keys.setdefault(key_of(entry.key), number)
            if first != number:
                raise FormatError(f"the key {entry.key!r} stands on line {first} already", path="key")
            entries.append(entry)
        except FormatError as error:
            faults.append(error.at(source, number))
            if header is None:
                break  # then this is something else, and so is all that follows
    if header is None:
        faults = faults or [FormatError("there is nothing in it", source=source)]
        raise TransferError(faults)
    if not faults and len(entries) != header.entries:
        cut = f"the first line says {header.entries} entries, and {len(entries)} are there"
        faults.append(FormatError(cut, source=source, line=number))
    if faults:
        raise TransferError(faults)
    return header, entries


def _header(line: bytes) -> Header:
    line = line.removeprefix(BYTE_ORDER_MARK)
    try:
        header = read(line, Header)
    except FormatError as error:
        raise FormatError(f"this is no first line of an exported session: {error}") from None
    if header.version != VERSION:
        advice = "; update segue" if header.version > VERSION else ""
        raise VersionError(f"version {header.version} is not supported: this segue reads version {VERSION}{advice}")
    return header
