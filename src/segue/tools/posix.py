"""Which tools need a POSIX system, said in one place and in the same words."""

import os

from ..errors import SettingError


def expect_posix(what: str) -> None:
    """A ``SettingError`` where files cannot be opened relative to a directory, or processes have no groups."""
    if os.name != "posix" or os.open not in os.supports_dir_fd or not hasattr(os, "killpg"):
        raise SettingError(
            f"{what} need a POSIX system (Linux, macOS); on this one, use tools of your own or those of an MCP server"
        )
