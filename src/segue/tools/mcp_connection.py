"""A connection to an MCP server, in its own task: an error in it does not reach the tasks of its callers."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from mcp import Client, MCPError
from mcp.types import CONNECTION_CLOSED, PARSE_ERROR, CallToolResult, Tool as ListedTool

from ..errors import ToolServerError
from ..waiting import until_done
from .mcp_stream import UNREADABLE, MessageReader, Messages, MessageWriter
from .mcp_transports import BROKEN, EXPIRED, UNSENT, McpTransport

# The package logs every broken connection. It is reported in results here, and must not appear on a terminal.
logging.getLogger("mcp").addHandler(logging.NullHandler())

_MAX_PAGES = 100
_CLOSE_TIMEOUT = 2.0
_MAX_ERROR = 500
"""Characters of an error that are reported."""


class Lost(Exception):
    """The connection broke. ``unsent``: the server cannot have seen the request."""

    def __init__(self, reason: str, unsent: bool) -> None:
        self.reason, self.unsent = reason, unsent
        super().__init__(reason)


class UnreadableAnswer(Exception):
    """The answer to a call cannot be read. The connection still works."""


MALFORMED = (ValueError, TypeError, LookupError, RuntimeError)
"""The errors of the package for an answer that violates the protocol."""


class Connection:
    """A connection. Once it is lost it is not opened again."""

    def __init__(self, transport: McpTransport) -> None:
        self.calls = 0
        """How many calls have no answer yet."""
        self._transport = transport
        self._closing = asyncio.Event()
        self._ended = asyncio.Event()
        self._messages = Messages(self._ended)
        self._client: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._error: BaseException | None = None
        self._task = asyncio.create_task(self._run())

    @property
    def title(self) -> str | None:
        """The name that the server reports, once it is known."""
        known = self._client.done() and self._client.exception() is None
        about = self._client.result().server_info if known else None
        return about.name if about is not None else None

    @property
    def is_lost(self) -> bool:
        return self._ended.is_set() or self._task.done()

    @property
    def left_out(self) -> dict[str, str]:
        """Listed tools that violate the protocol: the reason by name."""
        return self._messages.left_out

    async def opened(self, seconds: float) -> list[ListedTool]:
        """Wait until the server is initialized, and return its tools."""
        try:
            async with asyncio.timeout(seconds):
                client = await asyncio.shield(self._client)
                self._messages.version = client.protocol_version
                return await _list_tools(client)
        except TimeoutError:
            raise ToolServerError(f"no answer within {seconds:g} seconds") from None
        except (MCPError, *MALFORMED) as error:  # it refuses, or violates the protocol
            raise ToolServerError(_shorten(error)) from None

    async def call(self, name: str, arguments: dict[str, Any]) -> CallToolResult:
        """Call a tool.

        ``Lost`` if the connection breaks, ``MCPError`` if the server refuses, ``UnreadableAnswer`` if its answer cannot
        be read.
        """
        if self.is_lost:
            raise Lost(self._reason(), unsent=True)
        self.calls += 1
        try:
            return await self._client.result().call_tool(name, arguments)
        except MALFORMED as error:
            raise UnreadableAnswer(_shorten(error)) from None
        except MCPError as error:
            if error.data == UNREADABLE or error.code == PARSE_ERROR:
                raise UnreadableAnswer(_shorten(error)) from None
            if error.data == EXPIRED:
                self._ended.set()
            if error.data in (UNSENT, BROKEN, EXPIRED):
                raise Lost(str(error), unsent=error.data != BROKEN) from None
            if error.code != CONNECTION_CLOSED:
                raise
            reason = str(error)
        finally:
            self.calls -= 1
        if self.is_lost:  # the reason is known when its task has ended
            self._closing.set()
            await asyncio.wait([self._task], timeout=_CLOSE_TIMEOUT)
            reason = self._reason()
        raise Lost(reason, unsent=False)

    async def close(self) -> None:
        """Close the connection, and end a server that was started for it. Completes even if it is cancelled."""
        self._closing.set()
        if not self._client.done():  # it still waits for the server, and does not see the event
            self._task.cancel()
        await until_done(self._task)

    async def _run(self) -> None:
        try:
            async with Client(_wrap_streams(self._transport.open(), self._messages)) as client:
                self._client.set_result(client)
                await self._closing.wait()
        except Exception as error:  # noqa: BLE001, any error is passed to the callers that wait
            self._error = error
        finally:
            self._ended.set()
            if not self._client.done():
                self._client.set_exception(ToolServerError(self._reason()))
                self._client.exception()  # marks it as read: there may be no caller left

    def _reason(self) -> str:
        texts = [str(error) or type(error).__name__ for error in _leaves(self._error)]
        return "; ".join(dict.fromkeys(texts)) or "it closed the connection"


@asynccontextmanager
async def _wrap_streams(transport: AbstractAsyncContextManager[Any], messages: Messages) -> AsyncIterator[Any]:
    async with transport as (reading, writing):
        yield MessageReader(reading, messages), MessageWriter(writing, messages)


async def _list_tools(client: Client) -> list[ListedTool]:
    """The tools of a server, from all pages."""
    tools: list[ListedTool] = []
    if client.server_capabilities.tools is None:
        return tools
    cursor: str | None = None
    for _ in range(_MAX_PAGES):
        page = await client.list_tools(cursor=cursor)
        tools.extend(page.tools)
        cursor = page.next_cursor
        if not cursor:
            break
    return tools


def _shorten(error: Exception) -> str:
    return " ".join(str(error).split())[:_MAX_ERROR] or type(error).__name__


def _leaves(error: BaseException | None) -> Iterator[BaseException]:
    """The exceptions in a group."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    elif error is not None:
        yield error
