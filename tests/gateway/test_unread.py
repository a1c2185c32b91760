"""A client that does not read its answer: the client is at fault, not the member that is answering."""

import json
import socket
import sqlite3
from pathlib import Path
from typing import Any

import httpx2
import pytest
from support.gateway_processes import ManyStreams
from support.gateways import Served
from support.waiting import HANGS, SHORT, until

from segue.client import Timeouts
from segue.gateway.config import Member, ProviderSetting

NAME = "anthropic-messages"
LARGE = "x" * 100_000
LATER = 3600.0


class Endless(Served):
    """A gateway whose provider streams more than all buffers on the way to a client can hold."""

    def __init__(self, folder: Path, provider: ManyStreams, timeouts: Timeouts, **gateway: Any) -> None:
        super().__init__(folder, [NAME], gateway=gateway)
        self.provider, self.timeouts = provider, timeouts

    def _targets(self, member: Member, protocol: str) -> Any:
        self.gateway.routes._timeouts = self.timeouts
        setting = ProviderSetting(base_url=self.provider.url, api_key="k")
        return [self.gateway.routes._target(self.models[NAME], setting, "k", 1.0)]

    def cuts(self) -> list[Any]:
        with sqlite3.connect(self.folder / "gateway.db") as database:
            return database.execute("SELECT * FROM segue_gateway_cuts").fetchall()


def asking(served: Served, path: str) -> socket.socket:
    """A client that has asked for a stream, and reads nothing of it."""
    body = json.dumps(
        {"model": NAME, "max_tokens": 100, "stream": True, "messages": [{"role": "user", "content": "Hello?"}]}
    )
    host, port = served.url.removeprefix("http://").split(":")
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.settimeout(HANGS)
    client.connect((host, int(port)))
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
    client.sendall(head.encode() + body.encode())
    return client


@pytest.mark.parametrize("path", ["/v1/messages", "/v1/chat/completions"])
@pytest.mark.parametrize(
    ("between_events", "unread_timeout"),
    [(LATER, SHORT), (SHORT, LATER)],
    ids=["the gateway gives up", "the limit of the member ends first"],
)
def test_the_member_of_a_client_that_does_not_read_is_well(
    tmp_path: Path, path: str, between_events: float, unread_timeout: float
) -> None:
    timeouts = Timeouts(between_events=between_events)
    with (
        ManyStreams(1, 100_000, 0.0, LARGE) as provider,
        Endless(tmp_path, provider, timeouts, unread_timeout=unread_timeout) as served,
        asking(served, path) as client,
    ):
        assert client.recv(4) == b"HTTP"
        until(lambda: not served.server.server_state.tasks)
        [report] = httpx2.get(f"{served.url}/segue/requests").json()["requests"]
        assert report["status"] == 499 and report["error"].startswith("the client has ")
        assert report["failures"] == [] and served.cuts() == []
        [router] = [route.router for route in served.gateway.routes._made.values()]
        assert router.resting(0.0) == {}
