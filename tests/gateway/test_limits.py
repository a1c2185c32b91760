"""Keys, tenants, limits, and requests that are not what they should be."""

import gzip
import json
import logging
import socket
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
import zstandard
from support.gateways import AnthropicTalk, Served, written
from support.waiting import HANGS, until
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from segue.errors import AuthenticationError
from segue.gateway.config import Budget, KeySetting, Limits, Member, RouteSetting, digest_of
from segue.gateway.keys import Keys
from segue.gateway.server import Connection
from segue.testing import Fault, Reply
from segue.types import TextContent, ThinkingContent

ANTHROPIC, RESPONSES = "anthropic-messages", "openai-responses"
SECRETS = {name: f"sk-client-{name}-secret-0123456789" for name in ("alice", "bob", "slow", "poor", "rich")}
KEYS = (
    KeySetting(name="alice", digest=digest_of(SECRETS["alice"])),
    KeySetting(name="bob", digest=digest_of(SECRETS["bob"]), models=("anthropic-*",)),
    KeySetting(name="slow", digest=digest_of(SECRETS["slow"]), limits=Limits(requests_per_minute=1)),
    KeySetting(name="poor", digest=digest_of(SECRETS["poor"]), budget=Budget(dollars=0.0001, per="day")),
    KeySetting(name="rich", digest=digest_of(SECRETS["rich"]), budget=Budget(dollars=0.002, per="day")),
)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("gateway")
    settings = {"master_key": "the-master-key-0123", "max_body": 50_000}
    with Served(folder, [ANTHROPIC, RESPONSES], keys=KEYS, gateway=settings) as found:
        yield found


def ask(served: Served, key: str | None, model: str = ANTHROPIC, text: str = "hi", **headers: str) -> httpx2.Response:
    body = {"model": model, "max_tokens": 50, "messages": [{"role": "user", "content": text}]}
    sent = headers | ({} if key is None else {"x-api-key": SECRETS.get(key, key)})
    return httpx2.post(f"{served.url}/v1/messages", json=body, headers=sent)


def test_a_key_is_needed_and_may_be_in_any_of_the_places(served: Served) -> None:
    assert ask(served, None).status_code == 401
    assert ask(served, "wrong").json()["error"]["type"] == "authentication_error"
    key = SECRETS["alice"]
    for headers in ({"x-api-key": key}, {"authorization": f"Bearer {key}"}, {"x-goog-api-key": key}):
        assert ask(served, None, **headers).status_code == 200
    contents = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
    url = f"{served.url}/v1beta/models/{ANTHROPIC}:generateContent?key={key}"
    assert httpx2.post(url, json=contents).status_code == 200


def test_models_rates_and_budgets_are_limited(served: Served) -> None:
    assert ask(served, "bob", RESPONSES).status_code == 404
    assert ask(served, "slow").status_code == 200
    over = ask(served, "slow")
    assert over.status_code == 429 and int(over.headers["retry-after"]) > 0
    poor = ask(served, "poor")
    assert poor.status_code == 429 and int(poor.headers["retry-after"]) > 0


def test_tokens_of_answers_count_against_the_limit_per_minute(tmp_path: Path) -> None:
    """They are known when an answer has ended."""
    limited = KeySetting(name="alice", digest=digest_of(SECRETS["alice"]), limits=Limits(tokens_per_minute=15))
    with Served(tmp_path, [ANTHROPIC], keys=(limited,)) as served:
        assert ask(served, "alice").status_code == 200  # about 4 tokens, and 10 of the answer
        until(lambda: not served.server.server_state.tasks)
        over = ask(served, "alice")
        assert over.status_code == 429 and "tokens" in over.json()["error"]["message"]


def test_one_valid_key_is_enough(served: Served) -> None:
    """Some clients send the key of another service in one of the places."""
    for name in ("authorization", "x-goog-api-key"):
        key = SECRETS["alice"]
        assert ask(served, "anything", **{name: f"Bearer {key}" if name == "authorization" else key}).status_code == 200


