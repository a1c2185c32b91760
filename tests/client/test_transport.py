"""Whatever a server sends, and however a connection breaks, the stream ends with an event and an error of segue."""

import asyncio
import gzip
import inspect
import json
import ssl
import zlib
from collections.abc import Iterator
from typing import Any

import anyio
import h11
import httpcore2
import httpx2
import pytest
from hypothesis import example, given, settings, strategies as st
from msgspec.structs import replace
from support.providers import CONTEXT, MODELS, OPTIONS
from support.raw import Asked, Server, raw, response
from support.sessions import LOOP

import segue
from segue import Agent, Connection, Failover, Options, Patience, Retries, Timeouts
from segue.client.failures import retry_after
from segue.client.transport import BROKE, MEANINGS, mapped_errors, meaning_of
from segue.router.rules import rule_of
from segue.testing import StandIn

FIRST, SECOND = "openai-completions", "anthropic-messages"
ONCE = Retries(count=0)
SOON = Timeouts(connect=60, first_event=120, between_events=120)


# -- the table -------------------------------------------------------------------------------------------------------


def classes_of(module: Any) -> set[type[Exception]]:
    return {
        kind
        for _, kind in inspect.getmembers(module, inspect.isclass)
        if issubclass(kind, Exception) and not issubclass(kind, Warning)
    }


def test_every_error_of_the_transport_has_a_row() -> None:
    """A class that a new version of httpx2 adds must be listed."""
    assert classes_of(httpx2) <= MEANINGS.keys()


@pytest.mark.parametrize("module", [httpcore2, h11, anyio], ids=["httpcore2", "h11", "anyio"])
def test_every_error_below_the_transport_has_a_meaning(module: Any) -> None:
    # Errors of anyio's tasks, workers and buffers do not occur on a connection.
    unmet = {"BrokenWorkerInterpreter", "BrokenWorkerProcess", "WouldBlock", "DelimiterNotFound", "IncompleteRead",
             "TypedAttributeLookupError", "NoEventLoopError", "RunFinishedError", "ConnectionFailed"}  # fmt: skip
    without = {kind.__name__ for kind in classes_of(module) if not issubclass(kind, tuple(MEANINGS))}
    assert {name for name in without if not name.startswith(("Task", "Future"))} <= unmet


@pytest.mark.parametrize("kind", list(MEANINGS), ids=lambda kind: f"{kind.__module__}.{kind.__name__}")
def test_every_error_in_the_table_is_mapped(kind: type[Exception]) -> None:
    error = kind.__new__(kind)
    error.args = ("its text",)
    with pytest.raises(segue.NetworkError) as raised, mapped_errors():
        raise error
    assert raised.value.__cause__ is None and raised.value.retryable == meaning_of(error).retryable


def test_a_broken_tls_record_is_a_broken_connection() -> None:
    with pytest.raises(segue.NetworkError, match=BROKE), mapped_errors():
        raise ssl.SSLError(1, "[SSL: DECRYPTION_FAILED_OR_BAD_RECORD_MAC]")


# -- examples --------------------------------------------------------------------------------------------------------

SSE = [("content-type", "text/event-stream")]
DELTA = b'data: {"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":"Hello there."}}]}\n\n'
GOOD = DELTA + b'data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
WHOLE = json.dumps(
    {"id": "c", "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi."}, "finish_reason": "stop"}]}
).encode()


def connection(url: str, **settings: Any) -> Connection:
    return Connection(**{"base_url": url, "api_key": "k", "retries": ONCE, "timeouts": SOON, **settings})


async def streamed(url: str, **settings: Any) -> tuple[segue.Stream, list[Any]]:
    answer = segue.stream(CONTEXT, MODELS[FIRST], OPTIONS, connection=connection(url, **settings))
    return answer, [event async for event in answer]


def ask(data: bytes, **settings: Any) -> segue.Stream:
    with raw(lambda asked: (data, False)) as server:
        return LOOP.run(streamed(server.url, **settings))[0]


PACKED = gzip.compress(GOOD)


@pytest.mark.parametrize("coding", ["gzip", "deflate", "gzip, deflate", "gzip, gzip, gzip, gzip, gzip, gzip, gzip"])
def test_data_that_cannot_be_decompressed_is_a_network_error(coding: str) -> None:
    stream = ask(response(b"\xff this is not compressed", headers=[*SSE, ("content-encoding", coding)]))
    assert isinstance(stream.error, segue.NetworkError) and "cannot be read" in stream.error.text


