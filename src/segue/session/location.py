"""Open the store at a path or a URL, and find the default location."""

import os
import re
import sys
from pathlib import Path

from ..errors import SessionError
from .sqlite import MEMORY, SQLiteStore
from .store import Store

STORE_VARIABLE = "SEGUE_SESSIONS"
FILE = "sessions.db"

_KEYWORDS = re.compile(r"\s*[A-Za-z_]+\s*=")
"""The beginning of an address in keywords of libpq: ``host=… password=…``."""
_SCHEME = re.compile(r"\s*(?:postgres\w*|sqlite\w*|file|mysql|mariadb|https?)(?:\+\w+)?:", re.IGNORECASE)
"""The beginning of a URL, also of one with a missing slash. Such a name is not meant as a path."""
EXPECTED = "a store is a path, sqlite:///path or postgresql://user:password@host:port/database"


def open_store(location: str | os.PathLike[str] | None = None, *, create: bool = True) -> Store:
    """Open the store at ``location``: a path, ``sqlite:///path`` or ``postgresql://…``; by default, ``default_path()``.

    Keywords of libpq (``host=… dbname=…``) also name a PostgreSQL database; write ``./host=…`` for a file with such a
    name. A missing file is created; with ``create=False`` it is a ``SessionError``. A SQLite URL has three slashes
    before a relative path, and four before an absolute one. Errors never repeat an address, because it may contain a
    password.
    """
    name = os.fspath(location) if location else os.environ.get(STORE_VARIABLE) or str(default_path())
    if isinstance(location, os.PathLike):
        return _open_file(name, create)
    scheme, found, rest = name.partition("://")
    if is_postgres(name):
        from .postgres import PostgresStore

        return PostgresStore(name)
    if found and scheme == "sqlite":
        if not rest.startswith("/"):
            raise SessionError("sqlite://: a SQLite URL is sqlite:///relative/path or sqlite:////absolute/path")
        return _open_file(rest[1:] or MEMORY, create)
    if found or _SCHEME.match(name):
        shown = scheme if re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*", scheme) and found else "this address"
        raise SessionError(f"{shown}: {EXPECTED}")
    return _open_file(name, create)


def is_postgres(name: str) -> bool:
    """Whether ``name`` is the address of a PostgreSQL database: a URL, or keywords of libpq."""
    scheme, found, _ = name.partition("://")
    return scheme in ("postgresql", "postgres") if found else _KEYWORDS.match(name) is not None


def _open_file(path: str, create: bool) -> Store:
    if not create and path != MEMORY and not os.path.exists(path):
        raise SessionError(f"{path}: there is no store of sessions")
    return SQLiteStore(path)


def default_path() -> Path:
    """The default file, in the folder of the platform for application data."""
    home = Path.home()
    if sys.platform == "win32":
        folder = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        folder = home / "Library" / "Application Support"
    else:
        folder = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    return folder / "segue" / FILE
