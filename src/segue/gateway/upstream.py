"""Requests to providers through aiohttp, which needs about a sixth of the processor time of httpx2."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Mapping
from types import SimpleNamespace
from typing import Any
from urllib.request import getproxies

import aiohttp
from multidict import CIMultiDictProxy
from yarl import URL

from ..client import Pieces, Posted
from ..errors import NetworkError

BROKE = "the connection broke"
_ERRORS = (aiohttp.ClientError, asyncio.IncompleteReadError, OSError, EOFError, ssl.SSLError, UnicodeError)
_UNANSWERED = (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError)


class Upstream:
    """One pool of connections for all providers. Create it inside the event loop that uses it."""

    def __init__(self) -> None:
        trace = aiohttp.TraceConfig()
        trace.on_connection_reuseconn.append(_note_reuse)
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=60),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None),
            trace_configs=[trace],
            trust_env=any(name in getproxies() for name in ("http", "https", "all")),  # it costs a thread per request
            read_bufsize=256 * 1024,
        )

    async def post(self, url: str, headers: Mapping[str, str], body: Pieces, connect: float) -> Posted:
        """Send a request (``client.Poster``)."""
        data = b"".join(body)
        while True:
            used = SimpleNamespace(again=False)
            try:
                response = await self._session.post(
                    URL(url, encoded=True),
                    headers=headers,
                    data=data,
                    allow_redirects=False,
                    timeout=aiohttp.ClientTimeout(total=None, sock_connect=connect),
                    trace_request_ctx=used,
                )
            except _UNANSWERED as error:
                if not used.again:
                    raise _broken(error) from None
            except _ERRORS as error:
                raise _broken(error) from None
            else:
                return _Answer(response)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._session.close()


async def _note_reuse(session: Any, context: Any, params: Any) -> None:
    context.trace_request_ctx.again = True


class _Answer:
    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response
        self.status: int = response.status
        self.headers: CIMultiDictProxy[str] = response.headers

    async def piece(self) -> bytes | None:
        try:
            return await self._response.content.readany() or None
        except _ERRORS as error:
            raise _broken(error) from None

    async def aclose(self) -> None:
        if self._response.content.at_eof():
            self._response.release()
        else:
            self._response.close()


class Tapped:
    """Shows the pieces of an answer as they are read, if it is a good one.

    ``before_piece`` is awaited before each piece is read: a client that reads slowly slows the provider down.
    """

    def __init__(
        self, posted: Posted, before: Callable[[], Awaitable[None]], on_piece: Callable[[bytes], None]
    ) -> None:
        self._posted, self._before, self._on_piece = posted, before, on_piece
        self.status: int = posted.status
        self.headers: Mapping[str, str] = posted.headers

    async def piece(self) -> bytes | None:
        await self._before()
        data = await self._posted.piece()
        if data and self.status < 300:
            self._on_piece(data)
        return data

    async def aclose(self) -> None:
        await self._posted.aclose()


def _broken(error: Exception) -> NetworkError:
    return NetworkError(f"{BROKE}: {' '.join(f'{type(error).__name__} {error}'.split())}")
