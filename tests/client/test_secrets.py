"""Keys and secret headers never appear in errors, events, reprs, logs, stores or exports."""

import base64
import html
import importlib
import json
import logging
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import msgspec
import pytest
from hypothesis import example, given, settings, strategies as st
from msgspec.structs import replace
from support.providers import CONTEXT, MODELS
from support.raw import Asked, Server, raw, response
from support.secrets import Lines
from support.sessions import LOOP

import segue
from segue import Agent, Connection, Fixed, Patience, Retries
from segue.cli import main
from segue.client import reach
from segue.client.transport import LOGGERS
from segue.session import open_store
from segue.types.secret import HIDDEN, Secrets, is_secret_header, shown_address

MODEL = MODELS["openai-completions"]
ONCE = Retries(count=0)
HEADER = "x-my-secret"

FORMS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "JSON": lambda secret: json.dumps(secret)[1:-1],
    "JSON in JSON": lambda secret: json.dumps(json.dumps(secret))[1:-1],
    "JSON of PHP": lambda secret: json.dumps(secret).replace("/", "\\/"),
    "escaped through and through": lambda secret: "".join(f"\\u{ord(character):04x}" for character in secret),
    "repr": repr,
    "repr of bytes": lambda secret: repr(secret.encode()),
    "in a URL": quote,
    "in a URL, all of it": lambda secret: quote(secret, safe=""),
    "in a form": quote_plus,
    "in a URL in a URL": lambda secret: quote(quote(secret, safe=""), safe=""),
    "HTML": html.escape,
    "base64": lambda secret: base64.b64encode(secret.encode()).decode(),
    "base64 with a scheme": lambda secret: base64.b64encode(f"Bearer {secret}".encode()).decode(),
    "base64 with a user": lambda secret: base64.urlsafe_b64encode(f"me:{secret}:x".encode()).decode(),
}


def repeated(secret: str) -> str:
    return " | ".join(form(secret) for form in FORMS.values())


def echo(asked: Asked) -> tuple[bytes, bool]:
    """A provider that repeats what it was sent in every part of its errors."""
    keys = [value for name, value in asked.headers.items() if is_secret_header(name)]
    secrets = [*keys, *(key.removeprefix("Bearer ") for key in keys)]
    message = "Incorrect key: " + " ".join(map(repeated, secrets))
    body = json.dumps({"error": {"message": message, "type": secrets[0] if secrets else "x", "code": "y"}}).encode()
    headers = [("content-type", "application/json"), *(("x-request-id", secret) for secret in secrets[:1])]
    return response(body, "401 Unauthorized", headers), True


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with raw(echo) as running:
        yield running


@pytest.fixture(scope="module", autouse=True)
def records() -> Iterator[Lines]:
    """All log records, at every level."""
    handler, root = Lines(), logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(1)
    yield handler
    root.removeHandler(handler)
    root.setLevel(level)


PLACES: dict[str, Callable[[str], tuple[dict[str, Any], dict[str, str]]]] = {
    "key": lambda secret: ({"api_key": secret}, {}),
    "header of the connection": lambda secret: ({"headers": {HEADER: secret}}, {}),
    "authorization": lambda secret: ({"headers": {"authorization": f"Bearer {secret}"}}, {}),
    "header of the model": lambda secret: ({}, {HEADER: secret}),
    "name of a header": lambda secret: ({"headers": {secret: "value"}}, {}),
}


def reached(url: str, place: str, secret: str) -> tuple[segue.Model, Connection]:
    settings, headers = PLACES[place](secret)
    connection = Connection(**{"base_url": url, "api_key": None, "retries": ONCE, **settings})
    return replace(MODEL, headers=headers), connection


def is_sendable(place: str, secret: str) -> bool:
    if place == "key":
        return re.fullmatch(r"[ -~]*", secret.strip()) is not None
    if place == "name of a header":
        return re.fullmatch(r"[-!#$%&'*+.^_`|~0-9A-Za-z]+", secret) is not None
    return re.fullmatch(r"[ -~]*", secret) is not None


def forms_in(text: str, secret: str) -> list[str]:
    return [name for name, form in FORMS.items() if form(secret).strip("\"'") in text]


