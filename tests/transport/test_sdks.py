"""The transport inside the official SDKs, against strict stand-ins: clean bodies pass byte for byte, torn ones are
repaired and reported, and answers reach the SDK unchanged."""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
import pytest
from msgspec.structs import replace
from pydantic import ValidationError
from support.facts import FACTS
from support.providers import CONTEXT, MODELS
from support.sdks import ASYNC, PROVIDERS, SYNC, bedrock
from support.talk import continued

import segue
from bench.corpus import Conversation, conversations
from segue import AssistantMessage, Facts, Options
from segue.testing import StandIn
from segue.transport import Repaired
from segue.wire import protocol_of

pytestmark = pytest.mark.filterwarnings("ignore:The model:DeprecationWarning")  # the SDK knows when a model ends
CORPUS = conversations()
BEDROCK = "bedrock-converse"
NAMED = {BEDROCK: "modelId"}


@pytest.fixture(autouse=True)
def no_internal_error(caplog: pytest.LogCaptureFixture) -> Any:
    yield
    assert [each for each in caplog.records if each.levelno >= logging.ERROR] == []


class Recorder(httpx2.BaseTransport):
    """Records the bodies that are sent."""

    def __init__(self) -> None:
        self.inner = httpx2.HTTPTransport()
        self.bodies: list[bytes] = []

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        self.bodies.append(request.read())
        return self.inner.handle_request(request)

    def close(self) -> None:
        self.inner.close()


class AsyncRecorder(httpx2.AsyncBaseTransport):
    """The same for asynchronous clients."""

    def __init__(self) -> None:
        self.inner = httpx2.AsyncHTTPTransport()
        self.bodies: list[bytes] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.bodies.append(await request.aread())
        return await self.inner.handle_async_request(request)

    async def aclose(self) -> None:
        await self.inner.aclose()


def kwargs_of(context: segue.Context, protocol: str, options: Options = Options()) -> dict[str, Any]:  # noqa: B008
    """A clean request, as arguments of the SDK."""
    request = segue.encode(context, MODELS[protocol], options)
    kwargs = request.sdk_kwargs()
    kwargs.pop("stream", None)
    return kwargs


def torn_kwargs(context: segue.Context, protocol: str) -> dict[str, Any]:
    """A conversation as it is stored, as arguments of the SDK: nothing is repaired."""
    model = MODELS[protocol]
    body = segue.export(context, protocol).body
    if protocol == "openai-completions":
        for message in body["messages"]:
            if message["role"] == "tool":
                message.pop("name", None)  # the SDK's type does not have it
    return {NAMED.get(protocol, "model"): model.id} | protocol_of(protocol).sdk_kwargs(body, model, Options())


def two_turns(protocol: str, server: StandIn) -> segue.Context:
    """A conversation with an answer of the stand-in itself: thinking, text, calls and their results."""
    model, facts = MODELS[protocol], FACTS[protocol]
    connection = segue.Connection(base_url=server.url, api_key=server.key)
    first = segue.complete_sync(CONTEXT, model, facts.options, connection=connection)
    assert first.stop_reason == "toolUse"
    return continued(CONTEXT, first)


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("protocol", SYNC)
def test_a_clean_body_arrives_byte_for_byte(protocol: str, streams: bool) -> None:
    seen: list[Repaired] = []
    with StandIn(PROVIDERS[protocol], protocol=protocol, script=FACTS[protocol].script) as server:
        kwargs = kwargs_of(two_turns(protocol, server), protocol, FACTS[protocol].options)
        plain, below = Recorder(), Recorder()
        with (
            httpx2.Client(transport=plain) as bare,
            segue.transport.client(
                provider=PROVIDERS[protocol], on_changes=seen.append, http={"transport": below}, facts=Facts()
            ) as http,
        ):
            SYNC[protocol](server, bare, kwargs, streams)
            SYNC[protocol](server, http, kwargs, streams)
        assert not server.refused
    assert seen == []
    assert below.bodies == plain.bodies and len(below.bodies) == 1


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("protocol", ASYNC)
def test_a_clean_body_arrives_byte_for_byte_from_async_sdks(protocol: str, streams: bool) -> None:
    seen: list[Repaired] = []

    async def talk(server: StandIn, kwargs: dict[str, Any]) -> None:
        plain, below = AsyncRecorder(), AsyncRecorder()
        async with (
            httpx2.AsyncClient(transport=plain) as bare,
            segue.transport.async_client(
                provider=PROVIDERS[protocol], on_changes=seen.append, http={"transport": below}, facts=Facts()
            ) as http,
        ):
            await ASYNC[protocol](server, bare, kwargs, streams)
            await ASYNC[protocol](server, http, kwargs, streams)
        assert below.bodies == plain.bodies and len(below.bodies) == 1

    with StandIn(PROVIDERS[protocol], protocol=protocol, script=FACTS[protocol].script) as server:
        kwargs = kwargs_of(two_turns(protocol, server), protocol, FACTS[protocol].options)
        asyncio.run(talk(server, kwargs))
        assert not server.refused
    assert seen == []


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("protocol", SYNC)
def test_a_torn_body_is_repaired_and_reported_and_the_answer_is_unchanged(protocol: str, streams: bool) -> None:
    seen: list[Repaired] = []
    foreign = "openai/gpt-4.1" if protocol == "anthropic-messages" else "anthropic/claude-sonnet-4-5"
    origin = segue.Catalog.load().resolve(foreign)
    answer = AssistantMessage(
        content=[segue.ToolCall("call.1|x", "weather", {"city": "Paris"})],
        protocol=origin.protocol,
        provider=origin.provider,
        model=origin.id,
        stop_reason="toolUse",
    )
    torn = replace(CONTEXT, messages=[*CONTEXT.messages, answer, segue.UserMessage("And?")])
    with StandIn(PROVIDERS[protocol], protocol=protocol, script=["Fine."]) as server:
        kwargs = torn_kwargs(torn, protocol)
        with segue.transport.client(provider=PROVIDERS[protocol], on_changes=seen.append, facts=Facts()) as http:
            answered = SYNC[protocol](server, http, kwargs, streams)
        assert not server.refused and len(server.requests) == 1
    assert "Fine." in str(answered) or "Fine" in str(answered)
    [report] = seen
    assert "result-synthesized" in {change.code for change in report.changes}
    assert report.provider == PROVIDERS[protocol] and report.protocol == protocol


