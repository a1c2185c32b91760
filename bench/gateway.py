"""The gateway beside litellm's proxy, Portkey and a bare pass-through, with one process each, to the same provider.

The others are in `.venv/proxies` (`PROXIES` names another folder). What is not installed is left out.
"""

import asyncio
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from urllib.error import URLError
from urllib.request import urlopen

import aiohttp

from .measure import Figure
from .report import Part, Section, Table, cell, number, ratio

SEGUE, BARE, LITELLM, PORTKEY = "segue", "a bare pass-through", "litellm", "Portkey"
MODEL = "claude-sonnet-4-5"
ROUNDS = 3
PORT = 4710
"""The first of some ports that must be free."""
SMALL_AT_ONCE, STREAMS_AT_ONCE, SINGLE = 16, 8, 100
MEMORY_REQUESTS = 10_000
PATHS = {"Anthropic to Anthropic": "/v1/messages", "Chat Completions to Anthropic": "/v1/chat/completions"}
ENDS = {"/v1/messages": b"message_stop", "/v1/chat/completions": b"[DONE]"}
TICKS = os.sysconf("SC_CLK_TCK")
TESTS = Path(sys.prefix).parent / "bin" / "python"
"""The environment of the tests, which has what the gateway needs."""
KEY = f"sk-{'0123456789abcdef' * 4}"
"""The client's key. litellm does not start without one."""
PROXIES = Path(os.environ.get("PROXIES") or Path(sys.prefix).parent / "proxies")


class Proxy(NamedTuple):
    """A process, and how it is used: its address, headers of requests, and the number of requests of a round."""

    process: "subprocess.Popen[bytes]"
    url: str
    headers: Mapping[str, str]
    small: int
    streams: int
    start: float
    """Seconds from the command to the first answer."""
    start_processor: float

    def processor(self) -> float:
        """The processor time of the process so far, in seconds."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def memory(self) -> float:
        """The memory of the process in bytes."""
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


# -- processes -------------------------------------------------------------------------------------------------------


def commands(folder: Path, provider: str) -> dict[str, tuple[list[str], dict[str, str], int, int]]:
    """The command of each proxy that is installed, headers of its requests, and the requests of a round."""
    (folder / "segue.toml").write_text(
        f'[gateway]\nstore = "{folder / "gateway.db"}"\n'
        f'[providers.anthropic]\nbase_url = "{provider}"\napi_key = "provider-key"\n'
        f'[[keys]]\nname = "bench"\nkey = "{KEY}"\n'
    )
    row = {"model": f"anthropic/{MODEL}", "api_key": "provider-key", "api_base": provider}
    (folder / "litellm.yaml").write_text(json.dumps({"model_list": [{"model_name": MODEL, "litellm_params": row}]}))
    found: dict[str, tuple[list[str], dict[str, str], int, int]] = {
        SEGUE: (
            [str(TESTS), "-m", "segue", "gateway", "--config", str(folder / "segue.toml"), "--port"],
            {"x-api-key": KEY}, 1200, 400,
        ),
        BARE: ([str(TESTS), "-m", "bench.gateway_provider", "bare", "PORT", provider], {}, 1200, 400),
    }  # fmt: skip
    litellm = PROXIES / "bin" / "litellm"
    if litellm.exists():
        command = [str(litellm), "--config", str(folder / "litellm.yaml"), "--host", "127.0.0.1", "--num_workers", "1"]
        found[LITELLM] = ([*command, "--port"], {"authorization": f"Bearer {KEY}"}, 120, 40)
    portkey = PROXIES / "node_modules" / "@portkey-ai" / "gateway" / "build" / "start-server.js"
    if portkey.exists() and (node := shutil.which("node")):
        headers = {"x-portkey-provider": "anthropic", "x-portkey-custom-host": f"{provider}/v1"}
        headers |= {"authorization": "Bearer k", "anthropic-version": "2023-06-01"}
        found[PORTKEY] = ([node, str(portkey), "--headless", "--port=PORT"], headers, 600, 100)
    return found


@contextmanager
def running(command: list[str], port: int, path: str) -> Iterator[tuple["subprocess.Popen[bytes]", str, float]]:
    """A process that listens on a port; its address, and the seconds until it answered."""
    written = [part.replace("PORT", str(port)) for part in command]
    if not any("PORT" in part for part in command):
        written.append(str(port))
    url = f"http://127.0.0.1:{port}"
    quiet = {**os.environ, "LITELLM_LOG": "ERROR", "LITELLM_MASTER_KEY": KEY, "TRUSTED_CUSTOM_HOSTS": "127.0.0.1"}
    began = time.perf_counter()
    process = subprocess.Popen(written, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=quiet)
    try:
        while True:
            try:
                with urlopen(url + path):
                    break
            except (URLError, OSError):
                if process.poll() is not None:
                    raise RuntimeError(f"{written} has ended") from None
                time.sleep(0.01)
        yield process, url, time.perf_counter() - began
    finally:
        process.terminate()
        process.wait()


HEALTH = {SEGUE: "/health/live", BARE: "/v1/messages", LITELLM: "/health/liveliness", PORTKEY: "/"}


@contextmanager
def proxies() -> Iterator[tuple[str, dict[str, Proxy]]]:
    """The provider's address, and every proxy."""
    with TemporaryDirectory() as folder, ExitStack() as stack:
        serve = [str(TESTS), "-m", "bench.gateway_provider", "provider", "PORT"]
        _, provider, _ = stack.enter_context(running(serve, PORT, "/"))
        found: dict[str, Proxy] = {}
        for at, (name, (command, headers, small, streams)) in enumerate(commands(Path(folder), provider).items()):
            process, url, start = stack.enter_context(running(command, PORT + 1 + at, HEALTH[name]))
            proxy = Proxy(process, url, headers, small, streams, start, 0.0)
            found[name] = proxy._replace(start_processor=proxy.processor())
        yield provider, found


