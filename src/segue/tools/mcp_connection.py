"""One life of a connection to an MCP server, in a task of its own: what breaks in it breaks nobody else's task."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from mcp import Client, MCPError
from mcp.types import CONNECTION_CLOSED, PARSE_ERROR, CallToolResult
from mcp.types import Tool as Listed

from ..errors import ToolServerError
from ..waiting import until_done
from .mcp_stream import UNREADABLE, Messages, Reading, Writing
from .mcp_ways import BROKEN, EXPIRED, UNSENT, Way

# The package tells its logger of every connection that breaks. We tell it ourselves, and a terminal is not the place.
logging.getLogger("mcp").addHandler(logging.NullHandler())

_MOST_PAGES = 100
_PATIENCE = 2.0
_LONGEST = 500
"""Characters of an error that are passed on."""


class Lost(Exception):
    """The connection broke. ``unsent``: the server cannot have seen the request."""

    def __init__(self, reason: str, unsent: bool) -> None:
        self.reason, self.unsent = reason, unsent
        super().__init__(reason)


class Garbled(Exception):
    """The answer to a call cannot be read, or is not one; the connection is as it was."""


MALFORMED = (ValueError, TypeError, LookupError, RuntimeError)
"""What the package raises for an answer that is not as the protocol has it."""


class Connection:
    """A connection from ``open`` to ``close``; once it is lost it stays so."""

    def __init__(self, way: Way) -> None:
        self.calls = 0
        """Calls that have no answer yet."""
        self._way = way
        self._closing = asyncio.Event()
        self._ended = asyncio.Event()
        self._messages = Messages(self._ended)
        self._client: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._fault: BaseException | None = None
        self._task = asyncio.create_task(self._live())

    @property
    def title(self) -> str | None:
        """What the server calls itself, once it is known."""
        known = self._client.done() and self._client.exception() is None
        about = self._client.result().server_info if known else None
        return about.name if about is not None else None

    @property
    def is_lost(self) -> bool:
        return self._ended.is_set() or self._task.done()

    @property
    def left_out(self) -> dict[str, str]:
        """Tools of the list that are not as the protocol has them: their names, and what is wrong."""
        return self._messages.left_out

    async def opened(self, seconds: float) -> list[Listed]:
        """Wait until the server has said what it can do; its tools."""
        try:
            async with asyncio.timeout(seconds):
                client = await asyncio.shield(self._client)
                self._messages.version = client.protocol_version
                return await _listed(client)
        except TimeoutError:
            raise ToolServerError(f"no answer within {seconds:g} seconds") from None
        except (MCPError, *MALFORMED) as error:  # it refuses, or says what no server says
            raise ToolServerError(_brief(error)) from None

    async def call(self, name: str, arguments: dict[str, Any]) -> CallToolResult:
        """Call a tool; ``Lost`` if the connection breaks, ``MCPError`` if the server refuses, ``Garbled`` if its answer
        cannot be read."""
        if self.is_lost:
            raise Lost(self._why(), unsent=True)
        self.calls += 1
        try:
            return await self._client.result().call_tool(name, arguments)
        except MALFORMED as error:
            raise Garbled(_brief(error)) from None
        except MCPError as error:
            if error.data == UNREADABLE or error.code == PARSE_ERROR:
                raise Garbled(_brief(error)) from None
            if error.data == EXPIRED:
                self._ended.set()
            if error.data in (UNSENT, BROKEN, EXPIRED):
                raise Lost(str(error), unsent=error.data != BROKEN) from None
            if error.code != CONNECTION_CLOSED:
                raise
            reason = str(error)
        finally:
            self.calls -= 1
        if self.is_lost:  # its task knows why, once it has ended
            self._closing.set()
            await asyncio.wait([self._task], timeout=_PATIENCE)
            reason = self._why()
        raise Lost(reason, unsent=False)

    async def close(self) -> None:
        """End the connection; a server that was started for it is ended. Completes even if it is cancelled."""
        self._closing.set()
        if not self._client.done():  # it waits for the server, not for us
            self._task.cancel()
        await until_done(self._task)

    async def _live(self) -> None:
        try:
            async with Client(_watched(self._way.open(), self._messages)) as client:
                self._client.set_result(client)
                await self._closing.wait()
        except Exception as error:  # noqa: BLE001, whatever breaks is told to those who wait for answers
            self._fault = error
        finally:
            self._ended.set()
            if not self._client.done():
                self._client.set_exception(ToolServerError(self._why()))
                self._client.exception()  # told or not: nobody may be waiting any more

    def _why(self) -> str:
        told = [str(fault) or type(fault).__name__ for fault in _leaves(self._fault)]
        return "; ".join(dict.fromkeys(told)) or "it closed the connection"


@asynccontextmanager
async def _watched(transport: AbstractAsyncContextManager[Any], messages: Messages) -> AsyncIterator[Any]:
    async with transport as (reading, writing):
        yield Reading(reading, messages), Writing(writing, messages)


async def _listed(client: Client) -> list[Listed]:
    """The tools of a server, all pages."""
    tools: list[Listed] = []
    if client.server_capabilities.tools is None:
        return tools
    cursor: str | None = None
    for _ in range(_MOST_PAGES):
        page = await client.list_tools(cursor=cursor)
        tools.extend(page.tools)
        cursor = page.next_cursor
        if not cursor:
            break
    return tools


def _brief(error: Exception) -> str:
    return " ".join(str(error).split())[:_LONGEST] or type(error).__name__


def _leaves(error: BaseException | None) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    elif error is not None:
        yield error
