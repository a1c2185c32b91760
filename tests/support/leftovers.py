"""All processes that tests start end with the process that runs the tests, even if it is killed."""

import os
import secrets
import sys

MARK = "TESTS_THAT_RUN"
"""In the environment of all processes of tests. Not one of the variables of segue, which some tests remove."""

_held: list[object] = []


def end_all_with_this_process() -> None:
    """Mark all processes that are started from now on. Those that are left are killed when this process ends."""
    if sys.platform == "win32":
        return
    from segue.tools.watchdog import Watchdog

    os.environ[MARK] = secrets.token_hex(16)
    _held.append(Watchdog(f"{MARK}={os.environ[MARK]}"))  # its pipe is closed by the system
