"""The answer on its way to a client: bytes that wait to be sent, at most some hundred kilobytes of them."""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

HIGH = 256 * 1024
"""Bytes that may wait. Beyond that, nothing more is read from the provider."""

Headers = Mapping[str, str]


class Output:
    """Connects the task that asks a model with the one that sends the answer."""

    def __init__(self) -> None:
        self.status = 0
        """The status, once the answer has begun."""
        self.headers: Headers = {}
        self._waiting: deque[bytes] = deque()
        self._size = 0
        self._ended = self.broken = False
        self._news, self._room = asyncio.Event(), asyncio.Event()
        self._room.set()

    def start(self, status: int, headers: Headers) -> None:
        """Begin the answer; it is not sent before this."""
        self.status, self.headers = status, headers
        self._news.set()

    def push(self, data: bytes) -> None:
        """Add bytes."""
        if data:
            self._waiting.append(data)
            self._size += len(data)
            if self._size > HIGH:
                self._room.clear()
            self._news.set()

    def end(self, broken: bool = False) -> None:
        """End the answer; ``broken``: the connection is closed without a proper end."""
        self._ended, self.broken = True, broken
        self._news.set()

    async def room(self) -> None:
        """Wait until the client has read enough."""
        if not self._room.is_set():
            await self._room.wait()

    async def send(self, send: Any, seconds: float, keepalive: Callable[[], None]) -> None:
        """Send everything until the end. ``keepalive`` is called whenever nothing was sent for ``seconds``."""
        begun = False
        while True:
            if not self._waiting and not self._ended and (begun or not self.status):
                self._news.clear()
                try:
                    async with asyncio.timeout(seconds):
                        await self._news.wait()
                except TimeoutError:
                    keepalive()
                    continue
            if not self.status:
                if self._ended:
                    return
                continue
            if not begun:
                begun = True
                await send({"type": "http.response.start", "status": self.status, "headers": encoded(self.headers)})
            data = b"".join(self._waiting)
            self._waiting.clear()
            self._size = 0
            self._room.set()
            if self._ended and self.broken:
                if data:
                    await send({"type": "http.response.body", "body": data, "more_body": True})
                return  # without the last message, the server closes the connection
            if data or self._ended:
                await send({"type": "http.response.body", "body": data, "more_body": not self._ended})
            if self._ended:
                return


def encoded(headers: Headers) -> list[tuple[bytes, bytes]]:
    """Headers in the form of ASGI. Characters that a header cannot have are replaced."""
    return [
        (name.lower().encode("latin-1"), value.replace("\r", " ").replace("\n", " ").encode("latin-1", "replace"))
        for name, value in headers.items()
    ]


async def send_whole(send: Any, status: int, headers: Headers, body: bytes) -> None:
    """Send a whole answer."""
    head = encoded({**headers, "content-length": str(len(body))})
    await send({"type": "http.response.start", "status": status, "headers": head})
    await send({"type": "http.response.body", "body": body})
