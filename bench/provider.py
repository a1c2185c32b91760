"""A provider on loopback, in its own process or thread, which answers every request and returns the last request.

It is not a stand-in: those refuse thinking that they have not signed, and peers send such thinking.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.request import urlopen

import msgspec

from segue import TextContent
from segue.testing import Reply, StandIn

from .peers.encoders import Target


@contextmanager
def answering(target: Target) -> Iterator[str]:
    """The base URL of a provider that speaks the protocol of ``target``."""
    command = [sys.executable, "-m", __name__, *target]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()


def arrived(url: str) -> bytes:
    """The body of the last request."""
    with urlopen(url) as answer:
        data: bytes = answer.read()
    return data


class Recorder(ThreadingHTTPServer):
    """The server: it gives the same ``answer`` to every request, and keeps the path and the body of the last one."""

    daemon_threads = True
    answer = last = b""
    path = ""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    @contextmanager
    def running(self) -> Iterator["Recorder"]:
        """Serve in a thread of this process."""
        Thread(target=self.serve_forever, daemon=True).start()
        try:
            yield self
        finally:
            self.shutdown()
            self.server_close()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Recorder

    def do_POST(self) -> None:
        self.server.path = self.path
        self.server.last = self.rfile.read(int(self.headers["content-length"]))
        self.say(self.server.answer)

    def do_GET(self) -> None:
        self.say(self.server.last)

    def say(self, data: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002, the name in the base class
        """Log nothing."""


def short_answer(target: Target) -> bytes:
    """An answer of one word in the protocol of ``target``."""
    speaker = StandIn(target.provider, protocol=target.protocol)
    answer = speaker.complete(Reply([TextContent("Done.")]), speaker.model(target.model))
    return msgspec.json.encode(speaker.voice.whole(answer))


def serve(target: Target) -> None:
    with Recorder() as server:
        server.answer = short_answer(target)
        print(server.url, flush=True)
        server.serve_forever()


if __name__ == "__main__":
    serve(Target(*sys.argv[1:]))
