"""Run the real clients through the gateway to strict stand-ins of other families, and print a table of the results.

`make clients` installs them from npm, at the versions below, into a cache directory. Results are kept there, too: a run
that was interrupted continues where it stopped. `--again` starts anew. No provider and no key is needed.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from segue.gateway import Config, Gateway, Member, RouteSetting
from segue.gateway.config import GatewaySetting, ProviderSetting
from segue.gateway.server import make_server
from segue.testing import Fault, Reply, StandIn
from segue.types import Context, TextContent, ThinkingContent, ToolCall, UserMessage

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "segue-clients"
PROMPT = "Say hello with the shell"
SHELLS = ("Bash", "bash", "shell", "exec_command", "shell_command", "run_shell_command")
FAMILIES = {
    "anthropic": ("anthropic/claude-sonnet-4-5", "anthropic-messages"),
    "openai": ("openai/gpt-5.1", "openai-responses"),
    "google": ("google/gemini-2.5-pro", "google-generative-ai"),
}
SECONDS = 120


class Client(NamedTuple):
    """A client: its package, the families that it is sent to, its files, variables and commands."""

    package: str
    families: tuple[str, ...]
    prepare: Callable[[Path, str], None]
    variables: Callable[[str], dict[str, str]]
    command: Callable[[str, str, bool], list[str]]


def _claude(url: str, model: str, again: bool) -> list[str]:
    more = ["-c"] if again else []
    return ["claude", *more, "-p", PROMPT, "--allowedTools", "Bash", "--output-format", "json", "--model", model]


def _codex(url: str, model: str, again: bool) -> list[str]:
    more = ["resume", "--last"] if again else []
    flags = ["--skip-git-repo-check", "--json", "--dangerously-bypass-approvals-and-sandbox"]
    return ["codex", "exec", *more, *flags, "-m", model, PROMPT]


def _codex_files(home: Path, url: str) -> None:
    folder = home / ".codex"
    folder.mkdir(exist_ok=True)
    provider = f'[model_providers.gw]\nname = "gw"\nbase_url = "{url}/v1"\nenv_key = "GW_KEY"\nwire_api = "responses"\n'
    (folder / "config.toml").write_text(f'model_provider = "gw"\n{provider}')


def _gemini(url: str, model: str, again: bool) -> list[str]:
    more = ["--resume", "latest"] if again else []
    return ["gemini", "--yolo", "--skip-trust", "-o", "json", "-m", model, *more, "-p", PROMPT]


def _gemini_files(home: Path, url: str) -> None:
    folder = home / ".gemini"
    folder.mkdir(exist_ok=True)
    (folder / "settings.json").write_text('{"security": {"auth": {"selectedType": "gemini-api-key"}}}')


CLIENTS: dict[str, Client] = {
    "Claude Code": Client(
        "@anthropic-ai/claude-code@2.1.197",
        ("openai", "google"),
        lambda home, url: None,
        lambda url: {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "k", "DISABLE_AUTOUPDATER": "1"},
        _claude,
    ),
    "Codex": Client(
        "@openai/codex@0.169.0", ("anthropic", "google"), _codex_files, lambda url: {"GW_KEY": "k"}, _codex
    ),
    "Gemini CLI": Client(
        "@google/gemini-cli@0.61.0",
        ("openai", "anthropic"),
        _gemini_files,
        lambda url: {
            "GOOGLE_GEMINI_BASE_URL": url,
            "GEMINI_API_KEY": "k",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        },
        _gemini,
    ),
}


def answering(family: str, on_call: Callable[[], None] = lambda: None) -> Callable[[Context], Reply]:
    """A script: call the shell after a message of the user, and say the final text after the result."""

    def answer(context: Context) -> Reply:
        typed = [each for each in context.messages if not (isinstance(each, UserMessage) and each.injected)]
        shell = next((tool for tool in context.tools if tool.name in SHELLS), None)
        if shell is not None and isinstance(typed[-1], UserMessage):
            on_call()
            return Reply([ThinkingContent("Let me think."), ToolCall("", shell.name, _arguments(shell.schema))])
        return Reply([ThinkingContent("Now I know."), TextContent(f"Final text of {family}.")])

    return answer


def _arguments(schema: dict[str, Any]) -> dict[str, Any]:
    fields = schema.get("properties", {})
    wanted = dict.fromkeys([*schema.get("required", []), *(name for name in ("command", "cmd") if name in fields)])
    return {name: ["echo", "hello"] if fields[name].get("type") == "array" else "echo hello" for name in wanted}


class Bench:
    """A gateway with three stand-ins behind it, and one client in an empty home."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.home = Path(tempfile.mkdtemp(prefix="segue-client-"))
        self.standins = {
            family: StandIn(ref.partition("/")[0], protocol=protocol).start()
            for family, (ref, protocol) in FAMILIES.items()
        }
        providers = {
            ref.partition("/")[0]: ProviderSetting(
                base_url=self.standins[family].url, api_key=self.standins[family].key, protocol=protocol
            )
            for family, (ref, protocol) in FAMILIES.items()
        }
        routes = tuple([_route(f"to-{family}", family) for family in FAMILIES])
        settings = GatewaySetting(listen="127.0.0.1:0", store=str(self.home / "gateway.db"))
        self.gateway = Gateway(Config(gateway=settings, routes=routes, providers=providers))
        self.server = make_server(self.gateway, host="127.0.0.1", port=0)
        threading.Thread(target=self.server.run, daemon=True).start()
        while not self.server.started:
            time.sleep(0.05)
        self.url = f"http://127.0.0.1:{self.server.servers[0].sockets[0].getsockname()[1]}"
        (self.home / "work").mkdir()
        client.prepare(self.home, self.url)

    def say(self, family: str, *script: Any) -> None:
        """Set the script of a stand-in, for one turn."""
        self.standins[family]._script.clear()
        self.standins[family].say(*script, *[answering(family)] * 12)

    def turn(self, model: str, expected: str, again: bool) -> str:
        """Run one turn of the client. Return an empty text, or what went wrong."""
        variables = {
            "PATH": f"{CACHE / 'node_modules' / '.bin'}:{os.environ['PATH']}",
            "HOME": str(self.home),
            "TERM": "dumb",
            **self.client.variables(self.url),
        }
        command = self.client.command(self.url, model, again)
        try:
            done = subprocess.run(
                command,
                cwd=self.home / "work",
                env=variables,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=SECONDS,
            )
        except subprocess.TimeoutExpired:
            return "no end"
        refused = [str(each) for standin in self.standins.values() for each in standin.refused if each.status == 400]
        if refused:
            return f"refused: {refused[0][:200]}"
        return "" if expected in done.stdout else f"status {done.returncode}: {(done.stderr or done.stdout)[-200:]}"

    def close(self) -> None:
        """Stop everything."""
        self.server.should_exit = True
        for standin in self.standins.values():
            standin.stop()


