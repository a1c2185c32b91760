"""`segue sessions check`: reports what a model would receive of a session, and changes nothing."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.journeys import IMAGE, ORIGINS, journey
from support.providers import MODELS

from segue.cli import main
from segue.session import Compacted, MessageAdded, TurnBegun, TurnEnded, export_session, open_store
from segue.types import AssistantMessage, TextContent, ToolCall, ToolResultMessage, UserMessage

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")


def stored(path: Path, *messages: Any, closed: bool = True) -> str:
    """Make a store with one session of one turn."""
    where = str(path / "sessions.db")
    log: list[Any] = [TurnBegun(key="begun", time=1, model="x/y", protocol="p", owner="elsewhere/1/0/x")]
    log += [MessageAdded(key=f"k{number}", time=1, message=message) for number, message in enumerate(messages, 2)]
    if closed:
        log.append(TurnEnded(key="ended", time=1, how="done"))
    with open_store(where) as store:
        store.create("one", time=1)
        store.append("one", log, after=0)
    return where


def check(where: str, model: str, *flags: str) -> int:
    return main(["sessions", "--store", where, "check", "one", "--to", model, *flags])


@pytest.mark.parametrize("origin", ORIGINS)
@pytest.mark.parametrize("protocol", MODELS)
def test_every_history_passes_with_a_report_of_repairs(
    tmp_path: Path, capsys: Captured, origin: str, protocol: str
) -> None:
    where = stored(tmp_path, *journey(origin))
    with open_store(where) as store:
        before = list(export_session(store, "one"))
    assert check(where, MODELS[protocol].ref, "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert (
        report["ok"]
        and report["fits"]
        and report["findings"] == report["limits"] == []
        and report["interrupted"] is None
    )
    assert all(change["entry"] in (None, 2, 3, 4, 5, 6) for change in report["changes"])
    with open_store(where) as store:
        assert list(export_session(store, "one")) == before, "the session is unchanged"


def test_the_report_has_the_numbers_of_the_log(tmp_path: Path, capsys: Captured) -> None:
    where = stored(tmp_path, *journey("anthropic/claude-sonnet-4-5"))
    assert check(where, "mistral/mistral-large-latest") == 0
    shown = capsys.readouterr()
    lines = [line.rstrip() for line in shown.out.splitlines()]
    assert lines[0].startswith("session one: mistral/mistral-large-latest gets ")
    assert any(line.startswith("  3 ~ thinking-as-text") for line in lines)
    assert any(line.startswith("  3 ~ id-projected") for line in lines)
    assert shown.err == "segue: 0 errors, 0 warnings\n"


def test_a_turn_that_is_not_closed_is_reported(tmp_path: Path, capsys: Captured) -> None:
    where = stored(tmp_path, *journey("anthropic/claude-sonnet-4-5")[:3], closed=False)
    assert check(where, "openai/gpt-5.1") == 0
    assert "a turn is not closed: 1 of its calls not started, 0 with an unknown outcome" in capsys.readouterr().out
    assert check(where, "openai/gpt-5.1", "--json") == 0
    interrupted = json.loads(capsys.readouterr().out)["interrupted"]
    assert [call["name"] for call in interrupted["notStarted"]] == ["my.tool"] and interrupted["unknown"] == []


def test_a_compacted_session_is_checked_as_it_would_be_sent(tmp_path: Path, capsys: Captured) -> None:
    where = stored(tmp_path, *journey("anthropic/claude-sonnet-4-5"))
    with open_store(where) as store:
        store.append("one", [Compacted(key="c", time=1, summary=UserMessage("Short."), first="", model="x/y")], after=7)
    assert check(where, "mistral/mistral-large-latest", "--json") == 0
    assert json.loads(capsys.readouterr().out)["changes"] == []


def test_what_cannot_be_repaired_is_a_finding(tmp_path: Path, capsys: Captured) -> None:
    where = stored(tmp_path, *[UserMessage([TextContent("Look."), IMAGE])] * 120)
    assert check(where, "anthropic/claude-sonnet-4-5") == 1
    assert "over a limit: 120 images" in capsys.readouterr().out
    assert check(where, "anthropic/claude-sonnet-4-5", "--json") == 1
    assert not json.loads(capsys.readouterr().out)["ok"]


def test_an_empty_session_and_calls_that_share_an_id_pass(tmp_path: Path, capsys: Captured) -> None:
    call = ToolCall("call_0", "look", {})
    origin: Any = {"protocol": "p", "provider": "x", "model": "y", "stop_reason": "toolUse"}
    turn = [UserMessage("?"), AssistantMessage(content=[call], **origin)]
    result = ToolResultMessage("call_0", "look", [TextContent("!")])
    for name, messages in {"none": [], "twice": [*turn, result, *turn, result]}.items():
        (tmp_path / name).mkdir()
        where = stored(tmp_path / name, *messages)
        for model in MODELS.values():
            assert check(where, model.ref) == 0, name
    capsys.readouterr()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nobody", "--to", "openai/gpt-5.1"], "there is no session nobody"),
        (["one", "--to", "nobody/nothing"], "nobody"),
        (["one"], "--to"),
    ],
)
def test_bad_arguments_are_status_2(tmp_path: Path, arguments: list[str], message: str) -> None:
    where = stored(tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "segue", "sessions", "check", *arguments, "--store", where],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "") and message in done.stderr and "Traceback" not in done.stderr


def test_the_other_actions_do_not_import_http() -> None:
    code = "import sys, segue.cli.sessions; print('httpx2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
