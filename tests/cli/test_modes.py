"""Tools run in the same way everywhere: one turn with five calls in the chat, in `segue run` and in a sub-agent.

Schedule, approval, results and stored history are the same, byte for byte, apart from times, keys and session names.
The log has results in the order of completion; the tests compare the state, which has them in the order of the calls.
"""

import asyncio
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
from support.kitchen import MODEL, Terminal, calls, environment, kitchen
from support.secrets import no_key_is_shown
from support.waiting import free_port

import segue
from segue.agent import Agent
from segue.agent.state import rebuilt
from segue.catalog import Catalog
from segue.cli import main
from segue.cli.run import DENIED
from segue.session import SEPARATOR, CallStarted, MessageAdded, open_store
from segue.testing import Reply, StandIn
from segue.tools import Allow, Approval, ApprovalRequest, Deny
from segue.tools.files import file_tools
from segue.tools.shell import shell_tool
from segue.types import TextContent, ThinkingContent, ToolCall, ToolResultMessage

__all__ = ["no_key_is_shown"]
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pexpect needs a Unix terminal")

PROMPT = "Do all five."
BATCHES = {
    "results of every kind": [
        ("read_file", {"path": "menu.txt"}),
        ("shell", {"command": "seq 1 40000"}),  # longer than a result may be
        ("write_file", {"path": "menu.txt", "content": "stew"}),  # denied
        ("bake", {"bread": 3}),  # there is no such tool
        ("read_file", {"road": "menu.txt"}),  # arguments that do not fit
    ],
    "side by side": [
        ("read_file", {"path": "menu.txt", "lines": "1"}),
        ("search_files", {"pattern": "soup"}),
        ("list_files", {}),
        ("read_file", {"path": "../secret.txt"}),
        ("read_file", {"path": "picture.png"}),
    ],
    "one alone among others": [
        ("read_file", {"path": "menu.txt"}),
        ("search_files", {"pattern": "soup"}),
        ("shell", {"command": "echo done"}),
        ("list_files", {}),
        ("read_file", {"path": "menu.txt", "lines": "1"}),
    ],
}
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360f8cf500f000306010000"
    "0000ffff0300051c02fe8b7f5b0000000049454e44ae426082"
)


def script(batch: str) -> list[Any]:
    """The answers of the model."""
    asks = [ThinkingContent("All at once."), TextContent("I do."), *calls(*BATCHES[batch]).content]
    return [Reply(asks), "All done."]


def through_chat(folder: Path, server: StandIn, batch: str) -> None:
    with Terminal(environment(folder, server.url), "--model", MODEL, "--root", "pantry", cwd=folder) as terminal:
        terminal.sees("/help lists")
        terminal.says(PROMPT)
        for asking, answer in (("shell", "y"), ("write_file", f"n {DENIED}")):
            if asking in dict(BATCHES[batch]):
                terminal.sees(f"may {asking} run?")
                terminal.types(answer)
        terminal.hears("All done.")
        terminal.presses("d")
        terminal.leaves()


def through_run(folder: Path, server: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in environment(folder, server.url).items():
        monkeypatch.setenv(name, value)
    where = ["--store", str(folder / "sessions.db"), "--root", str(folder / "pantry")]
    assert main(["run", PROMPT, "--model", MODEL, "--allow", "shell", "--quiet", *where]) == 0


def through_sub_agent(folder: Path, server: StandIn) -> None:
    """An agent, on its own stand-in, calls the sub-agent."""

    def approve(request: ApprovalRequest) -> Approval:
        return Allow() if request.tool.name == "shell" else Deny(DENIED)

    async def sent() -> None:
        tools = [*file_tools(folder / "pantry"), shell_tool(folder / "pantry")]
        here = segue.Connection(base_url=server.url)
        store = open_store(folder / "sessions.db")
        order = Reply([ToolCall("toolu_1", "cook", {"task": PROMPT})])
        with kitchen(order, "Well done.") as office, store:
            there = segue.Connection(base_url=office.url)
            model = Catalog.default().resolve(MODEL)
            async with (
                Agent(model, tools, approve=approve, connection=here) as cook,
                Agent(model, [cook.as_tool("cook", "Cooks")], store=store, connection=there) as chief,
            ):
                assert (await chief.run("Have it done.")).text == "Well done."

    asyncio.run(sent())


def stored(folder: Path) -> list[Any]:
    """The state of the session that ran the batch, and its entries that are not messages, without what must differ."""
    with open_store(folder / "sessions.db", create=False) as store:
        sessions = store.sessions()
        below = [info.id for info in sessions if SEPARATOR in info.id]
        [session] = below or [info.id for info in sessions]
        log = [stored.entry for stored in store.read(session)]
    state = rebuilt(log)
    steps = [entry for entry in log if not isinstance(entry, MessageAdded)]
    values = msgspec.to_builtins([state.system_prompt, state.messages, state.model, state.origins, steps])
    return cast(list[Any], _without(values, {"key", "time", "timestamp", "owner"}))


def _without(value: Any, names: set[str]) -> Any:
    if isinstance(value, dict):
        return {name: _without(inner, names) for name, inner in value.items() if name not in names}
    return [_without(inner, names) for inner in value] if isinstance(value, list) else value


@pytest.mark.parametrize("batch", BATCHES)
def test_five_calls_run_and_are_stored_in_the_same_way_in_every_mode(
    batch: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # long outputs are stored there, under the same name in each mode
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))  # this process has read TMPDIR before
    (tmp_path / "secret.txt").write_text("not for you")
    (tmp_path / "pantry").mkdir()
    modes: dict[str, Callable[[Path, StandIn], None]] = {
        "run": lambda folder, server: through_run(folder, server, monkeypatch),
        "sub-agent": through_sub_agent,
        "chat": lambda folder, server: through_chat(folder, server, batch),
    }
    histories, requests, port = (
        {},
        {},
        free_port(),
    )  # answers have a fingerprint of their endpoint, so all modes use the same one
    for mode, drive in modes.items():
        folder = tmp_path / mode
        folder.mkdir()
        (folder / "pantry").symlink_to(tmp_path / "pantry")
        (tmp_path / "pantry" / "menu.txt").write_text("leek soup\nbread\n")
        (tmp_path / "pantry" / "picture.png").write_bytes(PIXEL)
        with kitchen(*script(batch), port=port) as server:
            drive(folder, server)
        histories[mode] = json.dumps(stored(folder), indent=1)
        requests[mode] = json.dumps(server.requests, indent=1)
        assert not server.refused
    assert histories["run"] == histories["chat"]
    assert histories["run"] == histories["sub-agent"]
    assert requests["run"] == requests["chat"] == requests["sub-agent"]
    _check_results(batch, tmp_path / "chat")


def _check_results(batch: str, folder: Path) -> None:
    """Check that each call has one result, in the order of the calls, and that the allowed calls have run."""
    with open_store(folder / "sessions.db", create=False) as store:
        log = [stored.entry for stored in store.read(store.sessions()[0].id)]
    results = [message for message in rebuilt(log).messages if isinstance(message, ToolResultMessage)]
    assert [result.tool_name for result in results] == [name for name, _ in BATCHES[batch]]
    assert [result.tool_call_id for result in results] == [f"call_{at}" for at in range(1, 6)]
    started = [entry.call for entry in log if isinstance(entry, CallStarted)]
    allowed = [1, 2] if batch == "results of every kind" else [1, 2, 3, 4, 5]
    assert started == [f"call_{at}" for at in allowed]
    assert (folder / "pantry" / "menu.txt").read_text() == "leek soup\nbread\n", "the denied call did not run"
