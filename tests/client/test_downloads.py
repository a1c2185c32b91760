"""``inline`` against a real TLS server on loopback."""

import asyncio
import ssl
from base64 import b64encode
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import httpx2
import pytest

import segue
from segue import Context, Downloads, FileContent, ImageContent, ToolResultMessage, UserMessage
from segue.client.downloads import _is_public

CERTIFICATES = Path(__file__).parent.parent / "support" / "certificates"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
PAGES: dict[str, tuple[int, dict[str, str], bytes]] = {
    "/cat.png": (200, {"content-type": "image/png"}, PNG),
    "/unlabelled": (200, {}, PNG),
    "/report.pdf": (200, {"content-type": "application/pdf; x=1"}, b"%PDF-1.7"),
    "/moved": (302, {"location": "/cat.png"}, b""),
    "/plain": (302, {"location": "http://example.com/cat.png"}, b""),
    "/loop": (307, {"location": "/loop"}, b""),
    "/page": (200, {"content-type": "text/html"}, b"<html>not found"),
    "/gone": (404, {}, b"gone"),
    "/packed": (200, {"content-encoding": "gzip", "content-type": "image/png"}, PNG),
    "/large": (200, {"content-type": "image/png"}, PNG + bytes(5000)),
}


class Handler(BaseHTTPRequestHandler):
    asked: list[str] = []

    def do_GET(self) -> None:
        Handler.asked.append(f"{self.headers['host']}{self.path}")
        status, headers, body = PAGES[self.path]
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002, the name in the base class
        pass


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    certified = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certified.load_cert_chain(CERTIFICATES / "localhost.pem", CERTIFICATES / "localhost.key")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.socket = certified.wrap_socket(server.socket, server_side=True)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield f"https://localhost:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


def inlined(*blocks: Any, **limits: Any) -> Context:
    async def load() -> Context:
        trusted = ssl.create_default_context(cafile=CERTIFICATES / "localhost.pem")
        async with httpx2.AsyncClient(verify=trusted, timeout=None, trust_env=False) as http:
            downloads = Downloads(**{"private": True, "http": http, **limits})
            return await segue.inline(Context(messages=[UserMessage(blocks)]), downloads)

    return asyncio.run(load())


def test_images_and_files_get_their_data(server: str) -> None:
    before = [ImageContent(url=f"{server}/cat.png"), FileContent.from_url(f"{server}/report.pdf")]
    found = inlined(*before)
    assert found.messages[0].content == [
        ImageContent(PNG, "image/png"),
        FileContent(b"%PDF-1.7", "application/pdf", name="report.pdf"),
    ]
    assert before[0].url is not None


def test_the_host_is_named_and_its_certificate_verified(server: str) -> None:
    Handler.asked.clear()
    inlined(ImageContent(url=f"{server}/unlabelled"))
    assert Handler.asked == [f"{server.removeprefix('https://')}/unlabelled"]
    with pytest.raises(segue.DownloadError, match="CERTIFICATE_VERIFY_FAILED"):
        inlined(ImageContent(url=f"{server.replace('localhost', '127.0.0.1')}/cat.png"))


def test_an_address_is_downloaded_once(server: str) -> None:
    Handler.asked.clear()
    image = ImageContent(url=f"{server}/moved")
    assert inlined(image, image).messages[0].content == [ImageContent(PNG, "image/png")] * 2
    assert [path.partition("/")[2] for path in Handler.asked] == ["moved", "cat.png"]


@pytest.mark.parametrize(
    ("path", "limits", "why"),
    [
        ("/gone", {}, "HTTP 404"),
        ("/page", {}, "it is text/html, not an image"),
        ("/packed", {}, "compressed"),
        ("/loop", {}, "more than 5 redirects"),
        ("/plain", {}, "only https addresses are downloaded"),
        ("/large", {"max_bytes": 4000}, "more than 4,000 bytes"),
        ("/large", {"max_total": 4000}, "more than 4,000 bytes"),
        ("/cat.png", {"private": False}, "localhost is not a public address"),
    ],
)
def test_what_cannot_be_downloaded_is_named_with_its_place(
    server: str, path: str, limits: dict[str, Any], why: str
) -> None:
    with pytest.raises(segue.DownloadError) as error:
        inlined(ImageContent("aGk=", "image/png"), ImageContent(url=server + path), **limits)
    assert str(error.value).startswith(f"messages[0].content[1]: {server}{path}: ")
    assert why in str(error.value)


def test_errors_do_not_show_credentials_of_an_address() -> None:
    url = "https://someone:correct-horse@127.0.0.1/cat.png"
    with pytest.raises(segue.DownloadError) as error:
        segue.inline_sync(Context(messages=[UserMessage([ImageContent(url=url)])]))
    assert "correct-horse" not in str(error.value)
    assert "127.0.0.1/cat.png: 127.0.0.1 is not a public address" in str(error.value)


@pytest.mark.parametrize("url", ["http://example.com/a.png", "file:///etc/passwd", "https://", "https://[", "x"])
def test_only_https_is_fetched(url: str) -> None:
    with pytest.raises(segue.DownloadError, match=r"only https|not an address|cannot be resolved"):
        segue.inline_sync(Context(messages=[UserMessage([FileContent(url=url, mime_type="text/plain")])]))


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.0.0.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "::1",
        "fe80::1%eth0",
        "fc00::1",
        "::ffff:10.0.0.1",
        "64:ff9b::a00:1",
        "2002:a00:1::",
        "64:ff9b:1::a00:1",  # NAT64 of a local network (RFC 8215)
        "::127.0.0.1",  # once IPv4 inside IPv6 (RFC 4291)
        "::ffff:0:127.0.0.1",  # translated IPv4 (RFC 2765)
        "fec0::1",  # site-local (RFC 3879)
        "5f00::1",  # inside of networks (RFC 9602)
        "3fff::1",  # documentation (RFC 9637)
    ],
)
def test_private_addresses_are_recognised_in_every_notation(address: str) -> None:
    assert not _is_public(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"])
def test_public_addresses_are_recognised(address: str) -> None:
    assert _is_public(address)


def test_a_conversation_without_addresses_is_returned_as_it_is() -> None:
    result = ToolResultMessage("1", "a", [ImageContent(b64encode(PNG).decode(), "image/png")])
    context = Context(messages=[UserMessage("x"), result])
    assert segue.inline_sync(context) == context


def test_limits_must_be_positive() -> None:
    with pytest.raises(segue.SettingError, match=r"Downloads\.max_bytes is 0; it must be more than 0"):
        Downloads(max_bytes=0)
