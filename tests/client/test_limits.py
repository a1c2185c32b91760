"""The size of an answer, its time limits, and the reuse of connections."""

import asyncio
import gzip
import itertools
import json
import sys
import time
from collections.abc import Iterator
from functools import cache
from threading import Event
from typing import Any

import pytest
from support.providers import CONTEXT, MODELS, OPTIONS
from support.raw import Answer, Asked, raw, response
from support.sessions import LOOP

import segue
from segue import Connection, Context, Options, Retries, Timeouts
from segue.client.exchange import Exchange
from segue.client.stream import MAX_ERROR, Stream
from segue.types import UserMessage
from segue.types.secret import LONGEST_TEXT

MODEL = MODELS["openai-completions"]
MB = 1024 * 1024
SSE = [("content-type", "text/event-stream")]


def delta(text: str) -> bytes:
    return b"data: " + json.dumps({"id": "c", "choices": [{"index": 0, "delta": {"content": text}}]}).encode() + b"\n\n"


END = b'data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
GOOD = delta("Hello there.") + END
FLOOD = delta("word " * 200) * 3000


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of all pieces that the client has read, after decompression."""
    sizes: list[int] = []
    piece = Exchange.piece

    async def counted(self: Exchange) -> bytes | None:
        before = self._read
        try:
            return await piece(self)
        finally:
            sizes.append(self._read - before)

    monkeypatch.setattr(Exchange, "piece", counted)
    return sizes


async def talked(url: str, options: Options = OPTIONS, context: Context = CONTEXT, **settings: Any) -> segue.Stream:
    values = {"base_url": url, "api_key": "k", "retries": Retries(count=0), **settings}
    answer = segue.send(segue.encode(context, MODEL, options), Connection(**values))
    await answer.finished()
    return answer


def ask(answer: bytes | Iterator[bytes], stays: bool = False, **settings: Any) -> segue.Stream:
    with raw(lambda asked: (answer, stays)) as server:
        return LOOP.run(talked(server.url, **settings))


# -- size ------------------------------------------------------------------------------------------------------------


def test_an_answer_may_have_64_mb_by_default() -> None:
    assert Connection().max_answer == 64 * MB


def test_an_answer_that_is_too_large_fails_and_keeps_what_had_arrived(read: list[int]) -> None:
    stream = ask(response(FLOOD, headers=SSE), max_answer=MB)
    assert isinstance(stream.error, segue.NetworkError) and not stream.error.retryable
    assert "1,048,576 bytes" in stream.error.text and "max_answer" in stream.error.text
    assert stream.message is not None and 0 < len(stream.message.text) < MB
    assert sum(read) < 2 * MB < len(FLOOD)


def test_an_answer_that_just_fits_is_accepted() -> None:
    data = delta("Hello there.") + b":" + b" " * 5000 + b"\n\n" + END
    assert ask(response(data, headers=SSE), max_answer=len(data)).error is None
    assert ask(response(data, headers=SSE), max_answer=len(data) - 1).error is not None


@cache
def bomb(layers: int) -> bytes:
    return gzip.compress(b": \n" * (256 * MB // 3), compresslevel=1) if layers == 1 else gzip.compress(bomb(layers - 1))


@pytest.mark.parametrize("status", ["200 OK", "400 Bad", "500 Bad"])
@pytest.mark.parametrize("streams", [True, False])
@pytest.mark.parametrize("layers", [1, 2])
def test_a_decompression_bomb_is_bounded(read: list[int], status: str, streams: bool, layers: int) -> None:
    """256 MB in a few hundred KB; no more than the limit and one piece is decompressed."""
    data = response(bomb(layers), status, [*SSE, ("content-encoding", ", ".join(["gzip"] * layers))])
    stream = ask(data, options=Options(stream=streams), max_answer=4 * MB)
    assert isinstance(stream.error, segue.ProviderError)
    assert sum(read) <= 6 * MB and max(read) <= MB


def test_a_whole_answer_is_bounded() -> None:
    body = {
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "x" * 2 * MB}, "finish_reason": "stop"}]
    }
    stream = ask(response(json.dumps(body).encode()), options=Options(stream=False), max_answer=MB)
    assert isinstance(stream.error, segue.NetworkError) and "max_answer" in stream.error.text


@pytest.mark.parametrize("body", [b"x" * 3 * MB, json.dumps({"error": {"message": "y " * MB}}).encode()])
def test_the_beginning_of_a_long_error_is_read_and_stored(read: list[int], body: bytes) -> None:
    stream = ask(response(body, "400 Bad"))
    assert sum(read) <= 2 * MAX_ERROR
    assert stream.error is not None and 1000 < len(stream.error.text) <= LONGEST_TEXT
    assert stream.message is not None and len(stream.message.error_message or "") <= LONGEST_TEXT


@pytest.mark.parametrize("size", [0, -1, 1.5, "many"])
def test_a_limit_that_is_not_a_positive_number_is_a_setting_error(size: Any) -> None:
    with pytest.raises(segue.SettingError, match="max_answer"):
        segue.stream(CONTEXT, MODEL, connection=Connection(api_key="k", max_answer=size))


# -- time ------------------------------------------------------------------------------------------------------------


class Clock:
    """The clock of the client, which a test can set ahead, so that the outcome does not depend on speed."""

    def __init__(self) -> None:
        self.ahead = 0.0
        self.time = time.time

    def monotonic(self) -> float:
        return time.monotonic() + self.ahead


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(sys.modules[Stream.__module__], "time", found)
    return found


def heartbeats(first: bytes, sent: Event) -> Iterator[bytes]:
    yield b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n" + first
    for number in itertools.count():
        if number == 3:
            sent.set()
        time.sleep(0.005)
        yield b": still here\n\n"


@pytest.mark.parametrize("output", [False, True], ids=["before output", "after output"])
def test_comments_do_not_keep_a_stream_open_when_a_total_is_set(output: bool, clock: Clock) -> None:
    """An hour passes after the first comments or the first event, and the next comment is over the limit."""
    sent = Event()

    async def talk(url: str) -> segue.Stream:
        connection = Connection(base_url=url, api_key="k", retries=Retries(count=0), timeouts=Timeouts(total=600))
        answer = segue.stream(CONTEXT, MODEL, OPTIONS, connection=connection)
        task = asyncio.ensure_future(pass_time())
        async for event in answer:
            if event.type == "text_delta":
                clock.ahead = 3600
        await task
        return answer

    async def pass_time() -> None:
        while not output and not sent.is_set():
            await asyncio.sleep(0.001)
        if not output:
            clock.ahead = 3600

    with raw(lambda asked: (heartbeats(delta("Hello there.") if output else b"", sent), False)) as server:
        stream = LOOP.run(talk(server.url))
    assert isinstance(stream.error, segue.NetworkError)
    assert stream.error.text == "the answer was not complete within 600 seconds"
    assert stream.message is not None and stream.message.text == ("Hello there." if output else "")


def test_retries_and_waits_count_towards_the_total() -> None:
    """Without a total, a provider that is always overloaded would get a million requests."""
    retries = Retries(count=10**6, first_wait=0.001, longest_wait=0.001)
    stream = ask(response(b"{}", "503 Busy"), timeouts=Timeouts(total=0.3), retries=retries)
    assert isinstance(stream.error, segue.ProviderError) and 1 <= stream.attempts < 10**6


def test_a_wait_that_would_end_too_late_is_not_started() -> None:
    stream = ask(response(b"{}", "503 Busy", [("retry-after", "50")]), timeouts=Timeouts(total=40), retries=Retries())
    assert isinstance(stream.error, segue.OverloadedError) and stream.attempts == 1


def test_an_answer_within_the_total_succeeds() -> None:
    assert ask(response(GOOD, headers=SSE), timeouts=Timeouts(total=60)).error is None


# -- connections -----------------------------------------------------------------------------------------------------


class Forgetful:
    """A server that ends the connections in ``stale`` when the next request arrives on them."""

    def __init__(self) -> None:
        self.stale: set[int] = set()
        self.garbage = b""

    def __call__(self, asked: Asked) -> Answer:
        if asked.connection in self.stale:
            return self.garbage, False
        return response(GOOD, headers=SSE), True


@pytest.fixture
def no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail if a wait is computed: a replaced connection is not a failure."""
    monkeypatch.setattr(Stream, "_wait", lambda self, failure: pytest.fail(f"{failure} was counted"))


