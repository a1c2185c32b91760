"""Runs the application on uvicorn: one process or several, until a signal; streams that are running may finish."""

import asyncio
import gc
import logging
import socket
from math import ceil
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from .app import App
from .gateway import Gateway

MOST_HEAD = 64 * 1024
"""Bytes of the head of a request."""
HEAD_TIMEOUT = 30.0
"""Seconds for the head of a request."""
YOUNG = 50_000
"""New objects before the garbage collector looks at them: those of a request are freed without it."""


class _WithoutCuts(logging.Filter):
    """Leaves out what uvicorn logs when a stream is broken off on purpose (``Output.end``): the access log has it."""

    def filter(self, record: logging.LogRecord) -> bool:
        return record.msg != "ASGI callable returned without completing response."


_WITHOUT_CUTS = _WithoutCuts()


class Connection(HttpToolsProtocol):
    """A connection with limits that uvicorn does not have: on the size and the time of a request's head, and on the
    time that a client may leave its answer unread."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        app: Any = self.config.app
        self._unread_timeout: float = app.gateway.config.gateway.unread_timeout
        self._reading: asyncio.TimerHandle | None = None
        self._head: int | None = 0
        self._tail = b""  # the last bytes of a head that is not complete
        self._timer = self.loop.call_later(HEAD_TIMEOUT, self._expire)

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        self._stop_watching()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._watch(self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop_watching()

    def _watch(self, waiting: int) -> None:
        """Look after some time whether the client has read something of what is ``waiting`` for it."""
        self._reading = self.loop.call_later(self._unread_timeout, self._look, waiting)

    def _stop_watching(self) -> None:
        if self._reading is not None:
            self._reading.cancel()

    def _look(self, before: int) -> None:
        waiting = self.transport.get_write_buffer_size()
        if waiting < before:
            self._watch(waiting)
        else:
            self.transport.abort()  # to close it would wait for the client

    def data_received(self, data: bytes) -> None:
        if self._head is not None:
            tail, self._tail = self._tail, b""
            joined = tail + data
            end = joined.find(b"\r\n\r\n")
            if end < 0:
                end, self._tail = len(joined), joined[-3:]
            self._head += end - len(tail)
            if self._head > MOST_HEAD:
                self._refuse(b"HTTP/1.1 431 Request Header Fields Too Large")
                return
        super().data_received(data)

    def on_message_begin(self) -> None:
        if self._head is None:
            self._head = 0
            self._timer = self.loop.call_later(HEAD_TIMEOUT, self._expire)
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._head = None
        self._timer.cancel()
        super().on_headers_complete()

    def _expire(self) -> None:
        """The head did not arrive in time. A connection that has served a request is closed by uvicorn."""
        if self._head is not None and not self.transport.is_closing():
            self._refuse(b"HTTP/1.1 408 Request Timeout")

    def _refuse(self, line: bytes) -> None:
        self.transport.write(line + b"\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
        self.transport.close()


def make_server(gateway: Gateway, *, host: str, port: int) -> uvicorn.Server:
    """A server for one process."""
    settings = gateway.config.gateway
    logging.getLogger("uvicorn.error").addFilter(_WITHOUT_CUTS)
    return uvicorn.Server(
        uvicorn.Config(
            App(gateway),
            host=host,
            port=port,
            loop=_loop(),
            http=Connection,
            ws="none",
            interface="asgi3",
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            proxy_headers=False,
            timeout_keep_alive=ceil(settings.idle_timeout),
            timeout_graceful_shutdown=ceil(settings.shutdown_timeout),
            backlog=2048,
        )
    )


def _log_briefly() -> None:
    """Leave out of log records what the gateway does not print, because there is one for each request ("Optimization",
    docs.python.org/3/howto/logging.html, 2026-11-19)."""
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False


def _loop() -> Any:
    try:
        import uvloop  # noqa: F401
    except ImportError:
        return "asyncio"
    return "uvloop"


def run_server(gateway: Gateway, *, sockets: list[socket.socket]) -> None:
    """Serve on these sockets until a signal."""
    server = make_server(gateway, host="", port=0)
    gc.collect()
    gc.set_threshold(YOUNG)
    gc.freeze()  # the catalog and the modules stay, and need not be searched for garbage
    _log_briefly()
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(server.serve(sockets))


def _loop_factory() -> Any:
    if _loop() == "asyncio":
        return None
    import uvloop

    return uvloop.new_event_loop
