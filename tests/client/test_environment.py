"""Whatever the environment says, and whatever answers at an address in it, is an error of segue wherever a connection
is made: by the client, a transport, a download, a tool server, a command, the studio and the gateway.

An error about proxies and certificates names the variables and does not quote a password.
"""

import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest
from msgspec.structs import replace
from support.providers import CONTEXT, MODELS
from support.raw import raw, response
from support.sessions import LOOP

import segue
from segue import Agent, Client, Connection, Retries
from segue.catalog import get_provider
from segue.cli import refresh
from segue.cli.local_servers import models_at
from segue.client import reach
from segue.client.post import HttpxPoster
from segue.gateway.counting import counted
from segue.studio.gateway import GatewayClient
from segue.tools import McpServer

MODEL = MODELS["openai-completions"]
CONNECTION = Connection(base_url="http://127.0.0.1:9", api_key="k", retries=Retries(count=0))
UNUSABLE = [
    ("ALL_PROXY", "socks5://me:pass-word-1@127.0.0.1:1"),  # needs a package that is not installed
    ("HTTP_PROXY", "foo://me:pass-word-1@h"),
    ("HTTPS_PROXY", "http://me:pass-word-1@[::1"),
    ("http_proxy", "http://me:pass-word-1@h:x"),
    ("all_proxy", "http://me:pass-word-1/x@h"),
    ("HTTPS_PROXY", "http://\x01"),
    ("SSL_CERT_FILE", "/nonexistent"),
    ("SSL_CERT_FILE", __file__),
    ("SSL_CERT_FILE", os.path.dirname(__file__)),
    ("SSLKEYLOGFILE", "/nonexistent/log"),
]


async def streamed() -> None:
    async with Client(CONNECTION) as client:
        await client.complete(CONTEXT, MODEL)


async def asked() -> None:
    async with Agent(MODEL, connection=CONNECTION) as agent:
        await agent.run("Hello?")


async def repaired() -> None:
    segue.transport.client().close()


async def repaired_async() -> None:
    await segue.transport.async_client().aclose()


async def repaired_legacy() -> None:
    segue.transport.client(httpx=True).close()


async def downloaded() -> None:
    await segue.inline([segue.UserMessage([segue.ImageContent(url="https://127.0.0.1:9/x.png")])])


async def connected() -> None:
    async with McpServer.http("http://127.0.0.1:9/mcp"):
        pass


async def refreshed() -> None:
    refresh.refresh()


async def watched() -> None:
    client = GatewayClient("http://127.0.0.1:9")
    try:
        client.requests()
    finally:
        client.close()


USERS: list[Callable[[], Awaitable[Any]]] = [
    streamed, asked, repaired, repaired_async, repaired_legacy, downloaded, connected, refreshed, watched,
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), UNUSABLE, ids=[f"{name}={value}" for name, value in UNUSABLE])
@pytest.mark.parametrize("use", USERS, ids=lambda use: use.__name__)
def test_what_cannot_be_used_is_an_error_of_segue(
    use: Callable[[], Any], name: str, value: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(name, value)
    monkeypatch.setenv("SEGUE_CATALOG_URL", "http://127.0.0.1:9/api.json")
    monkeypatch.setenv("SEGUE_REFRESHED", str(tmp_path / "refreshed.json"))
    failed: BaseException | None = None
    try:
        LOOP.run(use())
    except segue.SegueError as error:
        failed = error
    assert "pass-word-1" not in str(failed) + repr(failed) + repr(failed and (failed.__cause__, failed.__context__))
    assert "no HTTP client" not in str(failed) or name.upper() in str(failed)


@pytest.mark.parametrize(("name", "value"), UNUSABLE[:-1], ids=[f"{name}={value}" for name, value in UNUSABLE[:-1]])
def test_a_request_is_not_sent_with_other_settings_instead(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(segue.SettingError, match=name.upper()) as raised:
        LOOP.run(streamed())
    assert raised.value.__context__ is None and "pass-word-1" not in str(raised.value)


ADDRESSES = [
    "https://[::1",
    "http://127.0.0.1:x/y",
    "ftp://me:pass-word-1@h",
    "https://me:pass-word-1@h:99999/x",
    "http://",
    "x",
]


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_address_of_the_newer_rows_that_cannot_be_used_is_a_setting_error(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEGUE_CATALOG_URL", address)
    with pytest.raises(segue.SettingError) as raised:
        refresh.refresh()
    assert "pass-word-1" not in str(raised.value)


JUNK = [
    b"",
    b"[" * 100_000,
    b'{"data":' * 100_000,
    b"\xff",
    b"null",
    b'{"data": [{"id": {}}, 7, {"id": "\\ud800"}]}',
    b"NaN",
]


@pytest.mark.parametrize("data", JUNK, ids=range(len(JUNK)))
@pytest.mark.parametrize("coding", ["identity", "gzip"])
def test_whatever_listens_on_the_port_of_a_local_server_has_no_models(data: bytes, coding: str) -> None:
    with raw(lambda asked: (response(data, headers=[("content-encoding", coding)]), False)) as server:
        provider = replace(get_provider("ollama"), base_url=server.url)
        assert LOOP.run(models_at(provider)) == []


COUNTS = [*JUNK, b"[7]", b'{"input_tokens": true}', b'{"input_tokens": -1}', b'{"input_tokens": 1e3}', b" " * 2_000_000]


@pytest.mark.parametrize("data", COUNTS, ids=range(len(COUNTS)))
@pytest.mark.parametrize("status", ["200 OK", "302 Found", "500 Bad"])
def test_whatever_a_provider_answers_when_it_is_asked_to_count_is_no_count(data: bytes, status: str) -> None:
    async def ask(url: str) -> int | None:
        found = reach(MODELS["anthropic-messages"], Connection(base_url=url, api_key="k"))
        async with httpx2.AsyncClient() as http:
            return await counted(segue.encode(CONTEXT, found.model), found, HttpxPoster(http))

    with raw(lambda asked: (response(data, status), False)) as server:
        assert LOOP.run(ask(server.url)) is None
