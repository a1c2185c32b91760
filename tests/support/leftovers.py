"""End all processes that tests have started when the process that runs the tests ends, even if it is killed."""

import os
import secrets
import sys

MARK = "TESTS_THAT_RUN"
"""An environment variable of all processes that tests start; not one of segue's own, which some tests remove."""

_held: list[object] = []


def end_all_with_this_process() -> None:
    """Mark processes that are started from now on. When this process ends, those that are left are ended."""
    if sys.platform == "win32":
        return
    from segue.tools.watchdog import Watchdog

    os.environ[MARK] = secrets.token_hex(16)
    _held.append(Watchdog(f"{MARK}={os.environ[MARK]}"))  # the system closes its pipe
