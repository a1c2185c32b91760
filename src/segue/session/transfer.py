"""Export a session from a store as JSONL, and import it into another.

The first line has the session and the number of entries. Each further line is one entry, exactly as it is stored.
Exporting an imported session gives the same bytes.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple, cast

import msgspec
from msgspec import Struct

from ..errors import FormatError, TransferError, VersionError
from ..types.codec import BYTE_ORDER_MARK, UNREADABLE, read, write
from .entries import AnyEntry
from .rows import key_of
from .store import SessionInfo, Store

VERSION = 1
"""The version in the first line."""


class Header(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, tag_field="entry", tag="session"):
    """The first line. Its tag is in the same field as the tags of entries."""

    version: int
    id: str
    created: int
    changed: int
    entries: int
    title: str = ""
    parent: str | None = None
    parent_entry: int | None = None


class Imported(NamedTuple):
    """The result of an import: the session, and how many of its entries were new."""

    session: str
    added: int


def export_session(store: Store, session: str) -> Iterator[bytes]:
    """The lines of a session. ``SessionError``, before the first line, if it does not exist."""
    info = store.info(session)
    return _lines(info, islice((stored.entry for stored in store.read(session)), info.entries))


def import_session(store: Store, lines: Iterable[bytes], *, session: str | None = None, source: str = "") -> Imported:
    """Import an exported session into a store, all or nothing.

    ``session`` renames it; ``source`` is the name of the file in errors. Importing the same session again has no
    effect. ``TransferError`` lists every line that cannot be read. ``ConflictError`` if a session of that name exists
    with other entries.
    """
    header, entries = read_exported(lines, source)
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


def read_exported(lines: Iterable[bytes], source: str = "") -> tuple[Header, list[AnyEntry]]:
    """The header and the entries of an exported session. All lines are checked before a ``TransferError`` is raised."""
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
                raise FormatError(f"the key {entry.key!r} is on line {first} already", path="key")
            entries.append(entry)
        except FormatError as error:
            faults.append(error.at(source, number))
            if header is None:
                break  # this is not an exported session
    if header is None:
        faults = faults or [FormatError("the file is empty", source=source)]
        raise TransferError(faults)
    if not faults and len(entries) != header.entries:
        cut = f"the first line announces {header.entries} entries, but there are {len(entries)}"
        faults.append(FormatError(cut, source=source, line=number))
    if faults:
        raise TransferError(faults)
    return header, entries


def is_exported(line: bytes) -> bool:
    """Whether this is the first line of an exported session, of any version."""
    try:
        return msgspec.json.decode(line.removeprefix(BYTE_ORDER_MARK), type=_Probe).entry == "session"
    except UNREADABLE:
        return False


class _Probe(Struct):
    entry: str


def _header(line: bytes) -> Header:
    line = line.removeprefix(BYTE_ORDER_MARK)
    try:
        header = read(line, Header)
    except FormatError as error:
        raise FormatError(f"this is not the first line of an exported session: {error}") from None
    if header.version != VERSION:
        advice = "; update segue" if header.version > VERSION else ""
        raise VersionError(f"version {header.version} is not supported: this segue reads version {VERSION}{advice}")
    return header
