"""`segue gateway` in processes of its own, a provider that numbers its answers, and one that serves many streams."""

import asyncio
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from aiohttp import web

from segue.testing import Fault, Reply
from segue.types import TextContent, ThinkingContent, ToolCall, ToolResultMessage
from segue.wire import signature_of
from support.gateways import Provider, Talk, written
from support.waiting import HANGS

MODEL = "claude-sonnet-4-5"
COMMAND = [sys.executable, "-m", "segue", "gateway"]


@contextmanager
def gateway(
    folder: Path, base_url: str, key: str | None, *flags: str, store: str = ""
) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """A process, and its address. Anthropic's API is at ``base_url``."""
    config = folder / "segue.toml"
    config.write_text(
        f'[gateway]\nlisten = "127.0.0.1:0"\nstore = "{store or folder / "gateway.db"}"\n'
        f'[providers.anthropic]\nbase_url = "{base_url}"\napi_key = "{key}"\n'
    )
    with started([*COMMAND, "--config", str(config), *flags], os.environ) as found:
        yield found


@contextmanager
def started(command: list[str], environment: Mapping[str, str]) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """The process of a command, and its address."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment)
    try:
        assert process.stdout is not None
        first = process.stdout.readline()
        assert "listens at http://" in first
        lines = [process.stdout.readline() for _ in range(6)]
        assert [line.split()[0] for line in lines[:3]] == ["Claude", "Codex", "Gemini"]
        yield process, first.split()[-1]
    finally:
        process.kill()
        process.wait(HANGS)
        if process.stdout is not None:
            process.stdout.close()


class Numbered(Provider):
    """Answers with a call, and its result with a text. Each answer has a number, and ``issued_for`` its signatures."""

    def __init__(self) -> None:
        super().__init__("anthropic")
        self._numbers = count(1)
        self.issued_for: dict[str, list[str]] = {}
        self.falls_silent = False
        """Whether the next answer stops in the middle, and the connection stays open."""

    def next_answer(self, body: Any) -> Reply | Fault:
        number = next(self._numbers)
        messages = self.conversation(body).messages
        thought = ThinkingContent(f"Thought {number}.")
        if self.falls_silent:
            self.falls_silent = False
            return Fault("silence", Reply([TextContent("This is the first half, and this is the rest.")]))
        if isinstance(messages[-1], ToolResultMessage):
            return Reply([thought, TextContent(f"Answer {number}.")])
        return Reply([thought, ToolCall("", "weather", {"city": f"Place {number}"})])

    def complete(self, reply: Reply, *arguments: Any, **named: Any) -> Any:
        answer = super().complete(reply, *arguments, **named)
        if isinstance(reply.content[0], ThinkingContent):
            number = re.findall(r"\d+", reply.content[0].thinking)[0]
            self.issued_for[number] = list(filter(None, map(signature_of, answer.content)))
        return answer

    def missing(self, talk: Talk, name: str) -> list[str]:
        """The numbers of answers that the client has, and whose signatures are not in the last request of its
        conversation, which is the one that contains ``name``."""
        last = next(body for body in reversed(self.requests) if name in written(body["messages"][0]))
        sent = written(last)
        seen = re.findall(r"(?:Answer|Place) (\d+)", written(talk.history[: len(talk.history) - 1]))
        return [each for each in seen if not all(signature in sent for signature in self.issued_for[each])]


class ManyStreams:
    """A provider of Anthropic's protocol for many streams at once, in a thread with an event loop.

    A stream has ``events`` texts. It pauses after the first one until ``together`` streams have begun, and for
    ``pause`` seconds after every other one. ``more`` follows each text.
    """

    def __init__(self, together: int, events: int, pause: float, more: str = "") -> None:
        self.together, self.events, self.pause, self.more = together, events, pause, more
        self._open = 0
        self.most_open = 0
        self._ready = threading.Event()

    def __enter__(self) -> "ManyStreams":
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._thread.start()
        assert self._ready.wait(HANGS)
        return self

    def __exit__(self, *error: Any) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(HANGS)

    async def _serve(self) -> None:
        self._loop, self._stop, self._all_begun = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()
        app = web.Application()
        app.router.add_post("/v1/messages", self._answer)
        runner = web.AppRunner(app, shutdown_timeout=1.0)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0, backlog=2048)
        await site.start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        self._ready.set()
        await self._stop.wait()
        await runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        await request.read()
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        await response.write(_START + _text(0, self.more))
        self._open += 1
        self.most_open = max(self.most_open, self._open)
        if self._open >= self.together:
            self._all_begun.set()
        await self._all_begun.wait()
        for number in range(1, self.events):
            await asyncio.sleep(self.pause)
            await response.write(_text(number, self.more))
        await response.write(_END)
        self._open -= 1
        return response


def _event(name: str, **fields: Any) -> bytes:
    return f"event: {name}\ndata: {json.dumps({'type': name, **fields})}\n\n".encode()


def _text(number: int, more: str) -> bytes:
    return _event("content_block_delta", index=0, delta={"type": "text_delta", "text": f"word{number} {more}"})


_MESSAGE = {
    "id": "msg_1", "type": "message", "role": "assistant", "model": MODEL, "content": [], "stop_reason": None,
    "stop_sequence": None, "usage": {"input_tokens": 10, "output_tokens": 1},
}  # fmt: skip
_START = _event("message_start", message=_MESSAGE) + _event(
    "content_block_start", index=0, content_block={"type": "text", "text": ""}
)
_END = (
    _event("content_block_stop", index=0)
    + _event("message_delta", delta={"stop_reason": "end_turn", "stop_sequence": None}, usage={"output_tokens": 200})
    + _event("message_stop")
)