def test_garbage_in_the_middle_of_a_stream_keeps_what_had_arrived() -> None:
    packer = zlib.compressobj(wbits=31)
    chunks = [packer.compress(DELTA) + packer.flush(zlib.Z_SYNC_FLUSH), b"\xff\xff\xff not compressed", b""]
    data = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks)
    stream = ask(response(data, headers=[*SSE, ("content-encoding", "gzip"), ("transfer-encoding", "chunked")]))
    assert isinstance(stream.error, segue.NetworkError)
    assert stream.message is not None and stream.message.text == "Hello there."


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        ("400 Bad", segue.NetworkError),  # whether the request is at fault is unknown
        ("401 No", segue.AuthenticationError),
        ("404 No", segue.ModelNotFoundError),
        ("429 Slow", segue.RateLimitError),
        ("500 Bad", segue.ServerError),
    ],
)
def test_an_unreadable_error_is_classified_by_its_status(status: str, kind: type[segue.ProviderError]) -> None:
    stream = ask(response(b"\xff\xff", status, [("content-encoding", "gzip")]))
    assert type(stream.error) is kind and stream.error.status == int(status[:3])


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 Other", "304 Same", "307 There", "308 There"])
@pytest.mark.parametrize(
    "location", ["http://127.0.0.1:1/x", "/elsewhere", "http://[::1", "\x80", "http://u:pass-w0rd@h"]
)
def test_a_redirect_is_not_followed_and_counts_as_a_failure_of_the_member(status: str, location: str) -> None:
    stream = ask(response(b"", status, [("location", location)]))
    assert isinstance(stream.error, segue.NetworkError) and "pass-w0rd" not in stream.error.text
    assert not stream.error.retryable or location == "http://[::1", "another try would lead there again"


@pytest.mark.parametrize(
    "status", ["100 Go on", "101 Switch", "199 Odd", "204 Empty", "205 Reset", "226 Used", "999 ?"]
)
def test_odd_statuses_are_failures_of_the_member(status: str) -> None:
    stream = ask(response(b"", status))
    assert isinstance(stream.error, segue.NetworkError | segue.ServerError)


BROKEN_URLS = ["http://", "http://[::1", "http://h:99999", "http://h:x", "http://a b", "http://" + "a" * 64 + ".x",
               "http://a..b", "http://h\x00", "https:///v1", "http://h/v1?a=b", "http://h/v1#x", "nonsense", "http://:80",
               "http://%41"]  # fmt: skip


@pytest.mark.parametrize("url", BROKEN_URLS)
def test_a_broken_base_url_is_a_setting_error(url: str) -> None:
    with pytest.raises(segue.SettingError):
        segue.stream(CONTEXT, MODELS[FIRST], connection=Connection(base_url=url, api_key="k"))
    with pytest.raises(segue.SettingError):
        segue.stream(CONTEXT, replace(MODELS[FIRST], base_url=url), connection=Connection(api_key="k"))


def test_a_closed_http_client_is_a_setting_error() -> None:
    http = httpx2.AsyncClient()
    LOOP.run(http.aclose())
    with pytest.raises(segue.SettingError, match="closed"):
        segue.stream(CONTEXT, MODELS[FIRST], connection=Connection(api_key="k", http=http))


@pytest.mark.parametrize("number", [float("nan"), -1.0, "soon", float("-inf")])
@pytest.mark.parametrize("where", ["connect", "first_event", "between_events", "total"])
def test_an_invalid_timeout_is_a_setting_error(where: str, number: Any) -> None:
    with pytest.raises(segue.SettingError, match=where):
        segue.stream(CONTEXT, MODELS[FIRST], connection=Connection(api_key="k", timeouts=Timeouts(**{where: number})))


@given(st.floats() | st.integers(), st.floats() | st.integers())
def test_any_number_of_retries_and_any_wait_can_be_set(count: Any, wait: Any) -> None:
    """They are refused before anything is sent, or computing the wait works."""
    connection = Connection(api_key="k", retries=Retries(count=count, first_wait=wait, longest_wait=0.5))
    try:
        stream = segue.stream(CONTEXT, MODELS[FIRST], connection=connection)
    except segue.SettingError:
        assert not (count >= 0 and wait >= 0)
        return
    stream.attempts = 5000
    found = stream._wait(segue.ServerError("x"))
    assert found is None or 0 <= found <= 0.5


RETRY_AFTER = [
    "Mon, 99999999999999999999 Jan 2024 00:00:00 GMT",
    "Mon, 01 Jan 99999999 00:00:00 GMT",
    "Mon, 01 Jan 0000 00:00:00 GMT",
    "Mon, 01 Jan 2024 99:99:99 GMT",
    "Mon, 01 Jan 9999 00:00:00 -9999",
    "Mon, 01 Jan 1 00:00:00 +9999999999",
    "inf",
    "-inf",
    "nan",
    "1e999",
    "9" * 400,
    "-1",
    "",
    ",",
    "Mon",
    "01 Jan",
]


