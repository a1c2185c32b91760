"""Sessions by name, for the command line."""

import os

from ..errors import SessionError
from ..session import Store, find_session


def named_session(store: Store, wanted: str) -> str:
    """The id of a session by the beginning of it. If there is none, the error names a command that would work."""
    try:
        return find_session(store, wanted)
    except SessionError as error:
        if not error.in_python:  # the same advice, for the shell
            raise
        is_file = os.path.isfile(wanted)
        hint = f"segue show {wanted} shows the file of that name" if is_file else "segue sessions lists them"
        raise SessionError(f"{error.for_shell()}; {hint}") from None


def free_name(store: Store, wanted: str) -> str:
    """A name that no session has: the one that is wanted, or the same with a number."""
    taken = {info.id for info in store.sessions()}
    names = (wanted if number == 1 else f"{wanted}-{number}" for number in range(1, len(taken) + 2))
    return next(name for name in names if name not in taken)
