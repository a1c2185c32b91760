"""The error for tools that need a POSIX system."""

import os

from ..errors import SettingError


def check_posix(what: str, is_available: bool) -> None:
    """Raise a ``SettingError`` if this is not a POSIX system, or if it lacks what the tools need."""
    if os.name != "posix" or not is_available:
        raise SettingError(
            f"{what} need a POSIX system (Linux, macOS); on this system, use your own tools or those of an MCP server"
        )