@given(st.sampled_from(RETRY_AFTER) | st.text(max_size=60), st.sampled_from(["retry-after", "retry-after-ms"]))
def test_retry_after_is_a_time_or_ignored(value: str, name: str) -> None:
    found = retry_after({name: value}, now=1.8e9)
    assert found is None or 0 <= found < 1e9


@pytest.mark.parametrize("value", RETRY_AFTER)
def test_an_invalid_retry_after_does_not_raise(value: str) -> None:
    stream = ask(response(b"{}", "429 Slow", [("retry-after", value)]))
    assert isinstance(stream.error, segue.RateLimitError)


@pytest.mark.parametrize("depth", [10, 300, 600, 900, 5000, 100_000])
def test_a_deeply_nested_error_is_an_error(depth: int) -> None:
    for opening, closing in (
        (b'{"error":', b"}"),
        (b'{"message":', b"}"),
        (b"[", b"]"),
        (b'{"error":{"message":[', b"]}}"),
    ):
        stream = ask(response(opening * depth + b"1" + closing * depth, "400 Bad"))
        assert isinstance(stream.error, segue.ProviderError)


@pytest.mark.parametrize(
    "body", [lambda body: [1], lambda body: "text", lambda body: {"x": object()}, lambda body: {"x": {1, object()}},
             lambda body: {"x": "\ud800"}, lambda body: {"x": {("a",): 1}}],
)  # fmt: skip
def test_on_request_must_return_a_valid_body(body: Any) -> None:
    with raw(lambda asked: (response(WHOLE), False)) as server, pytest.raises(TypeError, match="on_request"):
        segue.stream(CONTEXT, MODELS[FIRST], connection=connection(server.url, on_request=body))
    assert not server.asked


def test_a_body_that_contains_itself_is_refused() -> None:
    def knot(body: dict[str, Any]) -> None:
        body["x"] = body

    with pytest.raises(TypeError, match="on_request"):
        segue.stream(CONTEXT, MODELS[FIRST], connection=connection("http://127.0.0.1:9", on_request=knot))


# -- property -------------------------------------------------------------------------------------------------------

TEXT = st.text(st.characters(min_codepoint=0x20, max_codepoint=0xFF), max_size=30)
CODINGS = ["gzip", "deflate", "br", "zstd", "identity", "gzip, deflate", "x-gzip", "", "GZIP", "none", "gzip;q=1"]
TYPES = [
    "text/event-stream",
    "application/json",
    "text/html; charset=klingon",
    "application/vnd.amazon.eventstream",
    "?",
]
WORDS = """insufficient_quota
overloaded
invalid_request_error
model_not_found
prompt is too long
api key
rate limit
content_filter
server_error
No endpoints found that support image input""".splitlines()
HEADERS = st.lists(
    st.tuples(st.just("retry-after"), st.sampled_from(RETRY_AFTER) | TEXT)
    | st.tuples(st.just("content-encoding"), st.sampled_from(CODINGS) | TEXT)
    | st.tuples(st.just("content-type"), st.sampled_from(TYPES) | TEXT)
    | st.tuples(st.sampled_from(["location", "set-cookie", "x-request-id", "transfer-encoding", "connection"]), TEXT)
    | st.tuples(st.just("content-length"), st.integers(-2, 99).map(str) | TEXT),
    max_size=4,
)
ERRORS = st.builds(
    lambda word, code: json.dumps({"error": {"message": word, "code": code}}).encode(),
    st.sampled_from(WORDS),
    st.none() | st.integers() | TEXT,
)
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
BODIES = st.one_of(
    st.sampled_from([GOOD, WHOLE, DELTA, PACKED, PACKED[:40], GOOD[:-30], b"", b"data: ", b"<html>"]),
    ERRORS,
    ERRORS.map(lambda body: b"data: " + body + b"\n\n"),
    ERRORS.map(gzip.compress),
    ERRORS.map(lambda body: DELTA + b"data: " + body + b"\n\n"),
    JSON.map(lambda value: json.dumps(value).encode()),
    JSON.map(lambda value: b"data: " + json.dumps(value).encode() + b"\n\n"),
    st.binary(max_size=200),
)
KNOWN = [200, 200, 200, 400, 401, 402, 403, 404, 408, 410, 413, 418, 422, 424, 429, 500, 502, 503, 529]
STATUSES = st.sampled_from(KNOWN) | st.integers(100, 999)


class Stage:
    """A server that sends the bytes that a test sets, and a healthy provider."""

    def __init__(self, broken: Server, healthy: StandIn) -> None:
        self.broken, self.healthy = broken, healthy
        small = replace(MODELS[FIRST], context_window=100_000)
        self.members = [small, replace(MODELS[SECOND], context_window=400_000)]

    def sends(self, data: bytes) -> None:
        self.broken.answer = lambda asked: (data, False)

    def reach(self, model: segue.Model) -> Connection:
        if model.protocol == FIRST:
            return connection(self.broken.url)
        return connection(self.healthy.url, api_key=self.healthy.key)

    async def run(self) -> segue.Outcome:
        router = Failover(self.members, patience=Patience(retries=Retries(count=0)))
        async with Agent(router, connection=self.reach) as agent:
            return await agent.run("Weather in Paris?")


