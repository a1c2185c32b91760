"""The command: its start, several workers, and a stop."""

import signal
import sys
from pathlib import Path

import httpx2
import psutil
import pytest
from support.gateway_processes import MODEL, gateway
from support.gateways import Provider
from support.waiting import HANGS

START = 2.0
"""Seconds of processor time from the command to the first answer; the time on the wall depends on other processes."""


def test_it_starts_in_less_than_two_seconds(tmp_path: Path) -> None:
    with Provider("anthropic") as standin, gateway(tmp_path, standin.url, standin.key) as (process, url):
        assert httpx2.get(f"{url}/health/ready", timeout=HANGS).status_code == 200
        spent = psutil.Process(process.pid).cpu_times()
        assert spent.user + spent.system < START


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
        process.send_signal(signal.SIGTERM)
        assert process.wait(HANGS) == 0
