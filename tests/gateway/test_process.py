"""The command: a process that is killed and started again, several workers, a stop that lets streams finish."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest
from support.gateways import CALL, ChatTalk, Provider, written
from support.waiting import HANGS

ANTHROPIC = "anthropic-messages"


@contextmanager
def gateway(folder: Path, standin: Provider, *flags: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`segue gateway` in a process, and its address."""
    config = folder / "segue.toml"
    config.write_text(
        f'[gateway]\nlisten = "127.0.0.1:0"\nstore = "{folder / "gateway.db"}"\n'
        f'[providers.anthropic]\nbase_url = "{standin.url}"\napi_key = "{standin.key}"\n'
    )
    command = [sys.executable, "-m", "segue", "gateway", "--config", str(config), *flags]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=os.environ)
    try:
        assert process.stdout is not None
        first = process.stdout.readline()
        assert "listens at http://" in first
        lines = [process.stdout.readline() for _ in range(6)]
        assert [line.split()[0] for line in lines[:3]] == ["Claude", "Codex", "Gemini"]
        yield process, first.split()[-1]
    finally:
        process.kill()
        process.wait(HANGS)
        if process.stdout is not None:
            process.stdout.close()


def test_after_sigkill_recall_has_every_answer_whose_end_was_sent(tmp_path: Path) -> None:
    with Provider("anthropic") as standin:
        standin.say(CALL, "Warm.")
        with gateway(tmp_path, standin) as (process, url):
            talk = ChatTalk(url)
            assert talk.say("claude-sonnet-4-5", "Weather?", stream=True) == "Warm."
            process.send_signal(signal.SIGKILL)
            process.wait(HANGS)
        standin.say("Still.")
        with gateway(tmp_path, standin) as (process, url):
            talk.connect(url, "k")
            assert talk.say("claude-sonnet-4-5", "And now?") == "Still."
        assert standin.signatures and standin.refused == []
        assert all(signature in written(standin.requests[-1]) for signature in standin.signatures)


@pytest.mark.skipif(sys.platform != "linux", reason="workers are forked")
def test_workers_share_the_store_and_the_metrics_and_stop_together(tmp_path: Path) -> None:
    with Provider("anthropic") as standin, gateway(tmp_path, standin, "--workers", "2") as (process, url):
        body = {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
        for _ in range(8):  # new connections go to either worker
            assert httpx2.post(f"{url}/v1/messages", json=body, timeout=HANGS).status_code == 200
        text = httpx2.get(f"{url}/metrics", timeout=HANGS).text
        counted = [line for line in text.splitlines() if line.startswith("segue_gateway_requests_total{")]
        assert sum(float(line.split()[-1]) for line in counted) == 8
        process.send_signal(signal.SIGTERM)
        assert process.wait(HANGS) == 0
