"""The two ways to an MCP server: a program that is started, and an address. Each is opened anew for each connection."""

import os
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import IO, Any, Protocol, TextIO, cast

import httpx2
from mcp import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import INTERNAL_ERROR

from ..client.reach import endpoint, sendable

_LAST_WORDS = 500
_LARGEST_EVENT = 64_000_000  # images come as one event
_NOT_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.UnsupportedProtocol)
_SESSION = "mcp-session-id"
UNSENT, BROKEN, EXPIRED = "segue: not sent", "segue: broken", "segue: expired"
"""What the error of a request says that was not sent, whose answer did not come, whose session is over."""
_PATIENCE = httpx2.Timeout(30, read=None)  # how long a tool may take is the scheduler's to say


class Way(Protocol):
    """A way to a server."""

    def open(self) -> AbstractAsyncContextManager[Any]:
        """The two streams of messages, for one connection."""

    def last_words(self) -> str:
        """What the server said aside, for a person who wonders why it is gone."""


class Program:
    """A server that is started, and spoken with over its standard input and output."""

    def __init__(
        self, command: str, args: tuple[str, ...], env: Mapping[str, str] | None, cwd: str | os.PathLike[str] | None
    ) -> None:
        self._parameters = StdioServerParameters(
            command=command,
            args=list(args),
            env=None if env is None else dict(env),
            cwd=None if cwd is None else os.fspath(cwd),
            encoding_error_handler="replace",  # a bad byte costs its line, not the connection
        )
        self._said = ""

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Any]:
        self._said = ""
        with tempfile.TemporaryFile() as errors:
            try:
                async with stdio_client(self._parameters, errlog=cast(TextIO, errors)) as streams:
                    yield streams
            finally:
                self._said = _end_of(errors)

    def last_words(self) -> str:
        return self._said


class Address:
    """A server that is spoken with over HTTP."""

    def __init__(self, url: str, headers: Mapping[str, str] | None) -> None:
        self._url, user = endpoint(url, query=True)
        self._headers = sendable({**(headers or {}), **user}, "the headers of the MCP server")

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Any]:
        async with (
            _Careful(headers=self._headers, timeout=_PATIENCE) as client,
            streamable_http_client(self._url, http_client=client, max_sse_event_size=_LARGEST_EVENT) as streams,
        ):
            yield streams

    def last_words(self) -> str:
        return ""


class _Careful(httpx2.AsyncClient):
    """Tells a request that failed as the answer to it. Raised, the failure would end the others on the connection."""

    async def send(self, request: httpx2.Request, **settings: Any) -> httpx2.Response:
        try:
            response = await super().send(request, **settings)
        except _NOT_SENT as error:
            return _refused(request, str(error), UNSENT)
        except httpx2.TransportError as error:
            return _refused(request, str(error) or type(error).__name__, BROKEN)
        expired = response.status_code == 404 and _SESSION in request.headers
        if not expired and (response.status_code < 400 or _is_json(response)):
            return response
        await response.aclose()
        if expired:  # the specification's sign for a session that is over: it was started anew, for example
            return _refused(request, "it does not know the session any more", EXPIRED)
        return _refused(request, f"HTTP {response.status_code} {response.reason_phrase}", None)


def _is_json(response: httpx2.Response) -> bool:
    return response.headers.get("content-type", "").lower().startswith("application/json")


def _refused(request: httpx2.Request, message: str, data: str | None) -> httpx2.Response:
    error = {"code": INTERNAL_ERROR, "message": message, "data": data}
    return httpx2.Response(503, request=request, json={"jsonrpc": "2.0", "id": None, "error": error})


def _end_of(file: IO[bytes]) -> str:
    file.seek(max(file.seek(0, os.SEEK_END) - _LAST_WORDS, 0))
    return " ".join(file.read().decode("utf-8", "replace").split())
