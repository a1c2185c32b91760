"""The current time, for callers that do not pass one. Nothing below this room has a clock."""

import time


def current_time() -> int:
    """Unix time in milliseconds."""
    return int(time.time() * 1000)
