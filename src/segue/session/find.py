"""Find stored sessions: all of them, or one by its id or by the beginning of it."""

import os
from contextlib import suppress

from ..errors import SessionError
from .location import STORE_VARIABLE, default_path, open_store
from .store import SessionInfo, Store

SEPARATOR = "~"
"""In the id of a sub-agent's session, between the id of the session that called it and the id of the call."""
SHOWN = 5
"""How many ids an error lists."""


def sessions(store: Store | str | os.PathLike[str] | None = None) -> list[SessionInfo]:
    """All stored sessions, the last changed first. ``store`` is a store, a path, a URL, or ``None`` for the default
    file."""
    if store is None and not os.environ.get(STORE_VARIABLE) and not default_path().exists():
        return []  # nothing has been stored yet, which is not an error
    if store is not None and not isinstance(store, str | os.PathLike):
        return store.sessions()
    with open_store(store, create=False) as opened:
        return opened.sessions()


def find_session(store: Store, beginning: str) -> str:
    """The id of the session that has this id, or of the only one whose id begins like this.

    Sessions of sub-agents begin with the id of the session that called them; they count only if no other one matches.
    """
    with suppress(SessionError):
        return store.info(beginning).id
    found = [info.id for info in store.sessions() if beginning and info.id.startswith(beginning)]
    found = [each for each in found if SEPARATOR not in each] or found
    if len(found) == 1:
        return found[0]
    if not found:
        raise SessionError(f"there is no session {beginning}", in_python="segue.sessions() lists them")
    shown = ", ".join(found[:SHOWN]) + (", …" if len(found) > SHOWN else "")
    raise SessionError(f"several sessions begin with {beginning}: {shown}")
