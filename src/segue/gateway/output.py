"""The answer on its way to a client. A client that reads slowly slows down whoever writes to it."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

Headers = Mapping[str, str]


class Output:
    """Sends an answer. What is pushed is sent by the next ``flush``; nothing is sent before ``start``."""

    def __init__(self, send: Any) -> None:
        self.status = 0
        """The status, once the answer has begun."""
        self.headers: Headers = {}
        self._send = send
        self._waiting: list[bytes] = []
        self._begun = self._ended = self._over = self.broken = False
        self._sending = asyncio.Lock()
        self._sent = 0.0  # when something was sent last

    def start(self, status: int, headers: Headers) -> None:
        """Begin the answer."""
        self.status, self.headers = status, headers

    def push(self, data: bytes) -> None:
        """Add bytes."""
        if data:
            self._waiting.append(data)

    def end(self, broken: bool = False) -> None:
        """End the answer; ``broken``: the connection is closed without a proper end."""
        self._ended, self.broken = True, broken

    def whole(self, status: int, headers: Headers, body: bytes) -> None:
        """Begin and end the answer."""
        self.start(status, {**headers, "content-length": str(len(body))})
        self.push(body)
        self.end()

    async def flush(self) -> None:
        """Send what was pushed, and return when the client has read enough of it."""
        if not self.status:
            return
        async with self._sending:
            if self._over or not (self._waiting or self._ended):
                return
            if not self._begun:
                head = encoded(self.headers)
                await self._send({"type": "http.response.start", "status": self.status, "headers": head})
                self._begun = True
            data, count, last = b"".join(self._waiting), len(self._waiting), self._ended
            more = self.broken or not last  # without the last message, the server closes the connection
            if data or not more:
                await self._send({"type": "http.response.body", "body": data, "more_body": more})
            del self._waiting[:count]  # not before: a cancelled task has sent nothing
            self._over, self._sent = last, asyncio.get_running_loop().time()

    @contextmanager
    def kept_alive(self, seconds: float, keepalive: Callable[[], None]) -> Iterator[None]:
        """Call ``keepalive``, and send what it pushes, whenever nothing was sent for ``seconds``."""
        self._sent = asyncio.get_running_loop().time()
        self._look(seconds, keepalive)
        try:
            yield
        finally:
            self._timer.cancel()

    def _look(self, seconds: float, keepalive: Callable[[], None]) -> None:
        loop = asyncio.get_running_loop()
        left = self._sent + seconds - loop.time()
        if left <= 0 and not self._sending.locked() and not self._ended:
            keepalive()
            self._task = loop.create_task(self.flush())
        self._timer = loop.call_later(left if left > 0 else seconds, self._look, seconds, keepalive)


def encoded(headers: Headers) -> list[tuple[bytes, bytes]]:
    """Headers in the form of ASGI. Characters that a header cannot have are replaced."""
    return [
        (name.lower().encode("latin-1"), value.replace("\r", " ").replace("\n", " ").encode("latin-1", "replace"))
        for name, value in headers.items()
    ]


async def send_whole(send: Any, status: int, headers: Headers, body: bytes) -> None:
    """Send a whole answer."""
    output = Output(send)
    output.whole(status, headers, body)
    await output.flush()