def never(asked: Asked) -> tuple[bytes, bool]:
    return b"", False


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with raw(never) as broken, StandIn("anthropic") as healthy:
        yield Stage(broken, healthy)


@given(STATUSES, HEADERS, BODIES, st.booleans())
@example(200, [("content-encoding", "gzip")], b"garbage", True)
@example(429, [("retry-after", RETRY_AFTER[0])], b"{}", True)
@example(302, [("location", "http://[")], b"", True)
@example(400, [("content-encoding", "deflate")], b"garbage", False)
@example(404, [], b'{"error":{"message":"No endpoints found that support image input","code":404}}', True)
@settings(max_examples=80)
def test_whatever_a_server_sends_is_an_answer_or_an_error(
    stage: Stage, status: int, headers: list[tuple[str, str]], body: bytes, framed: bool
) -> None:
    """`stream`, `complete` without a check, and an agent with two members raise nothing. The run ends with the healthy
    member's answer where the rules name another step for the failure, else with the failure."""
    length = [] if framed else [("transfer-encoding", "chunked")]
    stage.sends(response(body, f"{status} Odd", [*headers, *length]))
    stream, events = LOOP.run(streamed(stage.broken.url))
    assert [event.type for event in events].count("error") == (stream.error is not None)
    broken = connection(stage.broken.url)
    whole = LOOP.run(segue.complete(CONTEXT, MODELS[FIRST], Options(), connection=broken, check=False))
    assert (whole.stop_reason == "error") == (segue.error_of(whole) is not None)
    outcome = LOOP.run(stage.run())
    failed = stream.error
    if failed is None:
        assert outcome.how == "done" and outcome.message is not None and outcome.message.protocol == FIRST
    elif rule_of(failed).steps:
        assert outcome.how == "done" and outcome.message is not None and outcome.message.protocol == SECOND, failed
    else:
        assert outcome.how == "failed" and failed.kind in outcome.reason
    if status < 400 and failed is not None and not body:
        assert isinstance(failed, segue.NetworkError)


@given(st.binary(max_size=300))
def test_bytes_that_are_not_http_are_a_network_error(stage: Stage, data: bytes) -> None:
    stage.sends(data)
    stream, _ = LOOP.run(streamed(stage.broken.url))
    assert isinstance(stream.error, segue.ProviderError)
    outcome = LOOP.run(stage.run())
    assert outcome.how == "done" and outcome.message is not None and outcome.message.protocol == SECOND


@pytest.mark.parametrize("hook", ["raises for the status", "follows redirects"])
def test_errors_of_the_callers_http_client_are_mapped(stage: Stage, hook: str) -> None:
    async def talk() -> segue.Stream:
        async def check(answer: httpx2.Response) -> None:
            if hook == "raises for the status":
                answer.raise_for_status()

        own = httpx2.AsyncClient(event_hooks={"response": [check]}, follow_redirects=True, max_redirects=3)
        async with own:
            return (await streamed(stage.broken.url, http=own))[0]

    status = "500 Bad" if hook == "raises for the status" else "307 There"
    stage.sends(response(b"{}", status, [("location", "/round/and/round")]))
    assert isinstance(LOOP.run(talk()).error, segue.NetworkError)


@pytest.mark.parametrize("cookie", ["session=1", "\u00e8=1; Path=/"])
def test_cookies_of_a_provider_are_not_sent_back(cookie: str, stage: Stage) -> None:
    """One that cannot be sent would make every further request to that host fail."""
    stage.sends(response(b"{}", "500 Bad", [("set-cookie", cookie)]))
    for _ in range(2):
        stream, _ = LOOP.run(streamed(stage.broken.url))
        assert isinstance(stream.error, segue.ServerError)
        assert "cookie" not in stage.broken.asked[-1].headers


def test_cancelling_while_an_error_is_read_ends_with_aborted(stage: Stage) -> None:
    async def talk() -> segue.Stream:
        answer = segue.stream(CONTEXT, MODELS[FIRST], OPTIONS, connection=connection(stage.broken.url))
        task = asyncio.ensure_future(answer.finished())
        while len(stage.broken.asked) == before:
            await asyncio.sleep(0.001)
        answer.cancel()
        await task
        return answer

    before = len(stage.broken.asked)
    head = response(b"", "500 Bad", [("content-length", "1000")])
    stage.broken.answer = lambda asked: (head, True)
    stream = LOOP.run(talk())
    assert stream.message is not None and stream.message.stop_reason == "aborted" and stream.error is None
