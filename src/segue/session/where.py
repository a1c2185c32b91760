"""From a path or a URL to a store, and where sessions are kept when nobody says."""

import os
import sys
from pathlib import Path

from ..errors import SessionError
from .sqlite import MEMORY, SQLiteStore
from .store import Store

VARIABLE = "SEGUE_SESSIONS"
FILE = "sessions.db"


def open_store(where: str | os.PathLike[str] | None = None, *, create: bool = True) -> Store:
    """The store at ``where``: a path, ``sqlite:///path`` or ``postgresql://…``; without one, the default.

    A file that is not there is made, unless ``create`` is false: then it is a ``SessionError``. In a URL of SQLite
    three slashes stand before a relative path and four before an absolute one.
    """
    named = os.fspath(where) if where else os.environ.get(VARIABLE) or str(default_path())
    scheme, found, rest = named.partition("://")
    if found and scheme in ("postgresql", "postgres"):
        from .postgres import PostgresStore

        return PostgresStore(named)
    if found and scheme == "sqlite":
        if not rest.startswith("/"):
            raise SessionError(f"{named}: a URL of SQLite is sqlite:///relative/path or sqlite:////absolute/path")
        named = rest[1:] or MEMORY
    elif found:
        raise SessionError(f"{scheme}://: a store is a path, sqlite:///… or postgresql://…")
    if not create and named != MEMORY and not os.path.exists(named):
        raise SessionError(f"{named}: there is no store of sessions")
    return SQLiteStore(named)


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
