"""Servers of models on this machine: those that this process starts itself, and those that are already running."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, Protocol

from ..catalog import Catalog, Provider
from ..client import Connection
from ..errors import SegueError
from ..testing import local
from ..types import Model
from . import demo
from .keys import is_local

TIMEOUT = 0.4
"""Seconds that a server on this machine has to list its models."""

SMALL = f"local/{local.MODEL}"


class Server(Protocol):
    """A server in this process."""

    @property
    def url(self) -> str: ...

    def stop(self) -> None: ...


def served() -> dict[str, Callable[[], Server]]:
    """The models that this process can serve itself, by name, and how their servers are started."""
    demos: dict[str, Callable[[], Server]] = {each.ref: partial(demo.start_demo, each) for each in demo.demo_models()}
    return {SMALL: lambda: local.LocalModel().start(), **demos}


class LocalServers:
    """Starts the servers of this process when they are needed, and knows how to connect to any model."""

    def __init__(self) -> None:
        self._starts: dict[str, asyncio.Task[Server | None]] = {}

    def connection(self, model: Model) -> Connection:
        """The connection to ``model``."""
        server = self._started(model.ref)
        return Connection() if server is None else Connection(base_url=server.url)

    async def start(self, model: Model) -> None:
        """Start the server of ``model``, if this process serves it and no other server does."""
        ref = model.ref
        if ref not in served() or self._started(ref) is not None:
            return
        if ref not in self._starts or self._starts[ref].done():
            self._starts[ref] = asyncio.create_task(_start(model))
        await asyncio.shield(self._starts[ref])  # the server is needed later, even if this call is cancelled

    async def aclose(self) -> None:
        """Stop all servers that were started."""
        if self._starts:
            await asyncio.wait(self._starts.values())
        for server in map(self._started, self._starts):
            if server is not None:
                server.stop()
        self._starts.clear()

    def _started(self, ref: str) -> Server | None:
        start = self._starts.get(ref)
        if start is None or not start.done() or start.cancelled() or start.exception() is not None:
            return None
        return start.result()


async def _start(model: Model) -> Server | None:
    if model.ref == SMALL and model in await models_at(Catalog.default().provider(model.provider)):
        return None
    return await asyncio.to_thread(served()[model.ref])


async def running_models() -> list[Model]:
    """One model of each server that answers on its usual port."""
    listings = [models_at(provider) for provider in local_providers()]
    return [models[0] for models in await asyncio.gather(*listings) if models]


def local_providers() -> list[Provider]:
    """The providers that run on the user's own machine, without a key."""
    return [each for each in Catalog.default().providers.values() if is_local(each)]


async def models_at(provider: Provider) -> list[Model]:
    """The models that a server lists. Empty if it does not answer in time, or is something else."""
    import httpx2

    try:
        async with httpx2.AsyncClient(timeout=TIMEOUT, trust_env=False, verify=False) as client:
            answer = await asyncio.wait_for(client.get(f"{provider.base_url}/models"), TIMEOUT)
            names = _names(answer.json()) if answer.status_code == 200 else []
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, TimeoutError, ValueError, RecursionError):
        return []
    models = []
    for name in names:
        with suppress(SegueError):
            models.append(Catalog.default().resolve(f"{provider.id}/{name}"))
    return models


def _names(document: Any) -> list[str]:
    """The ids in a list of models, without embedding models."""
    rows = document.get("data") if isinstance(document, dict) else None
    ids = [row.get("id") for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    return [name for name in ids if isinstance(name, str) and name and "embed" not in name.lower()]
