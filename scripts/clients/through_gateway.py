"""A client through the gateway to a strict stand-in of another family: turns, switches, failures."""

import asyncio
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from clients.homes import Home
from clients.rows import FAMILIES, LAST, SHELLS, Ask, Client
from segue.gateway import Config, Gateway, Member, RouteSetting
from segue.gateway.config import GatewaySetting, ProviderSetting
from segue.gateway.server import make_server
from segue.testing import Fault, Reply, StandIn
from segue.types import Context, TextContent, ThinkingContent, ToolCall, UserMessage

PROMPT = "Say hello with the shell"
CUT = Reply([TextContent("Half of an answer that is cut off in the middle.")])


def answering(text: str, on_call: Callable[[], None] = lambda: None) -> Callable[[Context], Reply]:
    """A script: call the shell after a message of the user, and say the final text after the result."""

    def answer(context: Context) -> Reply:
        typed = [each for each in context.messages if not (isinstance(each, UserMessage) and each.injected)]
        shell = next((tool for tool in context.tools if tool.name in SHELLS), None)
        if shell is not None and isinstance(typed[-1], UserMessage):
            on_call()
            return Reply([ThinkingContent("Let me think."), shell_call(shell, "echo hello")])
        return Reply([ThinkingContent("Now I know."), TextContent(text)])

    return answer


def shell_call(tool: Any, command: str) -> ToolCall:
    """A call of the client's shell, with the arguments that its schema asks for."""
    fields = tool.schema.get("properties", {})
    wanted = dict.fromkeys([*tool.schema.get("required", []), *(each for each in ("command", "cmd") if each in fields)])
    shown = {"array": ["bash", "-c", command], "boolean": False, "number": 60_000, "integer": 60_000}
    return ToolCall("", tool.name, {name: shown.get(fields[name].get("type"), command) for name in wanted})


class Bench:
    """A gateway with a stand-in for each family behind it, and one client."""

    def __init__(self, client: Client) -> None:
        self.standins = {
            name: StandIn(each.provider, protocol=each.protocol).start() for name, each in FAMILIES.items()
        }
        providers = {
            each.provider: ProviderSetting(
                base_url=self.standins[name].url, api_key=self.standins[name].key, protocol=each.protocol
            )
            for name, each in FAMILIES.items()
        }
        routes = tuple(_route(f"to-{name}", name) for name in FAMILIES)
        folder = Path(tempfile.mkdtemp(prefix="segue-client-"))
        settings = GatewaySetting(listen="127.0.0.1:0", store=str(folder / "gateway.db"))
        self.gateway = Gateway(Config(gateway=settings, routes=routes, providers=providers))
        self.server = make_server(self.gateway, host="127.0.0.1", port=0)
        threading.Thread(target=self.server.run, daemon=True).start()
        while not self.server.started:
            time.sleep(0.05)
        self.home = Home(client, f"http://127.0.0.1:{self.server.servers[0].sockets[0].getsockname()[1]}", folder)
        self.count = 0

    def turn(self, model: str, family: str, *faults: Any, again: bool = True, on_call: Any = lambda: None) -> str:
        """Run one turn, which ``family`` has to answer. Return an empty text, or what went wrong."""
        self.count += 1
        text = f"Final text {self.count} of {family}."
        for name, standin in self.standins.items():
            standin.refused.clear()
            standin._script.clear()
            asked = [*faults, *[answering(text, on_call)] * 12]
            standin.say(*(asked if name == family else [f"An answer of {name}, which was not asked."] * 12))
        ended = self.home.turn(Ask(model, PROMPT, LAST if again else ""))
        return found_wrong(ended, text, list(self.standins.values()))

    def route(self, family: str) -> None:
        """Let the name ``moving`` lead to a family."""
        asyncio.run(self.gateway.store.set_route(_route("moving", family)))
        time.sleep(1)  # a worker applies a change within a second

    def close(self) -> None:
        """Stop everything."""
        self.server.should_exit = True
        for standin in self.standins.values():
            standin.stop()


def found_wrong(ended: Any, text: str, standins: list[StandIn]) -> str:
    """Why a turn does not count: something was refused, or it did not end with the final text. Empty if it does."""
    refused = [each for standin in standins for each in standin.refused if each.status == 400]
    if refused:
        return f"refused: {refused[0].text[:300]}"
    if ended.status is None:
        return "no end"
    return "" if text in ended.output else f"status {ended.status}: {(ended.errors or ended.output)[-300:]}"


def _route(name: str, family: str) -> RouteSetting:
    return RouteSetting(name=name, models=(Member(model=FAMILIES[family].model),))


def _switched(bench: Bench, family: str, other: str) -> str:
    """The route changes while the turn runs; it is bound until it ends, and the next turn follows the route."""
    bench.route(family)
    found = bench.turn("moving", family, on_call=lambda: bench.route(other))
    return found or bench.turn("moving", other)


CASES: dict[str, Callable[[Bench, str, str], str]] = {
    "tool turn": lambda bench, family, other: bench.turn(f"to-{family}", family, again=False),
    "second turn, resumed": lambda bench, family, other: bench.turn(f"to-{family}", family),
    "another family": lambda bench, family, other: bench.turn(f"to-{other}", other),
    "and back": lambda bench, family, other: bench.turn(f"to-{family}", family),
    "529 twice": lambda bench, family, other: bench.turn(
        f"to-{family}", family, Fault("overloaded"), Fault("overloaded")
    ),
    "switch in a running turn": _switched,
    "cut after the first content": lambda bench, family, other: bench.turn(f"to-{family}", family, Fault("cut", CUT)),
}
"""The cases, in order: each continues the conversation of the one before."""


def run(client: Client, family: str, report: Callable[[str, str], None]) -> None:
    """Run all cases of a client and a family, and report the outcome of each."""
    bench = Bench(client)
    other = next(name for name in FAMILIES if name != family)
    for case, check in CASES.items():
        report(case, check(bench, family, other))
    bench.close()
