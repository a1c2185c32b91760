"""HTTP connections, shared by everything that a client does in one event loop."""

import os
import ssl
from collections.abc import AsyncGenerator
from functools import cache
from http.cookiejar import CookieJar, DefaultCookiePolicy
from weakref import WeakKeyDictionary

import httpx2
from anyio.lowlevel import RunVar

from ..environment import make_http

# As many streams as the caller wants; idle connections are kept for the streams that follow.
LIMITS = httpx2.Limits(max_connections=None, max_keepalive_connections=100)


class Pool:
    """One HTTP client for each event loop. It is opened when it is first used, and closed by ``aclose`` or when the
    loop ends."""

    async def http(self) -> httpx2.AsyncClient:
        """The HTTP client of the running event loop."""
        kept = _kept()
        found = kept.get(self)
        if found is None:
            opened = _open()
            found = kept[self] = opened, await anext(opened)
        return found[1]

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        found = _kept().pop(self, None)
        if found is not None:
            await found[0].aclose()


_Kept = WeakKeyDictionary[Pool, tuple[AsyncGenerator[httpx2.AsyncClient, None], httpx2.AsyncClient]]
_KEPT: RunVar[_Kept] = RunVar("segue_pools")


def _kept() -> _Kept:
    try:
        return _KEPT.get()
    except LookupError:
        kept: _Kept = WeakKeyDictionary()
        _KEPT.set(kept)
        return kept


async def _open() -> AsyncGenerator[httpx2.AsyncClient, None]:
    """An event loop closes the generators that are still open when it shuts down, which closes the client."""
    no_cookies = CookieJar(DefaultCookiePolicy(allowed_domains=[]))  # one that cannot be sent would break all requests
    async with make_http(lambda: _client(no_cookies)) as http:
        yield http


def _client(cookies: CookieJar) -> httpx2.AsyncClient:
    trusted = _trusted(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))
    return httpx2.AsyncClient(limits=LIMITS, timeout=None, follow_redirects=False, cookies=cookies, verify=trusted)


@cache
def _trusted(file: str | None, folder: str | None) -> ssl.SSLContext:
    """The certificates that are trusted, which httpx2 finds with these two variables. Reading them takes tens of
    milliseconds, so all event loops share them."""
    return httpx2.create_ssl_context()