def _route(name: str, family: str) -> RouteSetting:
    return RouteSetting(name=name, models=(Member(model=FAMILIES[family][0]),))


def cases(bench: Bench, family: str, other: str) -> dict[str, Callable[[], str]]:
    """The cases for one client and family, in order: each continues the conversation of the one before."""
    final, cut = f"Final text of {family}.", Reply([TextContent("Half of an answer that is cut off in the middle.")])

    def turn(model: str, text: str, *script: Any, again: bool = True, whose: str = family) -> str:
        bench.say(whose, *script)
        return bench.turn(model, text, again)

    def switched() -> str:
        """The route changes while the turn runs; it is bound until it ends, and the next turn follows the route."""
        bench.say(other)

        def move() -> None:
            asyncio.run(bench.gateway.store.set_route(_route("moving", other)))
            time.sleep(1)

        asyncio.run(bench.gateway.store.set_route(_route("moving", family)))
        time.sleep(1)
        found = turn("moving", final, answering(family, move))
        return found or bench.turn("moving", f"Final text of {other}.", True)

    return {
        "tool turn": lambda: turn(f"to-{family}", final, again=False),
        "second turn, resumed": lambda: turn(f"to-{family}", final),
        "another family": lambda: turn(f"to-{other}", f"Final text of {other}.", whose=other),
        "and back": lambda: turn(f"to-{family}", final),
        "529 twice": lambda: turn(f"to-{family}", final, Fault("overloaded"), Fault("overloaded")),
        "switch in a running turn": switched,
        "cut after the first content": lambda: turn(f"to-{family}", final, Fault("cut", cut)),
    }


def install(names: list[str]) -> None:
    """Install the clients that are missing."""
    packages = ["node@22", *(CLIENTS[name].package for name in names)]
    mark = CACHE / "installed.json"
    if not mark.exists() or json.loads(mark.read_text()) != packages:
        CACHE.mkdir(parents=True, exist_ok=True)
        subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--prefix", str(CACHE), *packages], check=True)
        mark.write_text(json.dumps(packages))


def main() -> int:
    """Run what has no result yet, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clients", nargs="*", help=f"of {', '.join(CLIENTS)} (default: all)")
    parser.add_argument("--again", action="store_true", help="forget the results of earlier runs")
    args = parser.parse_args()
    names = args.clients or list(CLIENTS)
    install(names)
    kept = CACHE / "results.json"
    results: dict[str, str] = {} if args.again or not kept.exists() else json.loads(kept.read_text())
    for name in names:
        for family in CLIENTS[name].families:
            if all(f"{name} → {family}: {case}" in results for case in CASES):
                continue
            bench = Bench(CLIENTS[name])
            other = next(each for each in FAMILIES if each != family)
            for case, run in cases(bench, family, other).items():
                results[f"{name} → {family}: {case}"] = found = run()
                print(f"{name} → {family}: {case}: {found or 'ok'}", file=sys.stderr, flush=True)
                kept.write_text(json.dumps(results, indent=1, ensure_ascii=False))
            bench.close()
    print(f"| client | {' | '.join(CASES)} |\n|---|{'---|' * len(CASES)}")
    for name in names:
        for family in CLIENTS[name].families:
            found_here = [results.get(f"{name} → {family}: {case}") for case in CASES]
            print(f"| {name} → {family} | {' | '.join('yes' if each == '' else 'no' for each in found_here)} |")
    return 1 if any(results.values()) else 0


CASES = (
    "tool turn",
    "second turn, resumed",
    "another family",
    "and back",
    "529 twice",
    "switch in a running turn",
    "cut after the first content",
)

if __name__ == "__main__":
    sys.exit(main())
