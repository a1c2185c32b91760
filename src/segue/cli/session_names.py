"""Finds a stored session by the beginning of its name."""

import os

from ..errors import SessionError
from ..session import Store

MAX_LISTED = 5
"""Sessions that an error lists."""


def find_session(store: Store, wanted: str) -> str:
    """The id of the session that is called ``wanted``, or whose id alone begins with it.

    Sessions of sub-agents have the id of their session as a prefix; they count only if no other session matches.
    """
    ids = [info.id for info in store.sessions()]
    if wanted in ids:
        return wanted
    found = [each for each in ids if wanted and each.startswith(wanted)]
    if len(found) > 1:
        from ..agent import SEPARATOR  # imports HTTP, which most commands do not need

        found = [each for each in found if SEPARATOR not in each] or found
    if len(found) == 1:
        return found[0]
    if found:
        more = f" and {len(found) - MAX_LISTED} more" if len(found) > MAX_LISTED else ""
        raise SessionError(f"several sessions begin with {wanted}: {', '.join(found[:MAX_LISTED])}{more}")
    hint = f"segue show {wanted} shows the file of that name" if os.path.isfile(wanted) else "segue sessions lists them"
    raise SessionError(f"there is no session {wanted}; {hint}")


def free_name(store: Store, wanted: str) -> str:
    """A name that no session has: the one that is wanted, or the same with a number."""
    taken = {info.id for info in store.sessions()}
    names = (wanted if number == 1 else f"{wanted}-{number}" for number in range(1, len(taken) + 2))
    return next(name for name in names if name not in taken)
