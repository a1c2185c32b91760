"""The one thing that the client needs of an HTTP library: open a POST, and get a status, headers and pieces of bytes.

``HttpxPoster`` is the default. Another library is one class with the methods of ``Poster`` (``Connection.poster``).
"""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from typing import Any, Protocol

import httpx2

from .transport import mapped_errors

SLICE = 256 * 1024
"""Long bodies are sent in slices of this many bytes."""

Pieces = list[bytes | memoryview]


class Posted(Protocol):
    """The answer to a POST. Errors while it is read are raised as ``NetworkError``."""

    @property
    def status(self) -> int: ...

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers, which are found in upper and lower case."""

    async def piece(self) -> bytes | None:
        """The next bytes, decompressed; ``None`` at the end."""

    async def aclose(self) -> None:
        """Release the connection. It is kept if the answer was read to its end, otherwise closed."""


class Poster(Protocol):
    """Opens requests."""

    async def post(self, url: str, headers: Mapping[str, str], body: Pieces, connect: float) -> Posted:
        """Send the request and wait for the head of the answer, and at most ``connect`` seconds for a connection.

        A server may close an idle connection at any time (RFC 9112, 9.5). If a connection that was used before breaks
        before the answer begins, the request itself did not fail, and is sent on another connection. Errors are raised
        as ``NetworkError``.
        """


class HttpxPoster:
    """Requests through an ``httpx2.AsyncClient``."""

    def __init__(self, http: httpx2.AsyncClient) -> None:
        self._http = http

    async def post(self, url: str, headers: Mapping[str, str], body: Pieces, connect: float) -> Posted:
        with mapped_errors():
            while True:
                trace = _Trace()
                try:
                    return _HttpxPosted(
                        await self._http.send(self._request(url, headers, body, connect, trace), stream=True)
                    )
                except (httpx2.NetworkError, httpx2.RemoteProtocolError) as error:
                    if not trace.used_before or not _unanswered(error):
                        raise

    def _request(
        self, url: str, headers: Mapping[str, str], body: Pieces, connect: float, trace: "_Trace"
    ) -> httpx2.Request:
        content = b"".join(body) if sum(map(len, body)) <= SLICE else _sliced(body)
        timeout = httpx2.Timeout(None, connect=connect)
        extensions = {"trace": trace.record, "segue": True}  # `segue.transport.patch` leaves such requests alone
        return self._http.build_request(
            "POST", url, headers=headers, content=content, timeout=timeout, extensions=extensions
        )


class _HttpxPosted:
    def __init__(self, response: httpx2.Response) -> None:
        self._response = response
        self._bytes: AsyncIterator[bytes] = response.aiter_bytes()
        self.status: int = response.status_code
        self.headers: Mapping[str, str] = response.headers

    async def piece(self) -> bytes | None:
        with mapped_errors():
            return await anext(self._bytes, None)

    async def aclose(self) -> None:
        with mapped_errors():
            if isinstance(self._bytes, AsyncGenerator):
                await self._bytes.aclose()
            await self._response.aclose()


class _Trace:
    """Whether a request was sent on a new connection, from the events of the pool."""

    def __init__(self) -> None:
        self._connected = self._sent = False

    @property
    def used_before(self) -> bool:
        return self._sent and not self._connected

    async def record(self, name: str, info: Mapping[str, Any]) -> None:
        self._connected = self._connected or ".connect_" in name or ".start_tls" in name
        self._sent = self._sent or name == "http11.send_request_headers.started"


def _unanswered(error: httpx2.TransportError) -> bool:
    """Whether the connection ended without an answer, rather than with an invalid one."""
    return isinstance(error, httpx2.NetworkError) or "disconnected without sending" in str(error)


async def _sliced(pieces: Pieces) -> AsyncGenerator[bytes, None]:
    """The slices of a long body, which is never joined."""
    for piece in pieces:
        for at in range(0, len(piece), SLICE):
            yield bytes(piece[at : at + SLICE])
