"""``Gateway``: everything that a process has, from its start to its end."""

import asyncio
import logging
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..errors import SegueError
from ..session import default_path
from ..telemetry import gateway_span
from .access_log import log_request
from .accounts import Accounts
from .config import Config
from .database import open_database
from .guard import Guard, is_loopback
from .incoming import Incoming
from .keys import Keys
from .metrics import Metrics
from .pipeline import Pipeline
from .records import Records
from .report import RequestReport
from .routes import Routes
from .store import Store
from .upstream import Upstream

logger = logging.getLogger("segue.gateway")
REFRESH = 0.5
"""Seconds between two looks at the keys and routes of the store."""
EXPIRE = 600.0


class Gateway:
    """One process of a gateway."""

    def __init__(self, config: Config, *, to: str | None = None) -> None:
        self.config = config
        settings = config.gateway
        host = settings.listen.rpartition(":")[0]
        self.routes = Routes(config, to=to)
        self.keys = Keys(config.keys, settings.master_key, config.master_is_client)
        self.guard = Guard(host, settings.hosts, settings.origins, public=not is_loopback(host))
        self.guard.has_keys = self.keys.required
        self.is_local = is_loopback(host)
        self.metrics = Metrics()
        self.records = Records()
        self.ready = False
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Open the store and the connections."""
        settings = self.config.gateway
        self.store = Store(open_database(settings.store or str(default_store())))
        secret = settings.secret.encode() if settings.secret else await self.store.secret()
        self.upstream = Upstream()
        self.pipeline = Pipeline(self.config, self.routes, self.store, self.keys, secret, self.upstream)
        self.accounts = Accounts(self.store)
        await self.refresh()
        self._tasks = [
            asyncio.create_task(self._repeat(REFRESH, self.refresh)),
            asyncio.create_task(self._repeat(REFRESH, self.accounts.flush)),
            asyncio.create_task(self._repeat(EXPIRE, self.store.expire)),
        ]
        self.ready = True

    async def stop(self) -> None:
        """Close everything."""
        self.ready = False
        for task in self._tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        await self.accounts.flush()
        await self.upstream.aclose()
        self.store.close()

    async def refresh(self) -> None:
        """Apply keys and routes that were changed at run time."""
        self.keys.apply(*await self.store.keys())
        self.guard.has_keys = self.keys.required
        self.routes.change(await self.store.routes())

    async def _repeat(self, seconds: float, act: Any) -> None:
        while True:
            await asyncio.sleep(seconds)
            try:
                await act()
            except SegueError as error:
                logger.warning("the store: %s", error)
            except Exception:
                logger.exception("the store")  # the next try must follow in any case

    async def answer(self, incoming: Incoming, send: Any, gone: Any) -> None:
        """Answer a request for an answer."""
        report = RequestReport(incoming.id, incoming.client.name, incoming.model, incoming.key.name)
        self.metrics.running.inc()
        try:
            with gateway_span(report, incoming.headers):
                answer = await self.pipeline.answer(incoming, report, send, gone)
            if self.config.gateway.record:
                self.records.add(incoming.id, incoming.body.data, answer)
        finally:
            self.metrics.running.dec()
            self.metrics.count(report, time.time() - report.began)
            row = report.row()
            log_request(row, len(report.changes))
            if report.usage is not None:
                self.keys.answered(incoming.key, report.usage.output)
            await self.accounts.add(report, row, incoming.key)


def default_store() -> Path:
    """The file beside the sessions."""
    return default_path().with_name("gateway.db")
