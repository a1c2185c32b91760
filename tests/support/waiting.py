"""Waiting for events in tests. The result of a test must not depend on how busy the machine is: a test waits for the
event itself, and limits only end tests that hang."""

import asyncio
import os
import socket
import threading
import time
from collections.abc import Callable
from itertools import count
from random import Random
from typing import Any

import httpx
import httpx2
import psutil
import pytest

from segue.testing.handler import Handler

HANGS = 600
"""Seconds after which a test counts as hanging. Nothing takes that long, even on a busy machine."""
SHORT = 0.3
"""A timeout in seconds for tests in which it must expire, with a server that stays silent forever."""
LOOK = 0.01
_WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
_PORTS = count(Random().randrange(2_000))


def wait_longer() -> None:
    """Give every HTTP client of a test as much time as that, unless it says otherwise; the default is 5 seconds."""
    for library in (httpx, httpx2):
        default = library._config.DEFAULT_TIMEOUT_CONFIG
        default.connect = default.read = default.write = default.pool = HANGS


def until(happened: Callable[[], object]) -> None:
    """Wait until ``happened`` returns true."""
    last = time.monotonic() + HANGS
    while not happened():
        assert time.monotonic() < last, "it has not happened"
        time.sleep(LOOK)


async def until_async(happened: Callable[[], object]) -> None:
    """The same, without blocking the event loop."""
    async with asyncio.timeout(HANGS):
        while not happened():
            await asyncio.sleep(LOOK)


def has_ended(number: int) -> bool:
    """Whether a process has ended, including zombies, but not those with other threads that still run."""
    try:
        process = psutil.Process(number)
        return bool(process.status() == psutil.STATUS_ZOMBIE and process.num_threads() == 1)
    except psutil.NoSuchProcess:
        return True


def tool_threads() -> list[threading.Thread]:
    """The threads that run tools, and those that write their output."""
    return [each for each in threading.enumerate() if each.name.startswith("segue tool")]


def join_tools() -> None:
    """Wait until no thread of a tool runs any more."""
    for each in tool_threads():
        each.join(HANGS)
        assert not each.is_alive()


def until_settled(address: str) -> None:
    """Wait until a server has finished the transactions of clients that were killed."""
    if not address.startswith("postgresql"):
        return
    import psycopg

    others = "pid <> pg_backend_pid() AND backend_type = 'client backend' AND xact_start IS NOT NULL"
    with psycopg.connect(address, autocommit=True) as look:
        until(lambda: look.execute(f"SELECT 1 FROM pg_stat_activity WHERE {others}").fetchone() is None)


def free_port() -> int:
    """A free port. It is outside the range from which the system assigns ports, and each worker has its own ports, so
    it stays free until the test uses it."""
    for number in _PORTS:
        port = 10_000 + _WORKER % 10 * 2_000 + number % 2_000
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise AssertionError


def held_after(text: bytes, monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Make stand-ins pause after an event that contains ``text``, until the returned event is set."""
    resumed = threading.Event()
    send = Handler._send_chunk

    def chunk(self: Handler, data: bytes) -> None:
        send(self, data)
        if text in data:
            resumed.wait(HANGS)

    monkeypatch.setattr(Handler, "_send_chunk", chunk)
    return resumed


@pytest.fixture
def patient_until_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client with the timeout ``SHORT`` starts to read when the stand-in has become silent: by then everything has
    been sent, and nothing follows."""
    silent = threading.Event()
    wait_silently, recv, recv_into = Handler._wait_for_disconnect, socket.socket.recv, socket.socket.recv_into

    def watched(self: Handler) -> None:
        silent.set()
        wait_silently(self)

    def patient(read: Callable[..., Any]) -> Callable[..., Any]:
        def reads(self: socket.socket, *arguments: Any) -> Any:
            assert self.gettimeout() != SHORT or silent.wait(HANGS)
            return read(self, *arguments)

        return reads

    monkeypatch.setattr(Handler, "_wait_for_disconnect", watched)
    monkeypatch.setattr(socket.socket, "recv", patient(recv))
    monkeypatch.setattr(socket.socket, "recv_into", patient(recv_into))