def test_counting_costs_nothing(served: Served) -> None:
    body = {"model": ANTHROPIC, "messages": [{"role": "user", "content": "How long?"}]}
    for key in ["poor", *["rich"] * 3]:
        answer = httpx2.post(f"{served.url}/v1/messages/count_tokens", json=body, headers={"x-api-key": SECRETS[key]})
        assert answer.status_code == 200
    assert ask(served, "rich").status_code == 200  # nothing was reserved


def test_a_tenant_does_not_get_answers_of_another(served: Served) -> None:
    """Not by the same calls and texts, not by an envelope, and not by the id of a response."""
    standin = served[RESPONSES]
    standin.say(Reply([ThinkingContent("Secret thought of alice."), TextContent("Done.")]))
    alice = AnthropicTalk(served.url, SECRETS["alice"])
    assert alice.say(RESPONSES, "Hello?") == "Done."
    served.gateway.keys._file["bob"] = KeySetting(name="bob", digest=digest_of(SECRETS["bob"]))
    served.gateway.keys.apply((), set())
    bob = AnthropicTalk(served.url, SECRETS["bob"])
    bob.history = [*alice.history]
    standin.say("No.")
    assert bob.say(RESPONSES, "And?") == "No."
    assert "encrypted_content" not in written(standin.requests[-1]["input"])
    kept = httpx2.post(
        f"{served.url}/v1/responses", json={"model": RESPONSES, "input": "hi"},
        headers={"authorization": f"Bearer {SECRETS['alice']}"},
    ).json()  # fmt: skip
    theirs = {"authorization": f"Bearer {SECRETS['bob']}"}
    assert httpx2.get(f"{served.url}/v1/responses/{kept['id']}", headers=theirs).status_code == 404


def test_administration_needs_the_master_key(served: Served) -> None:
    for path in ("/segue/requests", "/segue/routes", "/segue/keys", "/segue/usage", "/metrics"):
        assert httpx2.get(served.url + path, headers={"x-api-key": SECRETS["alice"]}).status_code == 401
        assert httpx2.get(served.url + path, headers={"x-api-key": "the-master-key-0123"}).status_code == 200
    assert httpx2.get(f"{served.url}/health/live").status_code == 200
    assert httpx2.get(f"{served.url}/health/ready").status_code == 200


@pytest.mark.parametrize("leaves", [True, False], ids=["the client leaves", "the provider breaks off"])
@pytest.mark.parametrize("target", [ANTHROPIC, RESPONSES])
def test_an_answer_that_was_not_completed_is_counted(tmp_path: Path, target: str, leaves: bool) -> None:
    """Otherwise a client could use up any budget for nothing, by leaving shortly before the end."""
    half = Reply([TextContent("This is half of an answer, and here is the rest of it, which is as long.")])
    with Served(tmp_path, [target]) as served:
        served[target].say(Fault("silence" if leaves else "cut", half))
        body = {"model": target, "max_tokens": 50, "messages": [{"role": "user", "content": "Half?"}], "stream": True}
        with httpx2.stream("POST", f"{served.url}/v1/messages", json=body) as answer:
            pieces = answer.iter_text()
            assert any("half" in piece for piece in pieces)
        usage = f"{served.url}/segue/usage"
        until(lambda: httpx2.get(usage).json()["usage"])
        [row] = httpx2.get(usage).json()["usage"]
        assert row["input"] > 0 and row["output"] > 0 and row["dollars"] > 0


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
def test_compressed_bodies_are_read_and_limited_after_decoding(served: Served, coding: str) -> None:
    pack = gzip.compress if coding == "gzip" else zstandard.ZstdCompressor().compress
    body = {"model": ANTHROPIC, "max_tokens": 50, "messages": [{"role": "user", "content": "hi"}]}
    headers = {"content-encoding": coding, "x-api-key": SECRETS["alice"]}
    url = f"{served.url}/v1/messages"
    assert httpx2.post(url, content=pack(json.dumps(body).encode()), headers=headers).status_code == 200
    bomb = pack(json.dumps(body | {"metadata": {"user_id": "x" * 200_000}}).encode())
    assert len(bomb) < 50_000
    assert httpx2.post(url, content=bomb, headers=headers).status_code == 413
    assert httpx2.post(url, content=b"not packed", headers=headers).status_code == 400


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        (b"[]", 400),
        (b"", 400),
        (b'{"model": 3}', 400),
        (b"x" * 60_000, 413),
        (b'{"model":"anthropic-messages","messages":' + b"[" * 20_000 + b"]" * 20_000 + b"}", 400),
        (b'{"model":"anthropic-messages","messages":[{"role":"user","content":"\xff"}]}', 400),
        (b'{"model":"anthropic-messages","max_tokens":5,"messages":[],"input":[]}', 400),
        (b'{"model":"anthropic-messages","messages":5}', 400),
    ],
)
@pytest.mark.parametrize(
    "path",
    [
        "/v1/messages",
        "/v1/messages/count_tokens",
        "/v1/chat/completions",
        "/v1/responses",
        "/v1/responses/input_tokens",
    ],
)
def test_malformed_and_oversized_bodies_get_the_protocols_error(
    served: Served, path: str, body: bytes, status: int
) -> None:
    answer = httpx2.post(served.url + path, content=body, headers={"authorization": f"Bearer {SECRETS['alice']}"})
    assert answer.status_code == status and answer.json()["error"]["message"]