AROUND = st.text("\n\r\t \0\x7f\x1b", max_size=2)
PRINTABLE = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), min_size=6, max_size=40)
SECRETS = st.builds(
    lambda before, core, after: f"{before}s3{core}{after}", AROUND, PRINTABLE | st.text(min_size=6), AROUND
)


@given(SECRETS, st.sampled_from(list(PLACES)))
@example("s3cret-of-a-file\n", "key")
@example("s3cret\nof-a-file", "key")
@example("\ns3cret-of-a-file\r", "authorization")
@example("s3cret\0of-a-file", "header of the model")
@example("s3crét-of-a-file", "key")
@example("s3cret of a file", "name of a header")
@example("s3\"\\'/<>&% +cret", "key")
@settings(max_examples=100)
def test_a_secret_is_sent_or_refused_but_never_shown(server: Server, records: Lines, secret: str, place: str) -> None:
    """A secret that cannot be sent raises `SettingError` before anything is sent; the others never appear anywhere."""
    model, connection = reached(server.url, place, secret)
    records.lines.clear()
    asked, bare = len(server.asked), secret.strip()
    shown = [repr(connection), repr(model), str(list(connection.__rich_repr__())), str(list(model.__rich_repr__()))]
    if place == "name of a header":
        shown = []  # a valid name is not a secret; for an invalid one, the error is tested
    if not is_sendable(place, secret):
        with pytest.raises(segue.SettingError) as refused:
            segue.stream(CONTEXT, model, connection=connection)
        error = refused.value
        assert len(server.asked) == asked and error.__context__ is None and error.__cause__ is None
        shown += [str(error), repr(error), *map(str, error.args)]
    else:
        answer, events = LOOP.run(talked(model, connection))
        assert len(server.asked) == asked + 1 and isinstance(answer.error, segue.AuthenticationError)
        assert answer.message is not None
        shown += [repr(event) + repr(getattr(event, "partial", None)) for event in events]
        shown += [repr(event.partial.message()) for event in events]
        shown += [msgspec.json.encode(answer.message).decode(), repr(answer.message), repr(answer)]
        shown += [str(answer.error), repr(answer.error), str(vars(answer.error)), repr(answer.request)]
        shown += records.lines
    if place == "name of a header" and is_sendable(place, secret):
        return
    if len(bare) >= 8:
        leaks = [(forms_in(text, bare), text[:300]) for text in shown if forms_in(text, bare)]
        assert not leaks


async def talked(model: segue.Model, connection: Connection) -> tuple[segue.Stream, list[Any]]:
    answer = segue.stream(CONTEXT, model, connection=connection)
    return answer, [event async for event in answer]


@given(
    PRINTABLE.map(lambda text: f"s3{text}".strip()).filter(lambda text: len(text) >= 8),
    st.sampled_from(["key", HEADER]),
)
@settings(max_examples=15)
def test_secrets_are_not_stored_or_exported(
    server: Server, tmp_path_factory: pytest.TempPathFactory, secret: str, place: str
) -> None:
    folder = tmp_path_factory.mktemp("secrets")
    path, exported = folder / "sessions.db", folder / "exported.jsonl"
    model, connection = reached(server.url, "key" if place == "key" else "header of the connection", secret)

    async def talk() -> tuple[str, str]:
        router = Fixed(model, patience=Patience(retries=Retries(count=0)))
        async with Agent(router, store=store, connection=connection) as agent, agent.stream("Hello?") as events:
            seen = [event async for event in events]
            return agent.session.id, repr(seen) + repr(events.outcome)

    with open_store(path) as store:
        session, end = LOOP.run(talk())
        entries = repr([stored.entry for stored in store.read(session)])
    assert main(["sessions", "--store", str(path), "export", session, "-o", str(exported)]) == 0
    kept = b"".join(each.read_bytes() for each in folder.iterdir()).decode("utf-8", "replace")
    assert "Incorrect key" in kept and HIDDEN in kept
    for text in (end, entries, kept):
        assert not forms_in(text, secret)


