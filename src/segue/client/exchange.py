"""One HTTP request and the bytes of its answer. Errors of the transport are raised as ``NetworkError``."""

from collections.abc import Mapping
from contextlib import nullcontext, suppress

import anyio

from ..errors import NetworkError
from .connection import Connection
from .pool import Pool
from .post import HttpxPoster, Pieces, Posted

DRAIN = 0.2
"""Seconds to wait for the last bytes after a finished answer, so that its connection can be used again."""


class Exchange:
    """``open`` sends the request, ``piece`` reads the answer, ``close`` releases the connection."""

    def __init__(self, url: str, headers: Mapping[str, str], body: Pieces, connection: Connection, pool: Pool) -> None:
        self._url, self._body, self._connection, self._pool = url, body, connection, pool
        self._headers = {**headers, "content-length": str(sum(map(len, body)))}
        self._posted: Posted | None = None
        self._read = 0
        self._ended = False

    @property
    def status(self) -> int | None:
        return None if self._posted is None else self._posted.status

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers of the answer."""
        return {} if self._posted is None else self._posted.headers

    @property
    def succeeded(self) -> bool:
        return self._posted is not None and 200 <= self._posted.status < 300

    async def open(self) -> None:
        """Send the request and wait for the head of the answer."""
        poster = self._connection.poster or HttpxPoster(self._connection.http or await self._pool.http())
        self._posted = await poster.post(self._url, self._headers, self._body, self._connection.timeouts.connect)

    async def piece(self) -> bytes | None:
        """The next bytes of the answer, decompressed; ``None`` at its end."""
        data = None if self._posted is None else await self._posted.piece()
        if data is None:
            self._ended = True
            return None
        self._read += len(data)
        if self._read > self._connection.max_answer:
            text = f"the answer has more than {self._connection.max_answer:,} bytes (Connection.max_answer)"
            raise NetworkError(text, retryable=False)
        return data

    async def drain(self) -> None:
        """Read the few bytes after the last event, so that the connection can be used again."""
        if self._ended:
            return
        with anyio.move_on_after(DRAIN):
            try:
                while await self.piece() is not None:
                    pass
            except NetworkError:
                pass

    async def close(self) -> None:
        """Release the connection. It is kept for other requests if the answer was read to its end, otherwise closed."""
        posted, self._posted = self._posted, None
        if posted is None:
            return
        # At the end of an answer nothing is left to wait for; otherwise closing must not be cancelled halfway.
        with nullcontext() if self._ended else anyio.CancelScope(shield=True), suppress(NetworkError):
            await posted.aclose()