@pytest.mark.parametrize("trust", ["drop", "same"])
@pytest.mark.parametrize("protocol", SYNC)
def test_the_failure_corpus_is_accepted(protocol: str, trust: Any) -> None:
    """Every conversation whole and streamed: once with each way to treat unknown signatures."""
    asked = 0
    with (
        StandIn(PROVIDERS[protocol], protocol=protocol) as server,
        segue.transport.client(provider=PROVIDERS[protocol], trust=trust, facts=Facts()) as http,
    ):
        for at, conversation in enumerate(CORPUS):
            with accepted(conversation) as passed:
                kwargs = torn_kwargs(conversation.context, protocol)
                SYNC[protocol](server, http, kwargs, at % 2 == (trust == "drop"))
            asked += len(passed)
        if trust == "drop":
            assert server.refused == []
    assert asked > len(CORPUS) / 2


@pytest.mark.parametrize("protocol", ASYNC)
def test_the_failure_corpus_is_accepted_from_async_sdks(protocol: str) -> None:
    async def talk(server: StandIn) -> int:
        asked = 0
        provider = PROVIDERS[protocol]
        async with segue.transport.async_client(provider=provider, trust="drop", facts=Facts()) as http:
            for at, conversation in enumerate(CORPUS):
                with accepted(conversation) as passed:
                    kwargs = torn_kwargs(conversation.context, protocol)
                    await ASYNC[protocol](server, http, kwargs, at % 2 == 0)
                asked += len(passed)
        return asked

    with StandIn(PROVIDERS[protocol], protocol=protocol) as server:
        assert asyncio.run(talk(server)) > len(CORPUS) / 2
        assert server.refused == []


@contextmanager
def accepted(conversation: Conversation) -> Iterator[list[bool]]:
    """A conversation that is sent as it is stored. Some SDKs refuse some of them before they are sent; those do not
    count."""
    passed = [True]
    try:
        yield passed
    except (ValidationError, ValueError, TypeError):
        passed.clear()
    except Exception as error:
        raise AssertionError(f"{conversation.names}: {error}") from error


def test_boto3_sends_clean_arguments_unchanged_and_torn_ones_repaired() -> None:
    seen: list[Repaired] = []
    model = MODELS[BEDROCK]
    with StandIn("amazon-bedrock", script=FACTS[BEDROCK].script, key="AKIAIOSFODNN7EXAMPLE") as server:
        client = bedrock(server)
        kwargs = segue.encode(CONTEXT, model, FACTS[BEDROCK].options).sdk_kwargs()
        client.converse(**kwargs)
        segue.transport.repair_bedrock(client, on_changes=seen.append, facts=Facts())
        client.converse(**kwargs)
        assert server.requests[0] == server.requests[1] and seen == []
        events = client.converse_stream(**kwargs)["stream"]
        assert list(events)
        assert server.requests[2] == server.requests[0] and seen == []
        client.converse(**kwargs | {"messages": [{"role": "user", "content": [{"text": "Cut: \ud83d"}]}]})
        assert server.requests[3]["messages"] == [{"role": "user", "content": [{"text": "Cut: \ufffd"}]}]
        assert [each.code for each in seen.pop().changes] == ["text-sanitized"]
        asked = 0
        for conversation in CORPUS:
            try:
                client.converse(**torn_kwargs(conversation.context, BEDROCK))
            except ValueError:  # the SDK's own check
                continue
            asked += 1
        client.close()
    assert asked > len(CORPUS) / 2
    assert seen
