"""Tools of MCP servers, over stdio and HTTP. Requires the official package (the extra ``mcp``)."""

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
    from mcp.types import Tool as ListedTool

    from .mcp_connection import Connection
    from .mcp_transports import McpTransport

_CONNECT_TIMEOUT = 60.0
_MAX_DEFINITION = 200_000
"""Characters of a tool's description and schema, which are part of every request."""


_UNKNOWN_EFFECT = "Whether the call had an effect is not known."


class McpServer:
    """An MCP server whose tools can be called while the context is open.

    If the server dies, its running calls fail, and the next call connects again. ``prefix`` is put before the names of
    the tools; with ``approval`` the user is asked before each call.
    """

    def __init__(self, name: str, transport: "McpTransport", *, prefix: str = "", approval: bool = False) -> None:
        self.name = name
        self.tools: list[Tool] = []
        """The tools of the server, once the context is entered."""
        self.left_out: dict[str, str] = {}
        """Tools that cannot be offered to a model: the reason by name."""
        self._transport, self._prefix, self._approval = transport, prefix, approval
        self._connections: list[Connection] = []
        """The current connection last; before it, lost ones that still have calls."""
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

        Its environment is ``env`` and the basic variables (``PATH``, ``HOME`` and the like), without keys.
        """
        _require_mcp()
        from .mcp_transports import StdioTransport

        return cls(os.path.basename(command), StdioTransport(command, args, env, cwd), prefix=prefix, approval=approval)

    @classmethod
    def http(
        cls, url: str, headers: Mapping[str, str] | None = None, *, prefix: str = "", approval: bool = False
    ) -> "McpServer":
        """A server at a URL (streamable HTTP). ``headers`` are sent with every request."""
        _require_mcp()
        from .mcp_transports import HttpTransport

        try:
            name = _without_secrets(url)
        except ValueError as error:
            raise SettingError(f"the URL of the MCP server is invalid: {error}") from None
        return cls(name, HttpTransport(url, headers), prefix=prefix, approval=approval)

    async def __aenter__(self) -> "McpServer":
        self._is_open = True
        try:
            listed = await self._connect()
        except ToolServerError as error:
            output = self._transport.last_output()  # for the user who starts it, not for a model
            output = f"; its last output: {output}" if output else ""
            raise ToolServerError(f"the MCP server {self.name} cannot be used: {error}{output}") from None
        self.tools, self.left_out = [], dict(self._connections[-1].left_out)
        for each in listed:
            try:
                self.tools.append(self._checked_tool(each))
            except (SettingError, ValueError, TypeError, RecursionError) as error:
                self.left_out[each.name] = str(error)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_open = False
        await self._close(self._connections)

    async def _connect(self) -> "list[ListedTool]":
        from .mcp_connection import Connection

        await self._close([each for each in self._connections if not each.calls])
        connection = Connection(self._transport)
        self._connections.append(connection)
        try:
            listed = await connection.opened(_CONNECT_TIMEOUT)
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
        """The connection; a new one if it is lost."""
        async with self._connecting:
            if not self._is_open:
                raise ToolServerError("the connection was closed, it is not opened again")
            if not self._connections or self._connections[-1].is_lost:
                await self._connect()
            return self._connections[-1]

    def _checked_tool(self, listed: "ListedTool") -> Tool:
        """Make a tool of one that the server lists; an error if it cannot be offered to a model."""
        _check_listed(listed)
        definition = ToolDefinition(
            self._prefix + listed.name, listed.description or listed.title or "", listed.input_schema
        )
        tool = Tool(definition, partial(self._call, listed.name), approval=self._approval)
        ArgumentChecker(tool)
        return tool

    async def _call(self, name: str, /, **arguments: Any) -> ToolResultMessage:
        from mcp import MCPError

        from .mcp_connection import Lost, UnreadableAnswer

        try:
            try:
                return await self._request(name, arguments)
            except Lost as lost:
                if not lost.unsent:
                    raise
            return await self._request(name, arguments)  # the server has not seen the call, so it can be sent again
        except MCPError as error:
            return _failed(f"the MCP server {self.name} refused the call: {_sentence(error)}")
        except UnreadableAnswer as error:
            return _failed(
                f"the answer of the MCP server {self.name} cannot be read: {_sentence(error)} {_UNKNOWN_EFFECT}"
            )
        except ToolServerError as error:
            return _failed(f"the MCP server {self.name} is gone: {_sentence(error)} The call was not made.")
        except Lost as lost:
            if lost.unsent:
                return _failed(f"the MCP server {self.name} is gone: {_sentence(lost)} The call was not made.")
            return _failed(f"the MCP server {self.name} was lost during the call: {_sentence(lost)} {_UNKNOWN_EFFECT}")

    async def _request(self, name: str, arguments: dict[str, Any]) -> ToolResultMessage:
        from .mcp_results import convert_result

        connection = await self._connected()
        return convert_result(await connection.call(name, arguments))


def _check_listed(listed: "ListedTool") -> None:
    """Refuse a tool without a name, or with a definition that is too large."""
    if not listed.name.strip():
        raise SettingError("a tool has no name")
    size = len(listed.description or "") + len(listed.model_dump_json(include={"input_schema"}))
    if size > _MAX_DEFINITION:
        raise SettingError(
            f"tool {listed.name!r}: its description and schema have {size:,} characters, more than {_MAX_DEFINITION:,}"
        )


def _without_secrets(url: str) -> str:
    """The URL without the parts that may hold a password or a key."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _sentence(error: Exception) -> str:
    return str(error).rstrip(". ") + "."


def _failed(text: str) -> ToolResultMessage:
    return ToolResultMessage("", "", [TextContent(scrub(text))], is_error=True)


def _require_mcp() -> None:
    try:
        import mcp  # noqa: F401
    except ImportError:
        raise SettingError("MCP servers need mcp: pip install 'segue[mcp]'") from None
