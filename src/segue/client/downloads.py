"""``inline``: download the images and files of a conversation that have only an address, when the caller asks for it.

An address may come from anywhere, also from a model. Only https is fetched, only from public addresses, and within
limits of size and time. The host is resolved once, and the connection goes to the address that was checked: a name
cannot be public when it is checked and private when it is used.
"""

import asyncio
import socket
from base64 import b64encode
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote

import anyio
import httpx2
from msgspec import Struct
from msgspec.structs import replace

from ..environment import make_http
from ..errors import DownloadError, NetworkError, SettingError
from ..render import ConversationLike, as_context
from ..types import Context, FileContent, ImageContent, Message
from ..types.media import UNKNOWN_TYPE, kind_of, media_type, type_of_name
from ..types.secret import shown_address
from .sync import run_sync
from .transport import mapped_errors

if TYPE_CHECKING:
    from collections.abc import Sequence

REDIRECTS = 5
_TRANSLATED = IPv6Network("64:ff9b::/96")  # IPv4 inside IPv6 (RFC 6052)
# All that IANA has given out for the internet, and what is documentation in it (RFC 9637). Other ranges are local, or
# IPv4 in a form that only some networks translate; Python's `is_global` lists only some of them.
_GLOBAL = IPv6Network("2000::/3")
_DOCUMENTATION = IPv6Network("3fff::/20")
_HEADERS = {"accept": "*/*", "accept-encoding": "identity"}  # nothing that grows when it is unpacked


class Downloads(Struct, frozen=True, kw_only=True):
    """The limits of ``inline``."""

    # Bytes of one image or file, and of all of them.
    max_bytes: int = 20_000_000
    max_total: int = 50_000_000
    # Seconds for one image or file, with its redirects.
    timeout: float = 60.0
    # Also fetch from this machine and from private networks.
    private: bool = False
    # Your own HTTP client, for certificates; it is not closed.
    http: httpx2.AsyncClient | None = None

    def __post_init__(self) -> None:
        for name in ("max_bytes", "max_total", "timeout"):
            if not getattr(self, name) > 0:
                raise SettingError(f"Downloads.{name} is {getattr(self, name)!r}; it must be more than 0")


class _Loaded(Struct, frozen=True):
    data: bytes
    mime_type: str
    """As the server labels it; empty if it does not."""


async def inline(context: ConversationLike, downloads: Downloads | None = None) -> Context:
    """Return ``context`` with the data of all images and files that have only an address. The given one is unchanged.

    Raises ``DownloadError`` for the first one that cannot be downloaded.
    """
    downloads = downloads or Downloads()
    if downloads.http is not None:
        return await _Inliner(downloads, downloads.http).context(as_context(context))
    async with make_http(lambda: httpx2.AsyncClient(timeout=None, follow_redirects=False, trust_env=False)) as http:
        return await _Inliner(downloads, http).context(as_context(context))


def inline_sync(context: ConversationLike, downloads: Downloads | None = None) -> Context:
    """``inline`` for synchronous callers."""
    return run_sync(inline(context, downloads))


