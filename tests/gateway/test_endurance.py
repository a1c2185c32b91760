"""Many streams at once, kills in mid-stream, and replicas that lose each other or their database. The large versions
run with `make endurance`."""

import asyncio
import contextlib
import itertools
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import aiohttp
import httpx2
import openai
import psutil
import pytest
from support.corpora import IS_LARGE
from support.gateway_processes import MODEL, ManyStreams, Numbered, gateway
from support.gateways import ChatTalk
from support.postgres import Postgres, running
from support.waiting import HANGS, until

STREAMS, EVENTS, PAUSE, WAVES, SECONDS = (500, 40, 0.5, 0, 120.0) if IS_LARGE else (40, 20, 0.0, 6, 0.0)
KILLS = 100 if IS_LARGE else 2
TALKS, TURNS, RESTARTS = (12, 40, 5) if IS_LARGE else (3, 6, 1)
FLAT = 1.15
"""How much memory may grow between a third of the way and the end: allocators keep some of what was freed."""
PATHS = ("/v1/messages", "/v1/chat/completions")
LAST = {"/v1/messages": "message_stop", "/v1/chat/completions": "[DONE]"}
BROKEN = (openai.OpenAIError, httpx2.HTTPError)


async def read_stream(client: aiohttp.ClientSession, url: str, path: str, number: int) -> None:
    """Ask for a stream, and check that all of it arrives."""
    turns = [{"role": "user", "content": f"Stream {number}"}]
    body = {"model": MODEL, "max_tokens": 1000, "stream": True, "messages": turns}
    async with client.post(url + path, json=body) as answer:
        text = (await answer.read()).decode()
    assert answer.status == 200, text
    assert text.count("word") == EVENTS and LAST[path] in text


async def read_streams(url: str, process: psutil.Process) -> list[int]:
    """Keep ``STREAMS`` streams open, wave after wave or for some time, and return the memory as it was meanwhile."""
    numbers, memory, began = itertools.count(), list[int](), time.monotonic()
    connector = aiohttp.TCPConnector(limit=0)
    timeout = aiohttp.ClientTimeout(total=HANGS)

    async def one(path: str) -> None:
        for wave in itertools.count(1):
            await read_stream(client, url, path, next(numbers))
            if wave >= WAVES and time.monotonic() - began >= SECONDS:
                return

    async def watch() -> None:
        while True:
            memory.append(process.memory_info().rss)
            await asyncio.sleep(SECONDS / 100 or 0.02)

    async with aiohttp.ClientSession(connector=connector, timeout=timeout) as client:
        watching = asyncio.create_task(watch())
        await asyncio.gather(*[one(PATHS[at % 2]) for at in range(STREAMS)])
        watching.cancel()
    return [*memory, process.memory_info().rss]


def test_many_streams_at_once_are_whole_and_memory_stays_flat(tmp_path: Path) -> None:
    with (
        ManyStreams(STREAMS, EVENTS, PAUSE) as provider,
        gateway(tmp_path, provider.url, "k") as (process, url),
    ):
        memory = asyncio.run(read_streams(url, psutil.Process(process.pid)))
        assert provider.most_open == STREAMS
        settled = max(memory[: len(memory) // 3])
        print(f"{STREAMS} streams at once: {settled / 1e6:.0f} MB, then {max(memory) / 1e6:.0f} MB")
        assert max(memory) < FLAT * settled


def test_after_each_sigkill_in_mid_stream_the_conversation_continues(tmp_path: Path) -> None:
    """Recall has every answer whose end was sent."""
    with Numbered() as standin:
        talk: ChatTalk | None = None
        for number in range(KILLS + 1):
            with gateway(tmp_path, standin.url, standin.key) as (process, url):
                if talk is None:
                    talk = ChatTalk(url)
                talk.connect(url, "k")
                assert talk.say(MODEL, f"Question {number}", stream=bool(number % 2)).startswith("Answer ")
                assert standin.missing(talk, "Question 0") == []
                standin.falls_silent = True
                asked: dict[str, Any] = {"model": MODEL, "messages": [*talk.history, {"role": "user", "content": "Go"}]}
                with talk.sdk.chat.completions.create(**asked, stream=True) as stream:
                    assert any(chunk.choices[0].delta.content for chunk in stream)
                    process.send_signal(signal.SIGKILL)
                    process.wait(HANGS)
                    with pytest.raises(BROKEN):
                        list(stream)
        assert standin.refused == []


class Crowd:
    """Conversations that change replicas at every turn, in threads. After a failure, a client asks the other one."""

    def __init__(self, urls: list[str], standin: Numbered) -> None:
        self.urls, self._standin = urls, standin
        self.turns = 0
        self.failures: list[str] = []
        self._lock = threading.Lock()

    def talk(self, number: int) -> list[str]:
        """Talk for some turns, and return the numbers of answers that were not recalled."""
        talk, missing = ChatTalk(self.urls[0]), list[str]()
        for turn in range(TURNS):
            chosen = (number + turn) % 2
            talk.user(f"Conversation {number}." if turn == 0 else f"Question {turn}?")
            answer = None
            while answer is None:
                talk.connect(self.urls[chosen], "k")
                try:
                    answer = talk.ask(MODEL, stream=bool(turn % 2))
                except BROKEN:
                    with self._lock:
                        self.failures.append(self.urls[chosen])
                    chosen = 1 - chosen
            missing += self._standin.missing(talk, f"Conversation {number}.")
            with self._lock:
                self.turns += 1
        return missing

    def until_part(self, part: float) -> None:
        """Wait until this part of all turns has been completed."""
        until(lambda: self.turns >= part * TALKS * TURNS)


@pytest.fixture
def own_postgres() -> Iterator[Postgres]:
    """A server that only this test uses."""
    with running() as server:
        yield server


def test_replicas_survive_each_other_and_a_restart_of_their_database(tmp_path: Path, own_postgres: Postgres) -> None:
    """Only requests of the killed replica fail, and nothing is forgotten."""
    store = own_postgres.fresh()
    folders = [tmp_path / "one", tmp_path / "two"]
    with contextlib.ExitStack() as stack:
        standin = stack.enter_context(Numbered())
        started = []
        for folder in folders:
            folder.mkdir()
            started.append(stack.enter_context(gateway(folder, standin.url, standin.key, store=store)))
        crowd = Crowd([url for _, url in started], standin)
        threads = stack.enter_context(ThreadPoolExecutor(TALKS))
        talks = [threads.submit(crowd.talk, number) for number in range(TALKS)]
        crowd.until_part(0.2)
        started[1][0].send_signal(signal.SIGKILL)
        for restart in range(RESTARTS):
            crowd.until_part(0.4 + 0.5 * restart / RESTARTS)
            with own_postgres.away():
                pass
        assert [talk.result(HANGS) for talk in talks] == [[]] * TALKS
        print(f"{crowd.turns} turns, {len(crowd.failures)} failures")
        assert set(crowd.failures) <= {started[1][1]}
        assert standin.refused == []
