"""A real server on loopback that gives the same answer to every request."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

from .waiting import HANGS


@contextmanager
def serve(body: bytes, content_type: str, status: int = 200, wait: Event | None = None) -> Iterator[str]:
    """The base URL of a server that answers every request with ``body``, after the event ``wait``."""

    class Handler(BaseHTTPRequestHandler):
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            if wait is not None:
                wait.wait(HANGS)
            with suppress(ConnectionError):  # the client may have disconnected
                self.send_response(status)
                self.send_header("content-type", content_type)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        do_GET = do_POST

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002, the name in the base class
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        if wait is not None:
            wait.set()
        server.shutdown()
        thread.join()
        server.server_close()
