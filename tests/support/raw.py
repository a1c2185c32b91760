"""A server on loopback that answers with exactly the bytes of a test, and records its connections."""

import socket
import struct
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import BinaryIO

Answer = tuple[bytes | Iterable[bytes], bool]
"""The bytes, or pieces of them, and whether the connection stays open after them."""


@dataclass
class Asked:
    """One request: the index of its connection, its index on that connection, its headers and its body."""

    connection: int
    number: int
    headers: dict[str, str]
    body: bytes


@dataclass
class Server:
    """``answer`` returns the answer to a request. With ``resets``, connections are reset instead of closed."""

    answer: Callable[[Asked], Answer]
    resets: bool = False
    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    _open: list[socket.socket] = field(default_factory=list)

    def serve(self, listening: socket.socket) -> None:
        with suppress(OSError):
            for number in range(1 << 30):
                connection, _ = listening.accept()
                self._open.append(connection)
                threading.Thread(target=self._talk, args=(connection, number), daemon=True).start()

    def _talk(self, connection: socket.socket, place: int) -> None:
        with suppress(OSError), connection, connection.makefile("rb") as lines:
            for number in range(1 << 30):
                headers = _headers(lines)
                if headers is None:
                    return
                body = lines.read(int(headers.get("content-length", 0)))
                asked = Asked(place, number, headers, body)
                self.asked.append(asked)
                data, stays = self.answer(asked)
                for piece in [data] if isinstance(data, bytes) else data:
                    connection.sendall(piece)
                if not stays:
                    self._end(connection)
                    return

    def _end(self, connection: socket.socket) -> None:
        if self.resets:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        else:
            connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        for connection in self._open:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


def _headers(lines: BinaryIO) -> dict[str, str] | None:
    if not lines.readline():
        return None
    found = {}
    while line := lines.readline().strip():
        name, _, value = line.decode("latin-1").partition(":")
        found[name.lower()] = value.strip()
    return found


@contextmanager
def raw(answer: Callable[[Asked], Answer]) -> Iterator[Server]:
    """A running server."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = Server(answer, url=f"http://127.0.0.1:{listening.getsockname()[1]}")
        thread = threading.Thread(target=server.serve, args=(listening,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            with suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)
            server.close()
    thread.join(5)


def response(body: bytes, status: str = "200 OK", headers: "list[tuple[str, str]] | None" = None) -> bytes:
    """A whole answer of HTTP/1.1; its length is added if the headers do not have it."""
    sent = headers if headers is not None else [("content-type", "application/json")]
    lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in sent)]
    if not any(name.lower() in ("content-length", "transfer-encoding") for name, _ in sent):
        lines.append(f"content-length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body
