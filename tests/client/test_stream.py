"""The client against strict stand-ins: events, retries, cancelling, and the reuse of connections."""

import asyncio
import gc
import shutil
import ssl
import time
import warnings
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import force_setattr, replace
from support.providers import CONTEXT, MODELS, OPTIONS, reach
from support.waiting import HANGS, SHORT, until_async

import segue
from segue import Connection, Options, Retries, Timeouts, client
from segue.client import _default
from segue.client.pool import Pool
from segue.client.sync import run_sync
from segue.projection.pipeline import Rendering
from segue.testing import Fault, FaultKind, Reply, StandIn
from segue.types import Context, TextContent, ToolCall, UserMessage

LONG = Reply([TextContent("All happy families are alike; each unhappy family is unhappy in its own way. " * 3)])
QUICK = Retries(first_wait=0.01, longest_wait=0.02)
CERTIFICATE = Path(__file__).parents[1] / "support" / "certificates" / "localhost.pem"
ENDLESS = Fault("silence", LONG)
"""An answer whose second half never arrives."""

# For each fault: the error, how often the request is sent, and whether some output had arrived.
FAULTS: dict[FaultKind, tuple[type[segue.ProviderError], int, bool]] = {
    "rate-limit": (segue.RateLimitError, 3, False),
    "server-error": (segue.ServerError, 3, False),
    "unavailable": (segue.OverloadedError, 3, False),
    "overloaded": (segue.OverloadedError, 3, False),
    "wrong-key": (segue.AuthenticationError, 1, False),
    "overflow": (segue.ContextOverflowError, 1, False),
    "cut": (segue.NetworkError, 1, True),
    "silence": (segue.NetworkError, 1, True),
    "broken-json": (segue.NetworkError, 1, True),
    "error-event": (segue.ProviderError, 1, True),
}


