"""One request on its way, and the bytes of its answer. Whatever the transport raises is an error of ours here."""

from collections.abc import AsyncGenerator, Mapping
from typing import Any

import anyio
import httpx2

from ..errors import NetworkError
from .connection import Connection
from .pool import Pool
from .transport import own_errors

SLICE = 256 * 1024
"""Bytes of a long body that are handed on at a time."""
DRAIN = 0.2
"""Seconds that the end of a finished answer's bytes is waited for, so that its connection can be used again."""

Pieces = list[bytes | memoryview]


class Exchange:
    """``open`` sends the request, ``piece`` reads the answer, ``close`` lets the connection go."""

    def __init__(self, url: str, headers: Mapping[str, str], body: Pieces, connection: Connection, pool: Pool) -> None:
        self._url, self._body, self._connection, self._pool = url, body, connection, pool
        self._length = sum(map(len, body))
        self._headers = {**headers, "content-length": str(self._length)}
        self._response: httpx2.Response | None = None
        self._bytes: AsyncGenerator[bytes, None] | None = None
        self._read = 0

    @property
    def status(self) -> int | None:
        return None if self._response is None else self._response.status_code

    @property
    def headers(self) -> Mapping[str, str]:
        """Of the answer."""
        return {} if self._response is None else self._response.headers

    @property
    def succeeded(self) -> bool:
        return self._response is not None and self._response.is_success

    async def open(self) -> None:
        """Send the request; the head of the answer is there when this returns.

        A server may close a connection that it kept open at any time (RFC 9112, 9.5). One that was used before and
        breaks before an answer begins says nothing about the request, so another takes its place.
        """
        http = self._connection.http or await self._pool.http()
        with own_errors():
            while self._response is None:
                way = _Way()
                try:
                    self._response = await http.send(self._request(http, way), stream=True)
                except (httpx2.NetworkError, httpx2.RemoteProtocolError) as error:
                    if not way.used_before or not _unanswered(error):
                        raise
            self._bytes = self._response.aiter_bytes()

    async def piece(self) -> bytes | None:
        """The next bytes of the answer, decompressed; ``None`` at its end."""
        if self._bytes is None:
            return None
        with own_errors():
            data = await anext(self._bytes, None)
        self._read += len(data or b"")
        if self._read > self._connection.max_answer:
            most = f"the answer has more than {self._connection.max_answer:,} bytes (Connection.max_answer)"
            raise NetworkError(most, retryable=False)
        return data

    async def drain(self) -> None:
        """Read what little follows the last event, so that the connection can be used again."""
        with anyio.move_on_after(DRAIN):
            try:
                while await self.piece() is not None:
                    pass
            except NetworkError:
                pass

    async def close(self) -> None:
        """Let the connection go: for others if the answer was read to its end, else it is closed."""
        response, data = self._response, self._bytes
        self._response = self._bytes = None
        with anyio.CancelScope(shield=True):
            try:
                with own_errors():
                    if data is not None:
                        await data.aclose()
                    if response is not None:
                        await response.aclose()
            except NetworkError:
                pass  # it is gone

    def _request(self, http: httpx2.AsyncClient, way: "_Way") -> httpx2.Request:
        content = b"".join(self._body) if self._length <= SLICE else _sliced(self._body)
        timeout = httpx2.Timeout(None, connect=self._connection.timeouts.connect)
        extensions = {"trace": way.seen}
        return http.build_request(
            "POST", self._url, headers=self._headers, content=content, timeout=timeout, extensions=extensions
        )


class _Way:
    """Which connection a request took, by what the pool reports: a new one is connected before anything is sent."""

    def __init__(self) -> None:
        self._connected = self._sent = False

    @property
    def used_before(self) -> bool:
        return self._sent and not self._connected

    async def seen(self, name: str, info: Mapping[str, Any]) -> None:
        self._connected = self._connected or ".connect_" in name or ".start_tls" in name
        self._sent = self._sent or name == "http11.send_request_headers.started"


def _unanswered(error: httpx2.TransportError) -> bool:
    """Whether the connection ended without an answer. Bytes that are no answer are something else."""
    return isinstance(error, httpx2.NetworkError) or "disconnected without sending" in str(error)


async def _sliced(pieces: Pieces) -> AsyncGenerator[bytes, None]:
    """A long body, without making one piece of it."""
    for piece in pieces:
        for at in range(0, len(piece), SLICE):
            yield bytes(piece[at : at + SLICE])
