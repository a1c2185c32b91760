"""The two transports to an MCP server: a program that is started, and HTTP. Each connection opens its own."""

import os
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import IO, Any, Protocol, TextIO, cast

import httpx2
from mcp import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import INTERNAL_ERROR

from ..client import checked_headers, parse_endpoint
from ..environment import make_http

_MAX_STDERR = 500
_MAX_EVENT = 64_000_000  # an image is one event
_NOT_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.UnsupportedProtocol)
_SESSION = "mcp-session-id"
UNSENT, BROKEN, EXPIRED = "segue: not sent", "segue: broken", "segue: expired"
"""The ``data`` of an error for a request that was not sent, that got no answer, or whose session has expired."""
_TIMEOUT = httpx2.Timeout(30, read=None)  # the scheduler limits how long a tool may take


class McpTransport(Protocol):
    """A way to reach a server."""

    def open(self) -> AbstractAsyncContextManager[Any]:
        """The two streams of messages, for one connection."""

    def last_output(self) -> str:
        """The end of the server's error output, for the user who wonders why it is gone."""


class StdioTransport:
    """Starts a program, and talks to it over its standard input and output."""

    def __init__(
        self, command: str, args: tuple[str, ...], env: Mapping[str, str] | None, cwd: str | os.PathLike[str] | None
    ) -> None:
        self._parameters = StdioServerParameters(
            command=command,
            args=list(args),
            env=None if env is None else dict(env),
            cwd=None if cwd is None else os.fspath(cwd),
            encoding_error_handler="replace",  # an invalid byte costs its line, not the connection
        )
        self._last_output = ""

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Any]:
        self._last_output = ""
        with tempfile.TemporaryFile() as errors:
            try:
                async with stdio_client(self._parameters, errlog=cast(TextIO, errors)) as streams:
                    yield streams
            finally:
                self._last_output = _read_end(errors)

    def last_output(self) -> str:
        return self._last_output


class HttpTransport:
    """Talks to a server over HTTP."""

    def __init__(self, url: str, headers: Mapping[str, str] | None) -> None:
        self._url, user = parse_endpoint(url, query=True)
        self._headers = checked_headers({**(headers or {}), **user}, "the headers of the MCP server")

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Any]:
        async with (
            make_http(lambda: _Client(headers=self._headers, timeout=_TIMEOUT)) as client,
            streamable_http_client(self._url, http_client=client, max_sse_event_size=_MAX_EVENT) as streams,
        ):
            yield streams

    def last_output(self) -> str:
        return ""


class _Client(httpx2.AsyncClient):
    """Returns an error response for a request that failed. An exception would end all requests of the connection."""

    async def send(self, request: httpx2.Request, **settings: Any) -> httpx2.Response:
        try:
            response = await super().send(request, **settings)
        except _NOT_SENT as error:
            return _error_response(request, str(error), UNSENT)
        except httpx2.TransportError as error:
            return _error_response(request, str(error) or type(error).__name__, BROKEN)
        expired = response.status_code == 404 and _SESSION in request.headers
        if not expired and (response.status_code < 400 or _is_json(response)):
            return response
        await response.aclose()
        if expired:  # what the specification requires for an expired session, for example after a restart
            return _error_response(request, "it does not know the session any more", EXPIRED)
        return _error_response(request, f"HTTP {response.status_code} {response.reason_phrase}", None)


def _is_json(response: httpx2.Response) -> bool:
    return response.headers.get("content-type", "").lower().startswith("application/json")


def _error_response(request: httpx2.Request, message: str, data: str | None) -> httpx2.Response:
    error = {"code": INTERNAL_ERROR, "message": message, "data": data}
    return httpx2.Response(503, request=request, json={"jsonrpc": "2.0", "id": None, "error": error})


def _read_end(file: IO[bytes]) -> str:
    file.seek(max(file.seek(0, os.SEEK_END) - _MAX_STDERR, 0))
    return " ".join(file.read().decode("utf-8", "replace").split())
