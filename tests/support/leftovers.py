"""Whatever a test starts ends with the process that runs the tests, however that ends."""

import os
import secrets
import sys

MARK = "TESTS_THAT_RUN"
"""In the environment of everything that tests start; not of segue's own variables, which some tests take away."""

_held: list[object] = []


def end_all_with_this_process() -> None:
    """Mark what is started from now on. At the end of this process, what is left of it is ended."""
    if sys.platform == "win32":
        return
    from segue.tools.watchdog import Watchdog

    os.environ[MARK] = secrets.token_hex(16)
    _held.append(Watchdog(f"{MARK}={os.environ[MARK]}"))  # its pipe is closed by the system
