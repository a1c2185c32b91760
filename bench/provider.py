"""A provider on loopback in its own process, which gives a short answer to every request and returns the last request.

It is not a stand-in: those refuse thinking that they have not signed, and peers send such thinking.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
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


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    answer = last = b""

    def do_POST(self) -> None:
        Handler.last = self.rfile.read(int(self.headers["content-length"]))
        self.say(self.answer)

    def do_GET(self) -> None:
        self.say(self.last)

    def say(self, data: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002, the name in the base class
        """Log nothing."""


def serve(target: Target) -> None:
    speaker = StandIn(target.provider, protocol=target.protocol)
    answer = speaker.complete(Reply([TextContent("Done.")]), speaker.model(target.model))
    Handler.answer = msgspec.json.encode(speaker.voice.whole(answer))
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    serve(Target(*sys.argv[1:]))