@pytest.mark.parametrize("resets", [False, True], ids=["ended", "reset"])
@pytest.mark.parametrize("size", [10, 600_000])
@pytest.mark.parametrize("idle", [1, 3])
def test_a_used_connection_that_breaks_before_an_answer_is_replaced_immediately(
    no_waits: None, resets: bool, size: int, idle: int
) -> None:
    context = Context(messages=[UserMessage("x" * size)])
    server_side = Forgetful()

    async def talk(url: str) -> segue.Stream:
        await asyncio.gather(*(talked(url) for _ in range(idle)))
        server_side.stale = {asked.connection for asked in server.asked}
        return await talked(url, context=context)

    with raw(server_side) as server:
        server.resets = resets
        answer = LOOP.run(talk(server.url))
    assert answer.error is None and answer.attempts == 1
    assert answer.message is not None and answer.message.text == "Hello there."
    fresh = server.asked[-1]
    assert fresh.connection not in server_side.stale and len(fresh.body) > size
    assert len(server.asked) == idle + len(server_side.stale) + 1, "each of the stale ones was tried once"


def test_a_new_connection_that_breaks_counts_as_a_failure() -> None:
    with raw(lambda asked: (b"", False)) as server:
        retries = Retries(count=2, first_wait=0.001, longest_wait=0.002)
        answer = LOOP.run(talked(server.url, retries=retries))
    assert isinstance(answer.error, segue.NetworkError) and answer.attempts == len(server.asked) == 3


@pytest.mark.parametrize("garbage", [b"this is not HTTP\r\n\r\n", b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nda"])
def test_an_invalid_answer_on_a_used_connection_counts_as_a_failure(garbage: bytes) -> None:
    """The server sent something, so it may have processed the request."""
    server_side = Forgetful()

    async def talk(url: str) -> segue.Stream:
        await talked(url)
        server_side.stale, server_side.garbage = {0}, garbage
        return await talked(url)

    with raw(server_side) as server:
        answer = LOOP.run(talk(server.url))
    assert isinstance(answer.error, segue.NetworkError) and len(server.asked) == 2


def test_a_transport_without_trace_events_is_not_used_again() -> None:
    import httpx2

    calls = itertools.count()

    class Broken(httpx2.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            next(calls)
            raise httpx2.ReadError("gone")

    async def talk() -> segue.Stream:
        async with httpx2.AsyncClient(transport=Broken()) as http:
            return await talked("http://127.0.0.1:9", http=http)

    assert isinstance(LOOP.run(talk()).error, segue.NetworkError) and next(calls) == 1
