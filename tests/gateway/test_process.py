"""The command: a start without a key, several workers, and a stop."""

import os
import signal
import socket
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import psutil
import pytest
from support.gateway_processes import COMMAND, MODEL, gateway, started
from support.gateways import Provider
from support.waiting import HANGS, until

from segue.catalog import Catalog
from segue.cli.local_servers import SMALL
from segue.cli.model_choice import is_installed
from segue.testing import Fault, Reply
from segue.types import Context, TextContent


@pytest.mark.skipif(not is_installed(), reason="the small model is not installed")
def test_without_a_key_the_model_of_this_machine_is_served(tmp_path: Path) -> None:
    names = {name for provider in Catalog.default().providers.values() for name in provider.keys}
    environment = {name: value for name, value in os.environ.items() if name not in names}
    environment |= {"XDG_CONFIG_HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)}
    with started([*COMMAND, "--port", "0"], environment) as (_, url):
        listed = httpx2.get(f"{url}/v1/models", timeout=HANGS).json()["data"]
        assert SMALL in [each["id"] for each in listed]
        body = {"model": SMALL, "max_tokens": 4, "messages": [{"role": "user", "content": "hi"}]}
        answer = httpx2.post(f"{url}/v1/messages", json=body, timeout=HANGS)
        assert answer.status_code == 200 and answer.headers["x-segue-model"] == SMALL


@pytest.mark.skipif(sys.platform != "linux", reason="workers are forked")
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_gateway_that_stops_finishes_its_streams_and_refuses_new_connections(tmp_path: Path, workers: str) -> None:
    """Clients of a connection that is accepted and not served would wait until the last stream has ended."""
    begun, go = threading.Event(), threading.Event()

    def slow(context: Context) -> str:
        begun.set()
        assert go.wait(HANGS)
        return "At last."

    with (
        Provider("anthropic") as standin,
        gateway(tmp_path, standin.url, standin.key, "--workers", workers) as (process, url),
        ThreadPoolExecutor(1) as pool,
    ):
        standin.say(slow)
        turns = [{"role": "user", "content": "Slow?"}]
        body = {"model": MODEL, "max_tokens": 9, "messages": turns, "stream": True}
        answer = pool.submit(httpx2.post, f"{url}/v1/messages", json=body, timeout=HANGS)
        assert begun.wait(HANGS)
        process.send_signal(signal.SIGTERM)
        host, port = url.removeprefix("http://").split(":")
        until(lambda: not accepts(host, int(port)))
        go.set()
        assert "At last." in answer.result().text and "message_stop" in answer.result().text
        process.wait(HANGS)


def accepts(host: str, port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex((host, port)) == 0


def running(url: str) -> float:
    """The requests that all workers are answering."""
    text = httpx2.get(f"{url}/metrics", timeout=HANGS).text
    return next(float(line.split()[-1]) for line in text.splitlines() if line.startswith("segue_gateway_running "))


@pytest.mark.skipif(sys.platform != "linux", reason="workers are forked")
def test_workers_share_the_store_and_the_metrics_and_stop_together(tmp_path: Path) -> None:
    with (
        Provider("anthropic") as standin,
        gateway(tmp_path, standin.url, standin.key, "--workers", "2") as (process, url),
    ):
        body = {"model": MODEL, "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
        for _ in range(8):  # new connections go to either worker
            assert httpx2.post(f"{url}/v1/messages", json=body, timeout=HANGS).status_code == 200
        text = httpx2.get(f"{url}/metrics", timeout=HANGS).text
        counted = [line for line in text.splitlines() if line.startswith("segue_gateway_requests_total{")]
        assert sum(float(line.split()[-1]) for line in counted) == 8
        standin.say(Fault("silence", Reply([TextContent("This is the first half, and this is the rest.")])))
        with httpx2.stream("POST", f"{url}/v1/messages", json=body | {"stream": True}, timeout=HANGS) as answer:
            pieces = answer.iter_text()
            assert any("half" in piece for piece in pieces)
            assert running(url) == 1
            workers = psutil.Process(process.pid).children()
            for worker in workers:
                worker.kill()
            with pytest.raises(httpx2.HTTPError):
                list(pieces)
        until(lambda: len(set(psutil.Process(process.pid).children()) - set(workers)) == 2)
        assert running(url) == 0  # what a dead worker was doing does not run any more
        process.send_signal(signal.SIGTERM)
        assert process.wait(HANGS) == 0