@pytest.mark.parametrize("place", ["key", "header of the connection", "header of the model"])
def test_secrets_are_removed_from_error_events(place: str) -> None:
    """The status is 200, and the error is the first event, comes after some output, or is invalid."""
    secret = 'sk-"quoted"-in-0123456789'

    def answer(asked: Asked) -> tuple[bytes, bool]:
        error = json.dumps({"error": {"message": f"no {repeated(secret)}", "code": 500}})
        delta = json.dumps({"id": secret, "model": secret, "choices": [{"index": 0, "delta": {"content": "Well"}}]})
        broken = "{" + f'"x": {json.dumps(secret)} ' * 20
        body = {0: f"data: {error}\n\n", 1: f"data: {delta}\n\ndata: {error}\n\n", 2: f"data: {broken}\n\n"}
        text = body[len(server.asked) % 3]
        return response(text.encode(), headers=[("content-type", "text/event-stream")]), True

    with raw(answer) as server:
        model, connection = reached(server.url, place, secret)
        for _ in range(3):
            stream, events = LOOP.run(talked(model, connection))
            shown = [repr(stream.message), repr(stream.error), *(repr(event.partial.message()) for event in events)]
            assert stream.error is not None
            assert not [text for text in shown if forms_in(text, secret)]


@given(st.text("ab\\\"'/%&+ 01", min_size=8, max_size=30), st.text(max_size=300), st.integers(0, 300))
def test_secrets_are_hidden_before_a_text_is_cut(secret: str, before: str, longest: int) -> None:
    """Wherever a long text is cut, no part of a secret of 8 characters or more remains."""
    secret = f"s3{secret}".strip()
    secrets = Secrets([secret])
    shown = secrets.shown(before + secret * 50, longest)
    assert len(shown) <= longest
    assert secret[:8] not in shown.removeprefix(before) or secret[:8] in before + HIDDEN


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("secret", ["sk-0123456789", 's3  two"quotes\\back/slash%41&amp;', "12345678", "\\" * 9])
def test_a_secret_is_hidden_in_a_text_that_is_not_json(form: str, secret: str) -> None:
    """For example the error page of a proxy, whose white space is normalised before it is shown."""
    page = f"<html>\n  <p>no   key:  {FORMS[form](secret)}  \n</html>".encode()
    with raw(lambda asked: (response(page, "502 Bad", [("content-type", "text/html")]), False)) as server:
        stream, _ = LOOP.run(talked(MODEL, Connection(base_url=server.url, api_key=secret, retries=ONCE)))
    assert stream.error is not None and "no key:" in stream.error.text and HIDDEN in stream.error.text
    even = " ".join(secret.split())
    assert not forms_in(stream.error.text, secret) and even not in stream.error.text


@pytest.mark.parametrize("key", ["k", "x", "test", "key", "broken"])
def test_a_short_key_is_not_hidden_in_words(key: str) -> None:
    connection = Connection(base_url="http://127.0.0.1:9", api_key=key, retries=ONCE)
    message = segue.complete_sync(CONTEXT, MODEL, connection=connection, check=False)
    assert message.error_message is not None and "the connection broke" in message.error_message
    assert HIDDEN not in message.error_message


def test_a_key_from_a_file_works_with_its_line_break(server: Server) -> None:
    LOOP.run(talked(MODEL, Connection(base_url=server.url, api_key="a-key-with-a-line-break\n", retries=ONCE)))
    assert server.asked[-1].headers["authorization"] == "Bearer a-key-with-a-line-break"


SECRET_HEADERS = """Authorization proxy-authorization Cookie X-Api-Key x-goog-iam-authorization-token MySecret
    Helicone-Auth x-auth x-auth-user Cf-Access-Jwt-Assertion x-passwd x-pwd X-Hub-Signature"""


@pytest.mark.parametrize("name", SECRET_HEADERS.split())
def test_secret_headers_are_recognised_by_name(name: str) -> None:
    assert is_secret_header(name) and not is_secret_header("anthropic-version")
    assert "sesame" not in repr(replace(MODEL, headers={name: "sesame"})) + repr(Connection(headers={name: "sesame"}))


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "Basic", "Token", "Digest"])
def test_a_header_whose_value_has_an_authentication_scheme_is_secret_whatever_its_name(scheme: str) -> None:
    headers = {"x-forwarded": f"{scheme} open-sesame"}
    secrets = Secrets()
    secrets.add_headers(headers)
    assert "sesame" not in repr(Connection(headers=headers)) + secrets.hide("refused: open-sesame")


