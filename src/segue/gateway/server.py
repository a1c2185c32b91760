"""Runs the application: one process or several, until it is told to stop; streams that are running may finish."""

import asyncio
from typing import Any

import uvicorn

from .app import App
from .gateway import Gateway


def make_server(gateway: Gateway, *, host: str, port: int) -> uvicorn.Server:
    """A server for one process."""
    settings = gateway.config.gateway
    return uvicorn.Server(
        uvicorn.Config(
            App(gateway),
            host=host,
            port=port,
            loop=_loop(),
            http="httptools",
            ws="none",
            interface="asgi3",
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            proxy_headers=False,
            h11_max_incomplete_event_size=64 * 1024,
            timeout_keep_alive=int(settings.idle_timeout),
            timeout_graceful_shutdown=int(settings.shutdown_timeout),
            backlog=2048,
        )
    )


def _loop() -> Any:
    try:
        import uvloop  # noqa: F401
    except ImportError:
        return "asyncio"
    return "uvloop"


def run(gateway: Gateway, *, host: str, port: int) -> None:
    """Serve until a signal."""
    server = make_server(gateway, host=host, port=port)
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(server.serve())


def _loop_factory() -> Any:
    if _loop() == "asyncio":
        return None
    import uvloop

    return uvloop.new_event_loop
