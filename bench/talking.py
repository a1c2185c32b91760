"""Events per second and time to the first event, compared with the providers' SDKs and the same server.

The server is a stand-in in its own process. Wall time is measured, because callers wait for it; clients take turns, and
medians count. All of them are asynchronous and reuse their connections.
"""

import asyncio
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from importlib.metadata import version
from typing import Any, NamedTuple

import segue
from segue import Connection, Context, UserMessage

from .measure import Effort, Figure
from .report import Bars, Part, Section, Table, cell

EFFORT = Effort(15, 15, 5)
WORDS = "All happy families are alike; each unhappy family is unhappy in its own way. " * 150
SERVER = """
import sys, time
from segue.testing import Reply, StandIn
from segue import TextContent
with StandIn(sys.argv[1], protocol=sys.argv[2], script=[Reply([TextContent(sys.argv[3])])] * 10_000) as server:
    print(server.url, server.key, flush=True)
    sys.stdin.read()
"""
Asked = Callable[[], AsyncIterator[Any]]


class Answered(NamedTuple):
    """The number of events, the seconds for all of them, and the seconds until the first."""

    events: int
    seconds: float
    first: float


def run() -> Iterator[Part]:
    first: dict[str, dict[str, Figure]] = {}
    for provider, protocol, ref, sdk in (
        ("anthropic", "anthropic-messages", "anthropic/claude-sonnet-4-5", anthropic_sdk),
        ("openai", "openai-completions", "openai/gpt-4.1", openai_sdk),
    ):
        command = [sys.executable, "-c", SERVER, provider, protocol, WORDS]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            url, key = server.stdout.readline().split()
            taken = asyncio.run(compare(provider, segue.get_model(ref, protocol=protocol), url, key, sdk))
            server.communicate("")
        yield table(protocol, taken)
        first[protocol] = {name: Figure.of(each.first * 1e3 for each in rounds) for name, rounds in taken.items()}
    yield Bars("bench-first-event.svg", "The first event of an answer, on the wall, from a server beside", "ms", first)


def table(protocol: str, taken: dict[str, list[Answered]]) -> Table:
    return Table(
        f"A streamed answer of about 1,000 deltas from a stand-in, {protocol}; wall-clock time",
        ("", "first event after", "events a second"),
        [
            (
                name,
                cell(Figure.of(each.first * 1e3 for each in rounds), "ms"),
                cell(Figure.of(each.events / each.seconds for each in rounds), ""),
            )
            for name, rounds in taken.items()
        ],
    )


async def compare(package: str, model: segue.Model, url: str, key: str, sdk: Any) -> dict[str, list[Answered]]:
    """The time of each client in every round."""
    context = Context(messages=[UserMessage("Hi")])
    connection = Connection(base_url=url, api_key=key)

    async def own() -> AsyncIterator[Any]:
        async with segue.stream(context, model, connection=connection) as stream:
            async for event in stream:
                yield event
        assert stream.message is not None and stream.message.text == WORDS, stream.message

    client, theirs = sdk(model, url, key)
    clients = {f"{name} {version(name)}": ask for name, ask in (("segue", own), (package, theirs))}
    taken: dict[str, list[Answered]] = {name: [] for name in clients}
    async with client:
        for ask in clients.values():
            await timed(ask)  # warm up
        for _ in EFFORT.rounds():
            for name, ask in clients.items():
                taken[name].append(await timed(ask))
    return taken


async def timed(asked: Asked) -> Answered:
    began = time.perf_counter()
    first, count = 0.0, 0
    async for _ in asked():
        first = first or time.perf_counter() - began
        count += 1
    return Answered(count, time.perf_counter() - began, first)


def anthropic_sdk(model: segue.Model, url: str, key: str) -> tuple[Any, Asked]:
    import anthropic

    client = anthropic.AsyncAnthropic(api_key=key, base_url=url)

    async def ask() -> AsyncIterator[Any]:
        asked: list[Any] = [{"role": "user", "content": "Hi"}]
        async for event in await client.messages.create(model=model.id, max_tokens=9000, messages=asked, stream=True):
            yield event

    return client, ask


def openai_sdk(model: segue.Model, url: str, key: str) -> tuple[Any, Asked]:
    import openai

    client = openai.AsyncOpenAI(api_key=key, base_url=url)

    async def ask() -> AsyncIterator[Any]:
        asked: list[Any] = [{"role": "user", "content": "Hi"}]
        async for event in await client.chat.completions.create(model=model.id, messages=asked, stream=True):
            yield event

    return client, ask


SECTION = Section("talk", "Streaming from a provider", run)