class _Inliner:
    def __init__(self, downloads: Downloads, http: httpx2.AsyncClient) -> None:
        self._limits = downloads
        self._http = http
        self._loaded: dict[str, _Loaded] = {}
        self._left = downloads.max_total

    async def context(self, context: Context) -> Context:
        messages = [await self._message(index, message) for index, message in enumerate(context.messages)]
        return replace(context, messages=messages)

    async def _message(self, index: int, message: Message) -> Message:
        content = list(message.content)
        for at, block in enumerate(content):
            if isinstance(block, ImageContent | FileContent) and block.url is not None:
                try:
                    loaded = await self._load(block.url)
                    content[at] = _with_data(block, block.url, loaded)
                except DownloadError as error:
                    raise DownloadError(f"messages[{index}].content[{at}]: {_shown(block.url)}: {error}") from None
        return message if content == message.content else replace(message, content=content)

    async def _load(self, url: str) -> _Loaded:
        if url not in self._loaded:
            try:
                with anyio.fail_after(self._limits.timeout), mapped_errors():
                    self._loaded[url] = await self._follow(url)
            except TimeoutError:
                raise DownloadError(f"not complete after {self._limits.timeout:g} s") from None
            except NetworkError as error:
                raise DownloadError(error.text) from None
            self._left -= len(self._loaded[url].data)
        return self._loaded[url]

    async def _follow(self, url: str) -> _Loaded:
        """Fetch ``url``; every redirect is checked like the first address."""
        for _ in range(REDIRECTS + 1):
            try:
                address = httpx2.URL(url)
            except httpx2.InvalidURL as error:
                raise DownloadError(f"not an address: {error}") from None
            if address.scheme != "https" or not address.host:
                raise DownloadError("only https addresses are downloaded")
            request = await self._request(address)
            response = await self._http.send(request, stream=True, follow_redirects=False)
            try:
                if not response.has_redirect_location:
                    return await self._read(response)
                url = str(address.join(response.headers["location"]))
            finally:
                await response.aclose()
        raise DownloadError(f"more than {REDIRECTS} redirects")

    async def _request(self, address: httpx2.URL) -> httpx2.Request:
        """A request to the checked address of the host; the certificate must be that of the host."""
        port = address.port or 443
        found = await _resolved(address.host, port)
        if not self._limits.private and not all(map(_is_public, found)):
            raise DownloadError(f"{address.host} is not a public address")
        host = address.host if address.port is None else f"{address.host}:{port}"
        # The client sends the given name in the handshake and verifies the certificate for it.
        return self._http.build_request(
            "GET",
            address.copy_with(host=found[0]),
            headers={**_HEADERS, "host": host},
            extensions={"sni_hostname": address.host},
        )

    async def _read(self, response: httpx2.Response) -> _Loaded:
        if response.status_code != 200:
            raise DownloadError(f"the server answers with HTTP {response.status_code}")
        if response.headers.get("content-encoding", "identity") != "identity":
            raise DownloadError("the server sends it compressed, although that was not asked for")
        limit = min(self._limits.max_bytes, self._left)
        data = bytearray()
        async for piece in response.aiter_raw():
            data += piece
            if len(data) > limit:
                raise DownloadError(f"more than {limit:,} bytes")
        return _Loaded(bytes(data), media_type(response.headers.get("content-type", "")))


def _with_data(block: ImageContent | FileContent, url: str, loaded: _Loaded) -> ImageContent | FileContent:
    data, label = b64encode(loaded.data).decode(), loaded.mime_type
    if isinstance(block, ImageContent):
        mime_type = kind_of(loaded.data) or label or block.mime_type
        if not mime_type.startswith("image/"):
            raise DownloadError(f"it is {mime_type or 'of an unknown type'}, not an image")
        return ImageContent(data, mime_type)
    name = block.name or PurePosixPath(unquote(httpx2.URL(url).path)).name or None
    mime_type = block.mime_type
    if mime_type == UNKNOWN_TYPE:
        mime_type = kind_of(loaded.data) or label or (type_of_name(name) if name else None) or mime_type
    return FileContent(data, mime_type, name=name)


def _shown(url: str) -> str:
    """The address without what may be a credential: the user before the host, and the query."""
    authority = url.partition("://")[2].partition("/")[0]
    return shown_address(url) if "@" in authority else url.partition("?")[0]


async def _resolved(host: str, port: int) -> "Sequence[str]":
    """The addresses of ``host``, as numbers."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise DownloadError(f"{host} cannot be resolved: {error}") from None
    return [str(address[0]) for *_, address in found]


def _is_public(address: str) -> bool:
    parsed = ip_address(address.partition("%")[0])
    if isinstance(parsed, IPv6Address):
        within = parsed.ipv4_mapped or parsed.sixtofour
        if parsed in _TRANSLATED:
            within = IPv4Address(int(parsed) & 0xFFFFFFFF)
        if within is not None:
            return within.is_global and not within.is_multicast
        if parsed not in _GLOBAL or parsed in _DOCUMENTATION:
            return False
    return parsed.is_global and not parsed.is_multicast
