"""The tools that `segue chat` and `segue run` offer to the model: files, the shell, and those of MCP servers."""

import os
import shlex
from argparse import Namespace
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from msgspec import Struct

from ..errors import SettingError
from ..tools import Tool
from ..types import Model
from .model_choice import supports_tools

if TYPE_CHECKING:
    from ..tools import McpServer


class OfferedTools(Struct):
    """The tools of a command."""

    built_in: list[Tool]
    from_servers: list[Tool]
    """Tools that the user asked for, with --mcp. They are offered even to a model that is too small for them."""
    notes: list[str]
    """Tools that are missing, and why."""

    @property
    def all(self) -> list[Tool]:
        return [*self.built_in, *self.from_servers]

    def for_model(self, model: Model) -> list[Tool]:
        """The tools that are offered to ``model``."""
        return self.all if supports_tools(model) else self.from_servers


async def collect_tools(args: Namespace, stack: AsyncExitStack) -> OfferedTools:
    """Make the tools that the arguments ask for. MCP servers run until ``stack`` is closed."""
    offered = _built_in_tools(args)
    names = {tool.name for tool in offered.built_in}
    for address in args.mcp:
        server = await stack.enter_async_context(_server(address))
        errors = [*server.left_out.values()]
        for tool in server.tools:
            if tool.name in names:
                errors.append(f"tool {tool.name!r}: another tool has the same name, and came first")
            else:
                names.add(tool.name)
                offered.from_servers.append(tool)
        offered.notes += [f"a tool of {server.name} is left out: {error}" for error in errors]
    return offered


def _built_in_tools(args: Namespace) -> OfferedTools:
    """The tools for files and the shell, as far as the system supports them."""
    offered = OfferedTools([], [], [])
    if args.no_tools:
        return offered
    from ..tools import file_tools, shell_tool

    if not os.path.isdir(args.root):
        raise SettingError(f"--root is not a directory: {args.root}")
    for make in (file_tools, lambda root: [shell_tool(root)]):
        try:
            offered.built_in += make(args.root)
        except SettingError as error:
            offered.notes.append(error.for_shell())
    return offered


def _server(address: str) -> "McpServer":
    from ..tools import McpServer

    if address.startswith(("http://", "https://")):
        return McpServer.http(address, approval=True)
    try:
        command = shlex.split(address)
    except ValueError as error:
        raise SettingError(f"--mcp {address}: {error}") from None
    if not command:
        raise SettingError("--mcp is empty; pass a command or a URL")
    return McpServer.stdio(*command, approval=True)
