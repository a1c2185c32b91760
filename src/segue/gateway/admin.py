"""Health, metrics and administration. Administration needs the master key, or loopback where there is none."""

from typing import TYPE_CHECKING

import msgspec

from ..errors import AuthenticationError
from .database import within

if TYPE_CHECKING:
    from .app import App, Call

PATIENCE = 2.0
"""Seconds that the store may take to answer a question about health."""
SHOWN = 100
"""Requests that a list has."""


async def live(app: "App", call: "Call") -> None:
    """Whether the process runs."""
    await call.reply(200, {"status": "ok"})


async def ready(app: "App", call: "Call") -> None:
    """Whether requests can be served: the store answers."""
    problem = "" if app.gateway.ready else "starting or stopping"
    if not await within(PATIENCE, app.gateway.store.database.read("SELECT 1")):
        problem = "the store does not answer"
    await call.reply(503 if problem else 200, {"status": problem or "ok"})


async def metrics(app: "App", call: "Call") -> None:
    """The metrics of all workers."""
    require_admin(app, call)
    await call.reply(200, app.gateway.metrics.text(), {"content-type": "text/plain; version=0.0.4; charset=utf-8"})


async def requests(app: "App", call: "Call") -> None:
    """The last requests, without content."""
    require_admin(app, call)
    await app.gateway.accounts.flush()
    rows = await app.gateway.store.requests(SHOWN)
    await call.reply(200, b'{"requests":[' + b",".join(rows) + b"]}")


async def request(app: "App", call: "Call") -> None:
    """One request, with every change."""
    require_admin(app, call)
    await app.gateway.accounts.flush()
    name = call.path["id"]
    row = await app.gateway.store.request(name) if name.isprintable() else None
    if row is None:
        await call.reply(404, {"error": {"message": "there is no such request, or it is older than a day"}})
    else:
        recorded = app.gateway.records.get(call.path["id"])
        await call.reply(200, row if recorded is None else msgspec.json.encode(msgspec.json.decode(row) | recorded))


async def routes(app: "App", call: "Call") -> None:
    """The routes as they are now, without keys."""
    require_admin(app, call)
    shown = [
        {"name": each.name, "models": [dict(member.__rich_repr__()) for member in each.models], "policy": each.policy}
        for each in app.gateway.routes.settings.values()
    ]
    await call.reply(200, {"routes": shown})


async def keys(app: "App", call: "Call") -> None:
    """The keys, without their digests."""
    require_admin(app, call)
    shown = [
        {name: value for name, value in msgspec.to_builtins(key).items() if name != "digest"}
        for key in app.gateway.keys.all
    ]
    await call.reply(200, {"keys": shown})


async def usage(app: "App", call: "Call") -> None:
    """What was used, per key, day and model."""
    require_admin(app, call)
    await app.gateway.accounts.flush()
    await call.reply(200, {"usage": await app.gateway.store.usage()})


def require_admin(app: "App", call: "Call") -> None:
    """Raise unless the caller may administrate."""
    known, gateway = app.gateway.keys, app.gateway
    is_local = call.is_local and gateway.is_local and gateway.guard.is_local(call.headers)
    if known.is_master(call.headers, call.query) or (not known.has_master and is_local):
        return
    raise AuthenticationError("this needs the master key" if known.has_master else "this works from loopback only")
