"""Connections are shared by everything that runs in one event loop, and closed when the loop ends."""

from collections.abc import AsyncGenerator

import httpx2
from anyio.lowlevel import RunVar

_POOL: RunVar[AsyncGenerator[httpx2.AsyncClient, None]] = RunVar("segue_pool")
_CLIENT: RunVar[httpx2.AsyncClient] = RunVar("segue_client")

# As many streams as a caller wants; idle connections are kept for those that follow.
LIMITS = httpx2.Limits(max_connections=None, max_keepalive_connections=100)


async def _kept_open() -> AsyncGenerator[httpx2.AsyncClient, None]:
    """An event loop closes the generators that are still open when it shuts down: that is when the pool goes."""
    async with httpx2.AsyncClient(limits=LIMITS, timeout=None, follow_redirects=False) as client:
        yield client


async def pooled() -> httpx2.AsyncClient:
    """The client of the running loop."""
    try:
        return _CLIENT.get()
    except LookupError:
        pool = _kept_open()
        client = await anext(pool)
        _POOL.set(pool)
        _CLIENT.set(client)
        return client