def test_an_unknown_model_is_the_error_of_the_caller(served: Served) -> None:
    """On the route that protocols share, too."""
    key = {"x-api-key": SECRETS["alice"]}
    url = f"{served.url}/v1/models/nothing"
    assert httpx2.get(url, headers=key | {"anthropic-version": "1"}).json()["type"] == "error"
    assert httpx2.get(url, headers={"x-goog-api-key": SECRETS["alice"]}).json()["error"]["status"] == "NOT_FOUND"
    assert httpx2.get(url, headers=key).json()["error"]["code"] == "model_not_found"


def test_the_end_of_a_head_may_arrive_in_two_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """What follows it is the body, which may be larger than a head."""
    refused: list[bytes] = []
    connection = Connection.__new__(Connection)
    connection._head, connection._tail = 0, b""
    monkeypatch.setattr(HttpToolsProtocol, "data_received", lambda *_: None)
    monkeypatch.setattr(connection, "_refuse", refused.append)
    for piece in (b"POST / HTTP/1.1\r\nHost: localhost\r\n\r", b"\n" + b"x" * 70_000):
        connection.data_received(piece)
    assert refused == []
    connection.data_received(b"y" * 70_000)
    assert len(refused) == 1  # as long as nothing says that the head is complete


def raw(served: Served, data: bytes) -> bytes:
    host, port = served.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=HANGS) as connection:
        connection.sendall(data)
        found = b""
        while piece := connection.recv(65536):
            found += piece
        return found


@pytest.mark.parametrize(
    "head",
    [
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 70_000 + b"\r\n\r\n",
        b"nonsense\r\n\r\n",
    ],
    ids=["two framings", "two lengths", "large head", "nonsense"],
)
def test_smuggled_and_oversized_heads_are_refused_and_closed(served: Served, head: bytes) -> None:
    assert raw(served, head).startswith((b"HTTP/1.1 400", b"HTTP/1.1 431"))


def test_a_process_with_too_many_requests_still_lives(tmp_path: Path) -> None:
    """Whoever restarts processes that seem to be dead must not do so because of load."""
    with Served(tmp_path, [ANTHROPIC], gateway={"max_requests": 1}) as served:
        body = {"model": ANTHROPIC, "max_tokens": 50, "messages": [{"role": "user", "content": "hi"}], "stream": True}
        served[ANTHROPIC].say(Fault("silence", Reply([TextContent("This is half of an answer, and here is more.")])))
        with httpx2.stream("POST", f"{served.url}/v1/messages", json=body) as answer:
            pieces = answer.iter_text()
            assert any("half" in piece for piece in pieces)
            over = httpx2.post(f"{served.url}/v1/messages", json=body)
            assert over.status_code == 529 and int(over.headers["retry-after"]) > 0
            for path in ("/health/live", "/health/ready", "/metrics"):
                assert httpx2.get(served.url + path).status_code == 200


