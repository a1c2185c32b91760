"""What it costs to talk: events per second and time to the first event, beside the providers' SDKs and the same server.

The server is a stand-in in a process of its own. Time is on the wall, because that is what a caller waits for; clients
take turns, and medians count. All of them are asynchronous and use their connections again.
"""

import asyncio
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from importlib.metadata import version
from typing import Any

import segue
from segue import Connection, Context, UserMessage

ROUNDS = 15
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


def run() -> None:
    print("\ntalk to a stand-in: a streamed answer of about 1,000 deltas, time on the wall")
    for provider, protocol, ref, sdk in (
        ("anthropic", "anthropic-messages", "anthropic/claude-sonnet-4-5", anthropic_sdk),
        ("openai", "openai-completions", "openai/gpt-4.1", openai_sdk),
    ):
        command = [sys.executable, "-c", SERVER, provider, protocol, WORDS]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            url, key = server.stdout.readline().split()
            asyncio.run(compare(provider, segue.get_model(ref, protocol=protocol), url, key, sdk))
            server.communicate("")


async def compare(package: str, model: segue.Model, url: str, key: str, sdk: Any) -> None:
    context = Context(messages=[UserMessage("Hi")])
    connection = Connection(base_url=url, api_key=key)

    async def own() -> AsyncIterator[Any]:
        async with segue.stream(model, context, connection=connection) as stream:
            async for event in stream:
                yield event
        assert stream.message is not None and stream.message.text == WORDS, stream.message

    figures = {"segue": [await timed(own)], package: [await timed(sdk(model, url, key))]}
    for _ in range(ROUNDS):
        figures["segue"].append(await timed(own))
        figures[package].append(await timed(sdk(model, url, key)))
    print(f"\n  {model.protocol}")
    for name, rounds in figures.items():
        rate = statistics.median(count / seconds for count, seconds, _ in rounds[1:])
        first = statistics.median(first for _, _, first in rounds[1:])
        title = f"{name} {version(name)}"
        print(f"    {title:<24}{rate:>10,.0f} events a second   first event after {first * 1e3:>6.1f} ms")


async def timed(asked: Asked) -> tuple[int, float, float]:
    """How many events came, in how many seconds, and after how many the first."""
    began = time.perf_counter()
    first, count = 0.0, 0
    async for _ in asked():
        first = first or time.perf_counter() - began
        count += 1
    return count, time.perf_counter() - began, first


def anthropic_sdk(model: segue.Model, url: str, key: str) -> Asked:
    client = _CLIENTS.get(url)
    if client is None:
        import anthropic

        client = _CLIENTS[url] = anthropic.AsyncAnthropic(api_key=key, base_url=url)

    async def ask() -> AsyncIterator[Any]:
        asked: list[Any] = [{"role": "user", "content": "Hi"}]
        async for event in await client.messages.create(model=model.id, max_tokens=9000, messages=asked, stream=True):
            yield event

    return ask


def openai_sdk(model: segue.Model, url: str, key: str) -> Asked:
    client = _CLIENTS.get(url)
    if client is None:
        import openai

        client = _CLIENTS[url] = openai.AsyncOpenAI(api_key=key, base_url=url)

    async def ask() -> AsyncIterator[Any]:
        asked: list[Any] = [{"role": "user", "content": "Hi"}]
        async for event in await client.chat.completions.create(model=model.id, messages=asked, stream=True):
            yield event

    return ask


_CLIENTS: dict[str, Any] = {}
