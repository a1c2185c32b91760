"""Which tools need a POSIX system, said in one place and in the same words."""

import os

from ..errors import SettingError


def check_posix(what: str, is_there: bool) -> None:
    """A ``SettingError`` where the system is another one, or what is needed of it is not there."""
    if os.name != "posix" or not is_there:
        raise SettingError(
            f"{what} need a POSIX system (Linux, macOS); on this one, use tools of your own or those of an MCP server"
        )
