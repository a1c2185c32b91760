"""Tools of MCP servers, over stdio and HTTP. Needs the official package (the extra ``mcp``)."""

import asyncio
import os
from collections.abc import Mapping
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from ..errors import SettingError, ToolServerError
from ..types import TextContent, ToolDefinition, ToolResultMessage
from ..types.text import scrub
from .arguments import ArgumentChecker
from .tool import Tool

if TYPE_CHECKING:
    from mcp.types import Tool as Listed

    from .mcp_connection import Connection
    from .mcp_transports import Way

_CONNECT = 60.0
_LARGEST = 200_000
"""Characters of a tool's description and schema: every request would carry them."""


class McpServer:
    """A server whose tools can be called as long as the context is open.

    A server that dies costs the calls that it was answering, and their results say so; the next call connects again.
    ``prefix`` is put before the names of the tools; ``approval`` asks a person before each of them runs.
    """

    def __init__(self, name: str, way: "Way", *, prefix: str = "", approval: bool = False) -> None:
        self.name = name
        self.tools: list[Tool] = []
        """What the server offers, once the context is entered."""
        self.left_out: dict[str, str] = {}
        """Tools that no model can be given: their names, and what is wrong with them."""
        self._way, self._prefix, self._approval = way, prefix, approval
        self._connections: list[Connection] = []
        """The present one last; before it, lost ones that still have calls."""
        self._connecting = asyncio.Lock()
        self._is_open = False

    @classmethod
    def stdio(
        cls,
        command: str,
        *args: str,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        prefix: str = "",
        approval: bool = False,
    ) -> "McpServer":
        """A server that is started as a program, and ended with the context.

        Its environment is ``env`` and what every program needs (``PATH``, ``HOME`` and the like): no keys.
        """
        _needed()
        from .mcp_transports import Program

        return cls(os.path.basename(command), Program(command, args, env, cwd), prefix=prefix, approval=approval)

    @classmethod
    def http(
        cls, url: str, headers: Mapping[str, str] | None = None, *, prefix: str = "", approval: bool = False
    ) -> "McpServer":
        """A server at an address (streamable HTTP). ``headers`` go with every request."""
        _needed()
        from .mcp_transports import Address

        try:
            name = _without_secrets(url)
        except ValueError as error:
            raise SettingError(f"an MCP server cannot have such an address: {error}") from None
        return cls(name, Address(url, headers), prefix=prefix, approval=approval)

    async def __aenter__(self) -> "McpServer":
        self._is_open = True
        try:
            listed = await self._connect()
        except ToolServerError as error:
            words = self._way.last_words()  # for the person who starts it, not for a model
            told = f"; its last words: {words}" if words else ""
            raise ToolServerError(f"the MCP server {self.name} cannot be used: {error}{told}") from None
        self.tools, self.left_out = [], dict(self._connections[-1].left_out)
        for each in listed:
            fault = _fault_of(each)
            try:
                made = self._tool(each)
                ArgumentChecker(made)
            except (SettingError, ValueError, TypeError, RecursionError) as error:
                fault = fault or str(error)
            if fault is None:
                self.tools.append(made)
            else:
                self.left_out[each.name] = fault
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_open = False
        await self._close(self._connections)

    async def _connect(self) -> "list[Listed]":
        from .mcp_connection import Connection

        await self._close([each for each in self._connections if not each.calls])
        connection = Connection(self._way)
        self._connections.append(connection)
        try:
            listed = await connection.opened(_CONNECT)
            self.name = connection.title or self.name
            return listed
        except BaseException:
            await self._close([connection])
            raise

    async def _close(self, connections: "list[Connection]") -> None:
        for each in list(connections):
            try:
                await each.close()
            finally:
                self._connections.remove(each)

    async def _connected(self) -> "Connection":
        """The connection, or a new one in place of one that is lost."""
        async with self._connecting:
            if not self._is_open:
                raise ToolServerError("the connection was closed, it is not opened again")
            if not self._connections or self._connections[-1].is_lost:
                await self._connect()
            return self._connections[-1]

    def _tool(self, listed: "Listed") -> Tool:
        definition = ToolDefinition(
            self._prefix + listed.name, listed.description or listed.title or "", listed.input_schema
        )
        return Tool(definition, partial(self._call, listed.name), approval=self._approval)

    async def _call(self, name: str, /, **arguments: Any) -> ToolResultMessage:
        from mcp import MCPError

        from .mcp_connection import Garbled, Lost

        try:
            try:
                return await self._answer(name, arguments)
            except Lost as lost:
                if not lost.unsent:
                    raise
            return await self._answer(name, arguments)  # the server has not seen the call: it may be made once more
        except MCPError as error:
            return _failed(f"the MCP server {self.name} refused the call: {_sentence(error)}")
        except Garbled as error:
            effect = "Whether the call had an effect is not known."
            return _failed(f"the answer of the MCP server {self.name} cannot be read: {_sentence(error)} {effect}")
        except ToolServerError as error:
            return _failed(f"the MCP server {self.name} is gone: {_sentence(error)} The call was not made.")
        except Lost as lost:
            if lost.unsent:
                return _failed(f"the MCP server {self.name} is gone: {_sentence(lost)} The call was not made.")
            effect = "Whether the call had an effect is not known."
            return _failed(f"the MCP server {self.name} was lost during the call: {_sentence(lost)} {effect}")

    async def _answer(self, name: str, arguments: dict[str, Any]) -> ToolResultMessage:
        from .mcp_results import result_of

        connection = await self._connected()
        return result_of(await connection.call(name, arguments))


def _fault_of(listed: "Listed") -> str | None:
    """Why no model can be given a tool, apart from its schema."""
    if not listed.name.strip():
        return "a tool has no name"
    size = len(listed.description or "") + len(listed.model_dump_json(include={"input_schema"}))
    if size > _LARGEST:
        return f"tool {listed.name!r}: its description and schema have {size:,} characters, more than {_LARGEST:,}"
    return None


def _without_secrets(url: str) -> str:
    """The address without what may be a password or a key."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _sentence(error: Exception) -> str:
    return str(error).rstrip(". ") + "."


def _failed(text: str) -> ToolResultMessage:
    return ToolResultMessage("", "", [TextContent(scrub(text))], is_error=True)


def _needed() -> None:
    try:
        import mcp  # noqa: F401
    except ImportError:
        raise SettingError("MCP servers need mcp: pip install 'segue[mcp]'") from None