# -- requests --------------------------------------------------------------------------------------------------------


def body(stream: bool) -> bytes:
    turns = [{"role": "user", "content": "Say hello."}]
    return json.dumps({"model": MODEL, "max_tokens": 100, "messages": turns, "stream": stream}).encode()


async def ask(client: aiohttp.ClientSession, proxy: Proxy, path: str, stream: bool) -> None:
    headers = {"content-type": "application/json", **proxy.headers}
    async with client.post(proxy.url + path, data=body(stream), headers=headers) as answer:
        data = await answer.read()
    good = ENDS.get(path, b"") in data or b"message_stop" in data if stream else b"Hello there." in data
    if answer.status != 200 or not good:
        raise RuntimeError(f"{proxy.url}{path}: {answer.status} {data[:500].decode(errors='replace')}")


async def ask_many(proxy: Proxy, path: str, stream: bool, count: int, at_once: int) -> None:
    left = iter(range(count))
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as client:

        async def work() -> None:
            for _ in left:
                await ask(client, proxy, path, stream)

        await asyncio.gather(*[work() for _ in range(at_once)])


def processor_time(proxy: Proxy, path: str, stream: bool) -> float:
    """Seconds of the processor per request."""
    count, at_once = (proxy.streams, STREAMS_AT_ONCE) if stream else (proxy.small, SMALL_AT_ONCE)
    before = proxy.processor()
    asyncio.run(ask_many(proxy, path, stream, count, at_once))
    return (proxy.processor() - before) / count


def streams_work(proxy: Proxy, path: str) -> bool:
    """Whether a stream arrives. Portkey 1.15.2 answers with 500, and logs "TypeError: immutable" (2026-11-18)."""
    try:
        asyncio.run(ask_many(proxy, path, True, 1, 1))
    except RuntimeError:
        return False
    return True


async def latency(proxy: Proxy, path: str) -> float:
    """The median of single requests, one after the other."""
    taken = []
    async with aiohttp.ClientSession() as client:
        for _ in range(SINGLE):
            began = time.perf_counter()
            await ask(client, proxy, path, False)
            taken.append(time.perf_counter() - began)
    return statistics.median(taken)


