"""A process that runs turns until it is killed. It forks a child for each line of its standard input, so that each
child starts quickly, from a process that has loaded everything and has neither threads nor connections."""

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from random import Random
from signal import SIGKILL
from subprocess import PIPE, Popen
from typing import Any

import httpx2

from segue import Agent, Connection, RoundRobin, Session, Settings
from segue.agent.events import TurnEvent
from segue.agent.turn import run_turn
from segue.session import open_store
from segue.tools import Journal, ToolLimits
from segue.types import Model, TextContent, ToolCall, ToolResultMessage, UserMessage
from support.providers import MODELS, OPTIONS, WEATHER

ONE, OTHER = "anthropic-messages", "openai-completions"
"""The protocols of the lead and of the worker in a batch."""


def emit(**what: Any) -> None:
    os.write(1, json.dumps(what).encode() + b"\n")  # one write, so that lines of two processes do not mix


class AtOnce:
    """Starts all calls and finishes them in any order, after short waits."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance

    async def run(self, calls: Sequence[ToolCall], journal: Journal, emit: Any) -> None:
        waiting = list(calls)
        begun: list[ToolCall] = []
        while waiting or begun:
            if waiting and (not begun or self.chance.random() < 0.5):
                begun.append(waiting.pop(0))
                await journal.started(begun[-1])
            else:
                await asyncio.sleep(self.chance.random() / 500)
                call = begun.pop(self.chance.randrange(len(begun)))
                result = ToolResultMessage(call.id, call.name, [TextContent(f"real result of {call.id}")])
                await journal.finished(result)


@asynccontextmanager
async def reached(standins: dict[str, tuple[str, str]]) -> AsyncIterator[dict[str, Any]]:
    """The settings of a session whose models are these stand-ins."""
    async with httpx2.AsyncClient(verify=False, timeout=None) as http:

        def connection(model: Model) -> Connection:
            url, key = standins[model.protocol]
            return Connection(base_url=url, api_key=key, http=http)

        yield {"tools": [WEATHER], "settings": Settings(options=OPTIONS), "connection": connection}


async def warm(standins: dict[str, tuple[str, str]]) -> None:
    """Load everything that a turn needs, so that children do not have to."""
    async with reached(standins) as settings:
        with open_store(":memory:") as store:
            session = Session.create(RoundRobin(MODELS.values()), store=store, **settings)
            for _ in MODELS:
                await session.ask("Weather?", AtOnce(Random(0)))


async def turns(where: str, session_id: str, standins: dict[str, tuple[str, str]], seed: int) -> None:
    async with reached(standins) as settings:
        router = RoundRobin(MODELS.values())
        session = Session.open(session_id, router, store=open_store(where), **settings)
        while True:
            async for _ in session.stream("Weather?", AtOnce(Random(seed))):
                emit(head=session.log.head)


async def waits(seconds: float) -> str:
    """Wait without blocking."""
    await asyncio.sleep(seconds)
    return f"waited {seconds}"


def blocks(seconds: float) -> str:
    """Wait in a thread."""
    time.sleep(seconds)
    return f"blocked {seconds}"


async def batch(where: str, session_id: str, standins: dict[str, tuple[str, str]], parallel: int) -> None:
    """Run one turn with a batch of calls, including sub-agents. Each event is written as a line when it is
    reported."""

    def report(event: TurnEvent) -> None:
        call = getattr(event, "call", None)
        result = getattr(event, "result", None)
        done = getattr(event, "state", "") == "success" or (result is not None and not result.synthetic)
        named = call.id if call is not None else result.tool_call_id if result is not None else ""
        emit(event=event.type, call=named, done=done)

    async with reached(standins) as settings:
        del settings["tools"]
        store = open_store(where)
        settings["settings"] = Settings(options=OPTIONS, tool_limits=ToolLimits(parallel=parallel))
        worker = Agent(MODELS[OTHER], [waits, blocks], store=store, **settings)
        lead = Agent(
            session=Session.open(session_id, MODELS[ONE], store=store, **settings),
            tools=[waits, blocks, worker.as_tool("worker", "Does parts of it.")],
        )
        await run_turn(lead.session, UserMessage("All of it."), lead.scheduler, report)


def main() -> None:
    warmed = False
    for line in sys.stdin:
        asked = json.loads(line)
        work = {"turns": turns, "batch": batch}[asked.pop("work", "turns")]
        if not warmed:
            asyncio.run(warm(asked["standins"]))
            warmed = True
        child = os.fork()
        if not child:
            os.close(0)
            try:
                asyncio.run(work(**asked))
                os._exit(0)
            except BaseException as error:  # noqa: BLE001, the child must not return to the loop of the parent
                emit(error=repr(error))
                os._exit(1)
        emit(child=child)
        os.waitpid(child, 0)
        emit(gone=child)


class Victims:
    """The process that makes victims."""

    def __init__(self, process: "Popen[bytes]") -> None:
        self.process = process

    def killed(self, after: int, pause: float = 0, **asked: Any) -> list[dict[str, Any]]:
        """Run turns, kill the process after ``after`` lines of output, and return all lines."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(asked).encode() + b"\n")
        self.process.stdin.flush()
        child, doomed, lines = 0, False, list[dict[str, Any]]()
        for line in self.process.stdout:
            report = json.loads(line)
            assert "error" not in report, report
            if "gone" in report:
                return lines
            if "child" in report:
                child = report["child"]
            else:
                lines.append(report)
            if child and len(lines) >= after and not doomed:
                time.sleep(pause)
                os.kill(child, SIGKILL)
                doomed = True
        raise AssertionError("the process that makes victims is gone")


@contextmanager
def victims() -> Iterator[Victims]:
    tests = str(Path(__file__).parents[1])
    code = f"import sys; sys.path.insert(0, {tests!r}); from support.victim import main; main()"
    with Popen([sys.executable, "-c", code], stdin=PIPE, stdout=PIPE) as process:
        try:
            yield Victims(process)
        finally:
            process.kill()