@pytest.mark.parametrize("name", ["x-author", "authority", "x-compass", "content-type", "anthropic-beta"])
def test_other_headers_are_shown(name: str) -> None:
    assert "a value" in repr(Connection(headers={name: "a value"}))


ADDRESSES = [
    "https://me:pass-word-1@host.example/v1",
    "https://pass-word-1@host.example/v1",
    "https://me:pass-word-1@host.example:99999/v1",
    "https://me:pass-word-1/x@host.example/v1",
    "https://me:x?pass-word-1@host.example/v1",
    "https://me:pass-word-1?x@host.example/v1",
    "https://me:pass-word-1#x@host.example/v1",
    "https://me:pass-word-1@x@host.example/v1",
    "me:pass-word-1@host.example",
    "ftp://me:pass-word-1@host.example",
    "https://me:pass-word-1@[::1",
    "https://host.example/v1?key=pass-word-1",
    "https://me:pass-word-1@/v1",
    "https://me:pass-word-1@bedrock.{AWS_REGION_OF_NOBODY}.example",
]


@pytest.mark.parametrize("address", ADDRESSES)
def test_credentials_in_an_address_are_never_shown(address: str) -> None:
    connection = Connection(base_url=address, api_key="k", retries=ONCE, timeouts=segue.Timeouts(connect=0.01))
    model = replace(MODEL, base_url=address)
    shown = [repr(connection), repr(model), shown_address(address)]
    for each_model, each_connection in ((MODEL, connection), (model, Connection(api_key="k"))):
        try:
            reached = reach(each_model, each_connection)
        except segue.SettingError as error:
            shown += [str(error), repr(error), repr(error.__context__), repr(error.__cause__)]
        else:
            shown += [repr(reached), repr(reached.model), reached.without_key(f"cannot reach {address}")]
    assert not [text for text in shown if "pass-word-1" in text]


def test_user_and_password_of_an_address_are_sent_as_a_header_and_never_logged(server: Server, records: Lines) -> None:
    address = server.url.replace("://", "://me%40home:pass-word%2F1@")
    stream, _ = LOOP.run(talked(MODEL, Connection(base_url=address, retries=ONCE)))
    sent = server.asked[-1].headers["authorization"]
    assert sent == "Basic " + base64.b64encode(b"me@home:pass-word/1").decode()
    shown = [repr(stream.message), repr(stream.error), str(stream.error), *records.lines]
    assert not [text for text in shown if "pass-word" in text or sent[6:] in text]


def test_every_logger_of_the_transport_is_filtered() -> None:
    """New loggers of httpx2 and of the libraries below it must be listed."""
    found = set()
    for package in ("httpx2", "httpcore2", "hpack", "h2", "h11"):
        folder = Path(str(importlib.import_module(package).__file__)).parent
        for path in folder.rglob("*.py"):
            module = ".".join([package, *path.relative_to(folder).with_suffix("").parts])
            for name in re.findall(r"getLogger\(([^)]+)\)", path.read_text()):
                found.add(module if name == "__name__" else name.strip("\"'"))
    assert found and found <= set(LOGGERS)


def test_a_request_printed_by_the_command_line_shows_no_secret_header(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from segue.cli.encode import _as_json

    request = segue.encode(CONTEXT, replace(MODEL, headers={"X-Api-Key": "pass-word-1", "x-trace": "on"}))
    shown = _as_json(request).decode()
    assert "pass-word-1" not in shown and "x-trace" in shown


@pytest.mark.parametrize("value", ["Bearer sesame\nopen", "sesame-\xe9-open", "sesame\0open"])
def test_headers_and_addresses_of_a_tool_server_follow_the_same_rules(value: str, records: Lines) -> None:
    from segue.tools import McpServer

    with pytest.raises(segue.SettingError) as refused:
        McpServer.http("http://127.0.0.1:9/mcp", {"authorization": value})
    assert "sesame" not in str(refused.value) + repr(refused.value) + repr(refused.value.__context__)
    with pytest.raises(segue.ToolServerError) as failed:
        LOOP.run(connected(McpServer.http("http://me:pass-word-1@127.0.0.1:9/mcp?x=1")))
    assert not [text for text in [str(failed.value), *records.lines] if "pass-word-1" in text]


async def connected(server: Any) -> None:
    async with server:
        pass