# -- tables ----------------------------------------------------------------------------------------------------------


def run() -> Iterator[Part]:
    if not TESTS.exists():
        yield Table("The gateway", ("", ""), [], ("Not measured: the environment of the tests is missing.",))
        return
    with proxies() as (provider, found):
        direct = Proxy(next(iter(found.values())).process, provider, {}, 0, 0, 0.0, 0.0)
        for title, path in PATHS.items():
            shown = {name: proxy for name, proxy in found.items() if name != BARE or path == "/v1/messages"}
            yield from speed(title, path, shown, direct)
        yield resources(found)
    yield growth()


def speed(title: str, path: str, found: dict[str, Proxy], direct: Proxy) -> Iterator[Table]:
    small: dict[str, list[float]] = {name: [] for name in found}
    streams: dict[str, list[float]] = {name: [] for name in found}
    added: dict[str, list[float]] = {name: [] for name in found}
    failing = {name for name, proxy in found.items() if not streams_work(proxy, path)}
    for at in range(ROUNDS + 1):  # the first one does not count
        for name, proxy in found.items():
            through = asyncio.run(latency(proxy, path)) - asyncio.run(latency(direct, "/v1/messages"))
            taken = processor_time(proxy, path, False)
            if at:
                small[name].append(taken)
                added[name].append(through)
            if name not in failing:
                taken = processor_time(proxy, path, True)
                streams[name] += [taken] if at else []
    for what, values in (("small requests, 16 at once", small), ("streams of 200 events, 8 at once", streams)):
        figures = {name: Figure.of(each) for name, each in values.items() if each}
        yield Table(
            f"{title}: {what}",
            ("", "processor time", "a second of processor time", "ratio"),
            [
                (name, cell(figure.times(1e3), "ms"), number(1 / figure.median), ratio(figure, figures[SEGUE], SEGUE))
                for name, figure in figures.items()
            ],
            tuple(f"{name} answered with an error." for name in values if name not in figures),
        )
    figures = {name: Figure.of(each) for name, each in added.items()}
    yield Table(
        f"{title}: what a single request takes longer than without a gateway, on the wall",
        ("", "added latency", "ratio"),
        [
            (name, cell(figure.times(1e3), "ms"), ratio(figure, figures[SEGUE], SEGUE))
            for name, figure in figures.items()
        ],
    )


def resources(found: dict[str, Proxy]) -> Table:
    rows = []
    for name, proxy in found.items():
        count = MEMORY_REQUESTS if name != LITELLM else MEMORY_REQUESTS // 10
        asyncio.run(ask_many(proxy, "/v1/messages", False, count, SMALL_AT_ONCE))
        memory = f"{proxy.memory() / 1e6:,.0f} MB after {count:,}"
        rows.append((name, f"{proxy.start:.2f} s", f"{proxy.start_processor:.2f} s", memory))
    return Table(
        "Start, and memory after requests",
        ("", "start, on the wall", "start, processor time", "memory"),
        rows,
        ("Memory is measured after small requests that follow everything above.",),
    )


def growth() -> Table:
    command = [str(TESTS), "-m", "bench.gateway_growth"]
    taken = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    figures = {name: Figure.of(rounds) for name, rounds in taken.items()}
    names = {"grown": "grown by one message", "scratch": "from scratch"}
    return Table(
        "Reading a conversation of 1,000 messages (1 MB)",
        ("", "processor time", "ratio"),
        [
            (text, cell(figures[name].times(1e3), "ms"), ratio(figures[name], figures["grown"]))
            for name, text in names.items()
        ],
    )


SECTION = Section(
    "gateway",
    "The gateway",
    run,
    "Every gateway has one process, and the same provider behind it, which answers at once. Processor time is that of "
    "the gateway's process. The bare pass-through (ASGI on uvicorn, aiohttp) forwards bytes and does nothing else.",
)
