"""One HTTP request and the bytes of its answer. Errors of the transport are raised as ``NetworkError``."""

from collections.abc import AsyncGenerator, Mapping
from typing import Any

import anyio
import httpx2

from ..errors import NetworkError
from .connection import Connection
from .pool import Pool
from .transport import mapped_errors

SLICE = 256 * 1024
"""Long bodies are sent in slices of this many bytes."""
DRAIN = 0.2
"""Seconds to wait for the last bytes after a finished answer, so that its connection can be used again."""

Pieces = list[bytes | memoryview]


class Exchange:
    """``open`` sends the request, ``piece`` reads the answer, ``close`` releases the connection."""

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
        """The headers of the answer."""
        return {} if self._response is None else self._response.headers

    @property
    def succeeded(self) -> bool:
        return self._response is not None and self._response.is_success

    async def open(self) -> None:
        """Send the request and wait for the head of the answer.

        A server may close an idle connection at any time (RFC 9112, 9.5). If a connection that was used before breaks
        before the answer begins, the request itself did not fail, and is sent on another connection.
        """
        http = self._connection.http or await self._pool.http()
        with mapped_errors():
            while self._response is None:
                trace = _Trace()
                try:
                    self._response = await http.send(self._request(http, trace), stream=True)
                except (httpx2.NetworkError, httpx2.RemoteProtocolError) as error:
                    if not trace.used_before or not _unanswered(error):
                        raise
            self._bytes = self._response.aiter_bytes()

    async def piece(self) -> bytes | None:
        """The next bytes of the answer, decompressed; ``None`` at its end."""
        if self._bytes is None:
            return None
        with mapped_errors():
            data = await anext(self._bytes, None)
        self._read += len(data or b"")
        if self._read > self._connection.max_answer:
            text = f"the answer has more than {self._connection.max_answer:,} bytes (Connection.max_answer)"
            raise NetworkError(text, retryable=False)
        return data

    async def drain(self) -> None:
        """Read the few bytes after the last event, so that the connection can be used again."""
        with anyio.move_on_after(DRAIN):
            try:
                while await self.piece() is not None:
                    pass
            except NetworkError:
                pass

    async def close(self) -> None:
        """Release the connection. It is kept for other requests if the answer was read to its end, otherwise closed."""
        response, data = self._response, self._bytes
        self._response = self._bytes = None
        with anyio.CancelScope(shield=True):
            try:
                with mapped_errors():
                    if data is not None:
                        await data.aclose()
                    if response is not None:
                        await response.aclose()
            except NetworkError:
                pass  # it is closed already

    def _request(self, http: httpx2.AsyncClient, trace: "_Trace") -> httpx2.Request:
        content = b"".join(self._body) if self._length <= SLICE else _sliced(self._body)
        timeout = httpx2.Timeout(None, connect=self._connection.timeouts.connect)
        extensions = {"trace": trace.record, "segue": True}  # `segue.transport.patch` leaves such requests alone
        return http.build_request(
            "POST", self._url, headers=self._headers, content=content, timeout=timeout, extensions=extensions
        )


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