def test_a_web_page_with_a_configured_origin_may_ask(tmp_path: Path) -> None:
    """Its browser asks first, and shows it an answer only if that names the origin (fetch.spec.whatwg.org, 2026-11)."""
    page, other = {"origin": "https://page.example"}, {"origin": "https://evil.example"}
    wanted = {"access-control-request-method": "POST", "access-control-request-headers": "content-type,x-api-key"}
    with Served(tmp_path, [ANTHROPIC], keys=KEYS[:1], gateway={"origins": ("https://page.example",)}) as served:
        asked = httpx2.options(f"{served.url}/v1/messages", headers=page | wanted)
        assert asked.status_code == 200
        assert asked.headers["access-control-allow-headers"] == "content-type,x-api-key"
        assert "POST" in asked.headers["access-control-allow-methods"]
        for key, status in (("alice", 200), ("wrong", 401)):
            answer = ask(served, key, **page)
            assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (status, page["origin"])
        refused = httpx2.options(f"{served.url}/v1/messages", headers=other | wanted)
        assert refused.status_code == 403 and "access-control-allow-origin" not in refused.headers
        assert "access-control-allow-origin" not in ask(served, "alice").headers


def test_a_websocket_is_refused_with_426(served: Served) -> None:
    headers = {"upgrade": "websocket", "connection": "upgrade", "authorization": f"Bearer {SECRETS['alice']}"}
    assert httpx2.get(f"{served.url}/v1/responses", headers=headers).status_code == 426


def test_no_key_and_no_content_is_in_logs_metrics_errors_or_reports(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    """And no key in the store, which has content only in answers and responses."""
    caplog.set_level(logging.DEBUG)
    words = "a very private sentence"
    assert ask(served, "alice", text=words).status_code == 200
    assert ask(served, "alice", "unknown-model", text=words).status_code == 404
    master = {"x-api-key": "the-master-key-0123"}
    shown = [
        httpx2.get(served.url + path, headers=master).text for path in ("/metrics", "/segue/requests", "/segue/keys")
    ]
    rows: list[Any] = []
    with sqlite3.connect(served.folder / "gateway.db") as database:
        for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            found = [str(row) for row in database.execute(f"SELECT * FROM {name}").fetchall()]
            rows += found
            if name not in ("segue_gateway_answers", "segue_gateway_responses"):
                assert words not in str(found)
    everything = "\n".join(
        [*shown, *rows, *(record.getMessage() for record in caplog.records if "segue" in record.name)]
    )
    for secret in [*SECRETS.values(), "the-master-key-0123", *(each.key or "" for each in served.standins.values())]:
        assert secret not in everything
    assert words not in "\n".join(shown)


def test_without_a_master_key_administration_is_for_this_machine_only(tmp_path: Path) -> None:
    """Not for those who come through a reverse proxy on it."""
    with Served(tmp_path, [ANTHROPIC], keys=KEYS[:1], gateway={"hosts": ("llm.example.com",)}) as served:
        for path in ("/segue/requests", "/segue/routes", "/segue/keys", "/segue/usage", "/metrics"):
            assert httpx2.get(served.url + path).status_code == 200
            for headers in ({"host": "llm.example.com"}, {"x-forwarded-for": "1.2.3.4"}):
                assert httpx2.get(served.url + path, headers=headers).status_code == 401
        key = {"x-api-key": SECRETS["alice"], "host": "llm.example.com", "x-forwarded-for": "1.2.3.4"}
        assert httpx2.get(f"{served.url}/v1/models", headers=key).status_code == 200


def test_a_gateway_whose_last_key_was_revoked_is_not_open() -> None:
    keys = Keys(())
    assert not keys.required
    keys.apply(KEYS[:1], set())
    keys.apply((), {"alice"})
    assert keys.required
    with pytest.raises(AuthenticationError):
        keys.find({}, "")


def test_routes_are_shown_without_keys(tmp_path: Path) -> None:
    """The key of a member, and what is in its address."""
    member = Member(model="openai/gpt-5.4", api_key="sk-of-a-provider", base_url="https://user:password@example.com/v1")
    with Served(tmp_path, [ANTHROPIC], routes=(RouteSetting(name="fast", models=(member,)),)) as served:
        [route] = httpx2.get(f"{served.url}/segue/routes").json()["routes"]
    assert route["name"] == "fast" and route["models"][0]["model"] == "openai/gpt-5.4"
    assert "example.com" in written(route)
    assert "sk-of-a-provider" not in written(route) and "password" not in written(route)
