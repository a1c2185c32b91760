"""From a path or a URL to a store, and where sessions are kept when nobody says."""

import os
import re
import sys
from pathlib import Path

from ..errors import SessionError
from .sqlite import MEMORY, SQLiteStore
from .store import Store

STORE_VARIABLE = "SEGUE_SESSIONS"
FILE = "sessions.db"


_WORDS = re.compile(r"\s*[A-Za-z_]+\s*=")
"""How an address begins that libpq reads as words: ``host=… password=…``."""
_SCHEME = re.compile(r"\s*(?:postgres\w*|sqlite\w*|file|mysql|mariadb|https?)(?:\+\w+)?:", re.IGNORECASE)
"""How a URL begins, also one with a slash too few. Such a name is not meant as a path."""
KINDS = "a store is a path, sqlite:///path or postgresql://user:password@host:port/database"


def open_store(where: str | os.PathLike[str] | None = None, *, create: bool = True) -> Store:
    """The store at ``where``: a path, ``sqlite:///path`` or ``postgresql://…``; without one, the default.

    Words as libpq takes them (``host=… dbname=…``) name a PostgreSQL database, too; a file of such a name is
    ``./host=…``. A file that is not there is made, unless ``create`` is false: then it is a ``SessionError``. In a URL
    of SQLite three slashes are before a relative path and four before an absolute one. No error repeats an address:
    there may be a password in it.
    """
    named = os.fspath(where) if where else os.environ.get(STORE_VARIABLE) or str(default_path())
    if isinstance(where, os.PathLike):
        return _file(named, create)
    scheme, found, rest = named.partition("://")
    if (found and scheme in ("postgresql", "postgres")) or (not found and _WORDS.match(named)):
        from .postgres import PostgresStore

        return PostgresStore(named)
    if found and scheme == "sqlite":
        if not rest.startswith("/"):
            raise SessionError("sqlite://: a URL of SQLite is sqlite:///relative/path or sqlite:////absolute/path")
        return _file(rest[1:] or MEMORY, create)
    if found or _SCHEME.match(named):
        shown = scheme if re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*", scheme) and found else "this address"
        raise SessionError(f"{shown}: {KINDS}")
    return _file(named, create)


def _file(path: str, create: bool) -> Store:
    if not create and path != MEMORY and not os.path.exists(path):
        raise SessionError(f"{path}: there is no store of sessions")
    return SQLiteStore(path)


def default_path() -> Path:
    """The file in the folder that the platform has for data of programs."""
    home = Path.home()
    if sys.platform == "win32":
        folder = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        folder = home / "Library" / "Application Support"
    else:
        folder = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    return folder / "segue" / FILE
