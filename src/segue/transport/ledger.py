"""A ledger in a SQLite file, so that the origins of answers survive the process."""

import os
import sqlite3
import threading
from collections.abc import Iterator, MutableMapping

import msgspec

from ..render import Ledger
from ..types import Origin

_read = msgspec.json.Decoder(Origin).decode


class _Entries(MutableMapping[str, Origin]):
    """Traces and origins in a table. Threads and processes may share the file."""

    def __init__(self, path: str) -> None:
        self._lock = threading.Lock()
        self._database = sqlite3.connect(path, check_same_thread=False, timeout=30, isolation_level=None)
        self._database.execute("pragma journal_mode = wal")
        self._database.execute("create table if not exists origins (trace text primary key, origin text) without rowid")

    def __getitem__(self, trace: str) -> Origin:
        found = self._all("select origin from origins where trace = ?", trace)
        if not found:
            raise KeyError(trace)
        return _read(found[0])

    def __setitem__(self, trace: str, origin: Origin) -> None:
        self._all("insert or replace into origins values (?, ?)", trace, msgspec.json.encode(origin).decode())

    def __delitem__(self, trace: str) -> None:
        if not self._all("delete from origins where trace = ? returning trace", trace):
            raise KeyError(trace)

    def __iter__(self) -> Iterator[str]:
        return iter(self._all("select trace from origins"))

    def __len__(self) -> int:
        return int(self._all("select count(*) from origins")[0])

    def _all(self, statement: str, *values: str) -> list[str]:
        """The first column of every row."""
        with self._lock:
            return [row[0] for row in self._database.execute(statement, values).fetchall()]


def ledger_file(path: str | os.PathLike[str]) -> Ledger:
    """Open the ledger in the SQLite file at ``path``; a missing file is created."""
    return Ledger(_Entries(os.fspath(path)))
