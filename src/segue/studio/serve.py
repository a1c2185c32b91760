"""Run the studio on this machine."""

import secrets
import socket

import uvicorn

from ..errors import SettingError
from .app import Studio, application
from .guard import Guard
from .shelf import Shelf

HOST = "127.0.0.1"


class Server:
    """A studio on an open port, so that its URL works immediately; ``run`` serves until Ctrl-C."""

    def __init__(self, shelf: Shelf, *, port: int = 0, gateway: str = "") -> None:
        self._studio = Studio(shelf, gateway)
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._socket.bind((HOST, port))
            self._socket.listen(64)
        except OSError as error:
            self._socket.close()
            raise SettingError(f"port {port} cannot be used: {error.strerror}; use --port 0 for any free one") from None
        self.port: int = self._socket.getsockname()[1]
        self.token = secrets.token_urlsafe(24)
        app = Guard(application(self._studio), self.token, self.port)
        config = uvicorn.Config(
            app, log_level="warning", access_log=False, ws="none", timeout_graceful_shutdown=1, lifespan="off"
        )
        self._server = uvicorn.Server(config)

    def url(self, path: str = "/") -> str:
        """The address of a page, with the token."""
        return f"http://{HOST}:{self.port}{path}{'&' if '?' in path else '?'}token={self.token}"

    def run(self) -> None:
        """Serve until the process is told to stop, or ``stop`` is called."""
        try:
            self._server.run(sockets=[self._socket])
        finally:
            self._studio.close()

    def stop(self) -> None:
        """Make ``run`` return, from another thread."""
        self._server.should_exit = True