@pytest.fixture(params=MODELS)
def protocol(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def server(protocol: str) -> Iterator[StandIn]:
    with StandIn(MODELS[protocol].provider, protocol=protocol) as standin:
        yield standin


def stream(server: StandIn, context: Context = CONTEXT, **settings: Any) -> segue.Stream:
    return segue.stream(context, MODELS[server.protocol], OPTIONS, connection=reach(server, **settings))


async def failed(server: StandIn, kind: FaultKind, retries: Retries) -> tuple[segue.Stream, list[segue.events.Event]]:
    """A failed answer and its events. The limit between events is short once text has arrived."""
    timeouts = Timeouts(connect=HANGS, first_event=HANGS, between_events=HANGS)
    answer = stream(server, retries=retries, timeouts=timeouts)
    events = []
    async for event in answer:
        events.append(event)
        if kind == "silence" and event.type == "text_delta":
            force_setattr(timeouts, "between_events", SHORT)
    return answer, events


@pytest.mark.parametrize("kind", FAULTS)
def test_a_fault_is_an_error_event_that_keeps_what_had_arrived(server: StandIn, kind: FaultKind) -> None:
    """The expected error and number of attempts, and a message that can be stored."""
    error, tries, arrived = FAULTS[kind]
    server.say(*[Fault(kind, LONG) for _ in range(5)])

    async def talk() -> segue.Stream:
        answer, events = await failed(server, kind, QUICK)
        assert [event.type for event in events].count("error") == 1
        assert isinstance(events[-1], segue.events.Error) and events[-1].message is answer.message
        assert events[-1].error is answer.error
        return answer

    answer = asyncio.run(talk())
    assert isinstance(answer.error, error), answer.error
    assert answer.attempts == tries == len(server.requests)
    message = answer.message
    assert message is not None and message.stop_reason == "error" and message.error_message
    assert bool(message.text) == arrived and LONG.content[0].text.startswith(message.text)  # type: ignore[union-attr]
    stored = segue.error_of(message)
    assert type(stored) is type(answer.error)
    assert (stored.provider, stored.model) == (server.provider, MODELS[server.protocol].id)
    assert Context.from_json(Context(messages=[message]).to_json()).messages == [message]


@pytest.mark.parametrize("kind", ["wrong-key", "overflow", "cut", "error-event"])
@pytest.mark.parametrize("streams", [True, False], ids=["streamed", "whole"])
def test_complete_raises_the_error_with_what_had_arrived(server: StandIn, kind: FaultKind, streams: bool) -> None:
    error, _, arrived = FAULTS[kind]
    server.say(*[Fault(kind, LONG) for _ in range(3)])
    options, connection = replace(OPTIONS, stream=streams), reach(server, retries=Retries(count=0))
    model = MODELS[server.protocol]
    with pytest.raises(error) as sync:
        segue.complete_sync(CONTEXT, model, options, connection=connection)
    with pytest.raises(error) as awaited:
        asyncio.run(segue.complete(CONTEXT, model, options, connection=connection))
    returned = segue.complete_sync(CONTEXT, model, options, connection=connection, check=False)
    for message in (sync.value.message, awaited.value.message, returned):
        assert message.stop_reason == "error" and message.error_message == sync.value.text
        assert not streams or bool(message.text) == arrived
        stored = segue.error_of(message)
        assert type(stored) is type(sync.value) and stored.message is message


@pytest.mark.parametrize("kind", ["rate-limit", "server-error", "unavailable", "overloaded"])
def test_a_retry_succeeds(server: StandIn, kind: FaultKind) -> None:
    server.say(Fault(kind), "Here I am.")

    async def talk() -> segue.Stream:
        answer = stream(server, retries=QUICK)
        await answer.finished()
        return answer

    answer = asyncio.run(talk())
    assert answer.error is None and answer.attempts == 2
    assert answer.message is not None and answer.message.text == "Here I am."


def test_streamed_whole_and_synchronous_answers_are_the_same(server: StandIn) -> None:
    reply = Reply([TextContent("Let me see. ✓"), ToolCall("", "weather", {"city": "Paris ✓", "days": 3})])
    server.say(reply, reply, reply, reply)
    model, connection = MODELS[server.protocol], reach(server)

    async def both() -> list[segue.AssistantMessage]:
        return [
            await segue.stream(CONTEXT, model, OPTIONS, connection=connection).finished(),
            await segue.complete(CONTEXT, model, OPTIONS, connection=connection),
        ]

    messages = asyncio.run(both())
    with segue.stream_sync(CONTEXT, model, OPTIONS, connection=connection) as events:
        kinds = [event.type for event in events]
        assert events.message is not None
        messages.append(events.message)
    messages.append(segue.complete_sync(CONTEXT, model, OPTIONS, connection=connection))
    assert kinds[0] == "start" and kinds[-1] == "done"
    for message in messages:
        assert message.stop_reason == "toolUse" and message.error_message is None
        assert message.text == "Let me see. ✓"
        assert [(call.name, call.arguments) for call in message.tool_calls] == [
            ("weather", {"city": "Paris ✓", "days": 3})
        ]
        assert message.usage == messages[0].usage and message.endpoint == messages[0].endpoint is not None


def test_cancelling_ends_with_aborted_and_keeps_what_had_arrived(server: StandIn) -> None:
    server.say(ENDLESS)

    async def talk() -> segue.Stream:
        answer = stream(server)
        kinds = []
        async for event in answer:
            kinds.append(event.type)
            if event.type == "text_delta":
                answer.cancel()
        assert kinds[-1] == "error" and kinds.count("text_delta") >= 1
        return answer

    answer = asyncio.run(talk())
    assert answer.message is not None and answer.message.stop_reason == "aborted" and answer.message.text
    assert answer.error is None


def test_a_cancelled_task_leaves_the_aborted_message(server: StandIn) -> None:
    server.say(ENDLESS)

    async def talk() -> segue.Stream:
        answer = stream(server)
        task = asyncio.create_task(answer.finished())
        while not answer._emitted:
            await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return answer

    answer = asyncio.run(talk())
    assert answer.message is not None and answer.message.stop_reason == "aborted"


def test_leaving_the_block_early_closes_the_connection(server: StandIn) -> None:
    server.say(ENDLESS, "next")

    async def talk() -> None:
        async with stream(server) as answer:
            async for event in answer:
                if event.type == "text_delta":
                    break
        assert answer.message is not None and answer.message.stop_reason == "aborted" and answer.message.text
        await assert_nothing_open(server)

    asyncio.run(talk())


async def assert_nothing_open(server: StandIn) -> None:
    pool = (await _default._pool.http())._transport._pool  # type: ignore[attr-defined]
    # Generators inside the HTTP client are closed by tasks of the event loop.
    await until_async(lambda: all(connection.is_idle() for connection in pool.connections))
    await until_async(lambda: len(asyncio.all_tasks()) == 1)


@pytest.mark.parametrize("kind", FAULTS)
def test_no_connection_is_left_open_after_a_fault(server: StandIn, kind: FaultKind) -> None:
    server.say(Fault(kind, LONG), Fault(kind, LONG))

    async def talk() -> None:
        await failed(server, kind, Retries(count=0))
        await assert_nothing_open(server)
        server._script.clear()
        assert (await stream(server).finished()).stop_reason == "stop"  # the pool still works

    asyncio.run(talk())


async def open_connections(client: segue.Client) -> int:
    http = await client._pool.http()
    return len(http._transport._pool.connections)  # type: ignore[attr-defined]


def test_connections_are_used_again(server: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("segue.client.exchange"), "DRAIN", HANGS)  # the last bytes may be late

    async def talk() -> int:
        for _ in range(3):
            assert (await stream(server).finished()).stop_reason == "stop"
        return await open_connections(_default)

    assert asyncio.run(talk()) == 1


def test_retry_after_is_respected_up_to_the_limit(server: StandIn) -> None:
    server.say(Fault("rate-limit", retry_after=0.3), "patient", Fault("rate-limit", retry_after=120))

    async def talk() -> tuple[segue.Stream, float, segue.Stream]:
        first = stream(server, retries=QUICK)
        began = time.monotonic()
        await first.finished()
        waited = time.monotonic() - began
        second = stream(server, retries=QUICK)
        await second.finished()
        return first, waited, second

    first, waited, second = asyncio.run(talk())
    assert first.error is None and first.attempts == 2 and waited >= 0.3
    assert isinstance(second.error, segue.RateLimitError) and second.attempts == 1
    assert second.error.retry_after == 120


def test_a_provider_that_sends_nothing_times_out() -> None:
    with StandIn("anthropic") as server:
        server.say(Fault("silence", Reply([TextContent("x")], pause=0.0)))
        connection = reach(server, timeouts=Timeouts(first_event=SHORT), retries=Retries(count=0))
        options = Options(stream=False)
        message = segue.complete_sync(
            CONTEXT, MODELS["anthropic-messages"], options, connection=connection, check=False
        )
    assert message.error_message == "no event arrived within 0.3 seconds"
    assert isinstance(segue.error_of(message), segue.NetworkError)


def test_an_unreachable_provider_is_a_network_error() -> None:
    connection = Connection(base_url="http://127.0.0.1:9", api_key="k", retries=QUICK)
    answer = segue.stream_sync(CONTEXT, MODELS["anthropic-messages"], connection=connection)
    message = answer.finished()
    assert isinstance(answer.error, segue.NetworkError) and answer.attempts == 3
    assert message.stop_reason == "error" and answer.error.status is None


def test_two_hundred_streams_can_run_concurrently() -> None:
    with StandIn("openai", protocol="openai-completions") as server:
        server.say(*[replace(LONG, pause=0.001)] * 200)

        async def talk() -> list[segue.AssistantMessage]:
            streams = [stream(server) for _ in range(200)]
            messages = await asyncio.gather(*(each.finished() for each in streams))
            await assert_nothing_open(server)
            return messages

        messages = asyncio.run(talk())
    assert {message.stop_reason for message in messages} == {"stop"}
    assert {message.text for message in messages} == {LONG.content[0].text}  # type: ignore[union-attr]


def test_the_answer_has_the_fingerprint_of_its_endpoint_and_of_its_prefix(server: StandIn) -> None:
    model = MODELS[server.protocol]
    message = segue.complete_sync(CONTEXT, model, OPTIONS, connection=reach(server))
    projection = segue.project(CONTEXT, model)
    assert message.prefix_digest == projection.prefix_digest()
    other = Connection(base_url=server.url, api_key="another-key-of-the-tests")
    assert message.endpoint and server.key not in message.endpoint
    assert client.reach(model, reach(server)).model.endpoint == message.endpoint
    assert client.reach(model, other).model.endpoint != message.endpoint


def test_on_request_may_change_the_body_but_not_the_stored_conversation(server: StandIn) -> None:
    seen: list[dict[str, Any]] = []
    before = CONTEXT.to_json()

    def look(body: dict[str, Any]) -> None:
        seen.append(body)
        for value in body.values():
            if isinstance(value, list):
                value.clear()

    message = segue.complete_sync(
        CONTEXT,
        MODELS[server.protocol],
        OPTIONS,
        connection=reach(server, on_request=look, retries=Retries(count=0)),
        check=False,
    )
    assert len(seen) == 1 and message.stop_reason == "error"  # an empty conversation is refused
    assert CONTEXT.to_json() == before
    changed = reach(server, on_request=lambda body: {**body, "no_such_field": 1})
    segue.complete_sync(CONTEXT, MODELS[server.protocol], OPTIONS, connection=changed, check=False)
    assert server.requests[-1]["no_such_field"] == 1


def test_any_endpoint_that_speaks_the_protocol_can_be_reached() -> None:
    """A model of a provider that is not in the catalog, without a key."""
    with StandIn("vllm", key=None) as server:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", segue.UnknownModelWarning)
            known = segue.get_model("vllm/qwen3-32b")
        mine = replace(known, provider="my-cluster", id="my-model", base_url=server.url)
        message = segue.complete_sync(Context(messages=[UserMessage("Hi")]), mine)
    assert message.stop_reason == "stop" and message.provider == "my-cluster"


def test_a_renderer_may_continue_while_its_long_request_is_sent(server: StandIn) -> None:
    """A body is sent in pieces that the renderer owns; the next request neither waits for them nor changes them."""
    reached = client.reach(MODELS[server.protocol], reach(server))
    renderer, held = segue.Renderer(reached.model), []

    async def talk() -> None:
        messages: list[Any] = [UserMessage("All of it: " + "word " * 20_000)]
        for _ in range(12):
            context = Context(messages=list(messages))
            held.append(renderer.request(context, OPTIONS).pieces())  # held while another request needs to grow them
            answer = segue.send(renderer.request(context, OPTIONS), reached.connection)
            await answer.finished()
            assert answer.error is None
            assert server.requests[-1] == answer.request.body
            messages += [answer.message, UserMessage("More: " + "word " * 8_000)]

    asyncio.run(talk())
    assert max(sum(map(len, pieces)) for pieces in held) > 400_000
    assert not server.refused


def test_a_request_is_sent_as_it_was_rendered(server: StandIn) -> None:
    """With a connection or with what ``reach`` returned, async and sync: the same body and the same answer."""
    model, connection = MODELS[server.protocol], reach(server)
    request = segue.encode(CONTEXT, model, OPTIONS)
    asked = segue.complete_sync(CONTEXT, model, OPTIONS, connection=connection)
    reached = client.reach(model, connection)
    answers = [segue.send_sync(request, each).finished() for each in (connection, reached)]
    answers.append(asyncio.run(segue.send(request, reached).finished()))
    assert server.requests == [request.body] * 4
    assert {answer.stop_reason for answer in answers} == {"stop"}
    assert {(answer.endpoint, answer.prefix_digest) for answer in answers} == {(asked.endpoint, asked.prefix_digest)}


def test_a_conversation_is_rendered_once_for_its_request(server: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    rendered: list[Context] = []
    whole = Rendering.extend

    def counted(rendering: Rendering, *args: Any) -> int:
        rendered.append(CONTEXT)
        return whole(rendering, *args)

    monkeypatch.setattr(Rendering, "extend", counted)
    connection = reach(server)
    assert segue.stream_sync(CONTEXT, MODELS[server.protocol], OPTIONS, connection=connection).finished().text
    assert segue.complete_sync(CONTEXT, MODELS[server.protocol], OPTIONS, connection=connection).text
    assert len(rendered) == 2


def test_anything_but_a_request_cannot_be_sent() -> None:
    wrong: Any = CONTEXT
    with pytest.raises(TypeError, match=r"a segue\.Request, not a Context; segue\.encode"):
        segue.send(wrong)


# -- clients -----------------------------------------------------------------------------------------------------------


def test_a_client_uses_its_own_connections_until_it_is_closed(server: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("segue.client.exchange"), "DRAIN", HANGS)
    model, request = MODELS[server.protocol], segue.encode(CONTEXT, MODELS[server.protocol], OPTIONS)

    async def talk() -> None:
        async with segue.Client(reach(server)) as own:
            assert (await own.stream(CONTEXT, model, OPTIONS).finished()).stop_reason == "stop"
            assert (await own.complete(CONTEXT, model, OPTIONS)).stop_reason == "stop"
            assert (await own.send(request).finished()).stop_reason == "stop"
            assert await open_connections(own) == 1
            assert await open_connections(_default) == 0
            http = await own._pool.http()
        assert http.is_closed
        with pytest.raises(segue.SettingError, match=r"this segue\.Client is closed"):
            own.stream(CONTEXT, model, OPTIONS)

    asyncio.run(talk())


def test_a_client_works_for_synchronous_callers(server: StandIn) -> None:
    model, request = MODELS[server.protocol], segue.encode(CONTEXT, MODELS[server.protocol], OPTIONS)
    with segue.Client(reach(server)) as own:
        assert own.stream_sync(CONTEXT, model, OPTIONS).finished().stop_reason == "stop"
        assert own.complete_sync(CONTEXT, model, OPTIONS).stop_reason == "stop"
        assert own.send_sync(request).finished().stop_reason == "stop"
        http = run_sync(own._pool.http())
    assert http.is_closed
    with pytest.raises(segue.SettingError, match=r"this segue\.Client is closed"):
        own.complete_sync(CONTEXT, model, OPTIONS)


def test_a_call_may_use_another_connection_than_its_client(server: StandIn) -> None:
    with segue.Client(Connection(base_url="http://127.0.0.1:9", api_key="k")) as own:
        assert own.complete_sync(CONTEXT, MODELS[server.protocol], OPTIONS, connection=reach(server)).text


def test_certificates_are_read_once_for_all_event_loops(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    read: list[object] = []
    load = ssl.SSLContext.load_verify_locations

    def counted(context: ssl.SSLContext, *sources: Any, **named: Any) -> None:
        read.append(sources or named)
        load(context, *sources, **named)

    async def opened() -> None:
        await Pool().http()

    monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", counted)
    for number, name in enumerate(("first.pem", "second.pem"), 1):
        monkeypatch.setenv("SSL_CERT_FILE", str(shutil.copy(CERTIFICATE, tmp_path / name)))
        asyncio.run(opened())
        asyncio.run(opened())
        assert len(read) == number, "once for each file that is trusted"


def test_the_connections_of_a_forgotten_client_are_closed(server: StandIn) -> None:
    async def talk() -> None:
        own = segue.Client(reach(server))
        await own.complete(CONTEXT, MODELS[server.protocol], OPTIONS)
        http = await own._pool.http()
        del own
        gc.collect()
        await until_async(lambda: http.is_closed)

    asyncio.run(talk())
