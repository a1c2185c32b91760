"""`segue run`: the answer on stdout, everything else on stderr, and an exit status for each outcome."""

import io
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.kitchen import CLOSED, MODEL, OTHER, WAIT, calls, environment, kitchen, log_of
from support.secrets import no_key_is_shown

from segue.agent.state import rebuilt
from segue.catalog import Catalog
from segue.cli import main
from segue.session import SEPARATOR, TurnBegun, TurnEnded, open_store
from segue.testing import Fault, Reply, StandIn
from segue.types import TextContent, ThinkingContent, ToolResultMessage, Usage, UserMessage

__all__ = ["no_key_is_shown"]

Run = Callable[..., int]
Captured = pytest.CaptureFixture[str]


@pytest.fixture
def cook() -> Iterator[StandIn]:
    with kitchen() as server:
        yield server


@pytest.fixture
def run(cook: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the command in this process, with the stand-in as its model and a store in ``tmp_path``."""
    for name in {key for provider in Catalog.load().providers.values() for key in provider.keys}:
        monkeypatch.delenv(name, raising=False)
    for name, value in environment(tmp_path, cook.url).items():
        monkeypatch.setenv(name, value)
    (tmp_path / "pantry").mkdir()
    (tmp_path / "pantry" / "menu.txt").write_text("soup\n")
    monkeypatch.chdir(tmp_path / "pantry")

    def command(*arguments: str, model: str | None = MODEL) -> int:
        named = [] if model is None else ["--model", model]
        return main(["run", *arguments, *named, "--store", str(tmp_path / "sessions.db")])

    return command


def results(folder: Path) -> list[ToolResultMessage]:
    history = rebuilt(
        log_of(folder / "sessions.db")
    ).messages  # in the order of the calls; the log has the order of completion
    return [message for message in history if isinstance(message, ToolResultMessage)]


def text_of(result: ToolResultMessage) -> str:
    return "".join(block.text for block in result.content if isinstance(block, TextContent))


def test_only_the_last_answer_is_on_stdout_and_calls_are_on_stderr(run: Run, cook: StandIn, capsys: Captured) -> None:
    asks = Reply([TextContent("I look."), *calls(("read_file", {"path": "menu.txt"})).content])
    cook.say(asks, Reply([ThinkingContent("easy"), TextContent("There is soup.")]))
    assert run("What is there?") == 0
    printed = capsys.readouterr()
    assert printed.out == "There is soup.\n"
    assert "read_file" in printed.err and "soup" in printed.err and "easy" not in printed.err


def test_quiet_prints_nothing_on_stderr(run: Run, cook: StandIn, capsys: Captured) -> None:
    cook.say(calls(("list_files", {})), "Yes.")
    assert run("Anything?", "--quiet") == 0
    assert capsys.readouterr() == ("Yes.\n", "")


def test_a_dash_reads_the_prompt_from_stdin(run: Run, cook: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO("Wie spät\nist es?".encode())))
    assert run("-") == 0
    assert cook.requests[0]["messages"][-1]["content"] == "Wie spät\nist es?"


@pytest.mark.parametrize("prompt", ["", "  \n "])
def test_an_empty_prompt_is_bad_usage(prompt: str, run: Run, capsys: Captured) -> None:
    assert run(prompt) == 2
    assert capsys.readouterr().err == "segue: the prompt is empty\n"


# -- approval ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("flags", "runs"),
    [
        ([], False),
        (["--allow", "write_file"], False),
        (["--allow", "write_file, shell"], True),
        (["--allow", "edit_file", "--allow", "shell"], True),
        (["--allow-all"], True),
    ],
)
def test_the_shell_runs_only_if_a_flag_allows_it_and_otherwise_the_result_says_why(
    flags: list[str], runs: bool, run: Run, cook: StandIn, tmp_path: Path
) -> None:
    cook.say(calls(("shell", {"command": "echo done > proof; cat proof"})), "Well.")
    assert run("Go.", *flags) == 0
    [result] = results(tmp_path)
    assert (tmp_path / "pantry" / "proof").exists() is runs
    assert result.is_error is not runs
    assert ("done" if runs else "not allowed beforehand") in text_of(result)


def test_allowing_an_unknown_tool_is_bad_usage(run: Run, cook: StandIn, capsys: Captured) -> None:
    assert run("Go.", "--allow", "shell,oven") == 2
    assert "unknown tool oven; the tools are read_file" in capsys.readouterr().err
    assert run("Go.", "--no-tools", "--allow", "shell") == 2
    assert cook.requests == []


def test_no_tools_offers_none(run: Run, cook: StandIn) -> None:
    assert run("Go.", "--no-tools") == 0
    assert "tools" not in cook.requests[0]


def test_tools_cannot_leave_the_root(run: Run, cook: StandIn, tmp_path: Path) -> None:
    below = tmp_path / "below"
    below.mkdir()
    cook.say(calls(("read_file", {"path": "../pantry/menu.txt"}), ("list_files", {})), "Well.")
    assert run("Go.", "--root", str(below)) == 0
    assert [result.is_error for result in results(tmp_path)] == [True, False]
    assert not any("soup" in text_of(result) for result in results(tmp_path))


# -- how a run ends ---------------------------------------------------------------------------------------------------


def test_a_failed_turn_is_status_1_with_the_reason(run: Run, cook: StandIn, capsys: Captured) -> None:
    cook.say(Fault("wrong-key"))
    assert run("Go.", "--quiet") == 1
    printed = capsys.readouterr()
    assert printed.out == "" and "failed" in printed.err and "authentication" in printed.err


@pytest.mark.parametrize("limit", [["--max-steps", "1"], ["--max-tokens", "40"], ["--max-cost", "0.01"]])
def test_a_limit_is_status_1_with_the_reason(limit: list[str], run: Run, cook: StandIn, capsys: Captured) -> None:
    cook.say(*[calls(("list_files", {}))] * 3)
    assert run("Go.", "--quiet", *limit) == 1
    assert "segue: limit: " in capsys.readouterr().err
    assert len(cook.requests) < 3


@pytest.mark.parametrize(
    "arguments",
    [
        ["--max-steps", "0"],
        ["--max-steps", "many"],
        ["--max-cost", "0"],
        ["--max-cost", "-1"],
        ["--max-cost", "nan"],
        ["--allow", "shell", "--allow-all"],
        ["--continue", "--session", "x"],
        ["--thinking", "very"],
    ],
)
def test_bad_usage_is_status_2_before_anything_is_sent(arguments: list[str], run: Run, cook: StandIn) -> None:
    with pytest.raises(SystemExit) as left:
        run("Go.", *arguments)
    assert left.value.code == 2 and cook.requests == []


def test_a_model_name_that_is_not_valid_unicode_is_status_2(run: Run, cook: StandIn, capsys: Captured) -> None:
    assert run("Go.", model="local/co\udcffok") == 2
    assert "internal error (" not in capsys.readouterr().err and cook.requests == []


def test_a_system_prompt_for_an_existing_session_is_refused(run: Run, cook: StandIn, capsys: Captured) -> None:
    assert run("One.") == 0
    assert run("Two.", "--continue", "--system", "Be brief.") == 2
    assert "--system" in capsys.readouterr().err and len(cook.requests) == 1


def test_tools_that_the_system_does_not_support_are_left_out_with_a_note(
    run: Run, cook: StandIn, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "supports_dir_fd", set())
    assert run("Go.", "--quiet") == 0
    assert [tool["function"]["name"] for tool in cook.requests[0]["tools"]] == ["shell"]
    assert "tools for files need a POSIX system" in capsys.readouterr().err
    assert run("Go.", "--root", "nowhere") == 2, "a root that does not exist is an error"


def test_a_missing_key_is_status_2(run: Run, capsys: Captured) -> None:
    assert run("Go.", model="anthropic/claude-sonnet-4-5") == 2
    assert "ANTHROPIC_API_KEY" in capsys.readouterr().err


WITH_SIGNALS = """
import runpy, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
runpy.run_module("segue", run_name="__main__", alter_sys=True)
"""
"""Runs the command with the signal handlers of a terminal, even if the tests run with signals ignored."""


@pytest.mark.skipif(sys.platform == "win32", reason="no such signals")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_cancels_the_run_closes_the_log_and_is_status_130(name: str, tmp_path: Path) -> None:
    asked = threading.Event()

    def endless(context: Any) -> Fault:
        asked.set()
        return Fault("silence", Reply([TextContent("one two three " * 200)]))

    with kitchen(calls(("list_files", {})), endless) as cook:
        command = ["run", "Go.", "--model", MODEL, "--store", "s.db", "--json"]
        env = environment(tmp_path, cook.url)
        child = subprocess.Popen(
            [sys.executable, "-c", WITH_SIGNALS, *command], cwd=tmp_path, env=env, stdout=subprocess.PIPE, text=True
        )
        assert asked.wait(WAIT) and child.stdout is not None
        while "text_delta" not in child.stdout.readline():
            pass
        os.kill(child.pid, getattr(signal, name))
        out, _ = child.communicate(timeout=WAIT)
    assert child.returncode == 130
    assert json.loads(out.splitlines()[-1])["how"] == "cancelled"
    end = log_of(tmp_path / "s.db")[-1]
    assert isinstance(end, TurnEnded) and end.how == "cancelled"


def test_a_closed_pipe_gives_no_traceback(run: Run, cook: StandIn, tmp_path: Path) -> None:
    shown = f'"{sys.executable}" -m segue run Go. --json --model {MODEL} --store s.db | head -n 1'
    done = subprocess.run(["bash", "-c", shown], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert json.loads(done.stdout)["type"] == "session" and "Traceback" not in done.stderr


# -- JSON Lines -------------------------------------------------------------------------------------------------------


def test_json_is_one_event_per_line_from_the_session_to_the_outcome(
    run: Run, cook: StandIn, capsys: Captured, tmp_path: Path
) -> None:
    cook.say(
        Reply([ThinkingContent("hm"), *calls(("read_file", {"path": "menu.txt"})).content]),
        Reply([TextContent("Soup.")], usage=Usage(input=7, output=3, total_tokens=10)),
    )
    assert run("What?", "--json") == 0
    printed = capsys.readouterr()
    lines = [json.loads(line) for line in printed.out.splitlines()]
    assert printed.err == ""
    kinds = [line["type"] for line in lines]
    assert kinds[:2] == ["session", "turn_start"] and kinds[-2:] == ["turn_end", "outcome"]
    assert {"text_delta", "toolcall_end", "call_state", "call_start", "result", "done"} <= set(kinds)
    assert not [line for line in lines if "partial" in line]
    states = [line["state"] for line in lines if line["type"] == "call_state"]
    assert states == ["validating", "scheduled", "executing", "success"]
    outcome = lines[-1]
    assert (outcome["how"], outcome["text"], outcome["steps"]) == ("done", "Soup.", 2)
    assert outcome["usage"]["totalTokens"] == 40
    stored = [
        entry.message for entry in log_of(tmp_path / "sessions.db", lines[0]["session"]) if hasattr(entry, "message")
    ]
    assert stored[0] == UserMessage("What?")


def test_json_has_the_kind_of_a_failure(run: Run, cook: StandIn, capsys: Captured) -> None:
    cook.say(Fault("wrong-key"))
    assert run("Go.", "--json") == 1
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    [error] = [line for line in lines if line["type"] == "error"]
    assert error["error"]["kind"] == "authentication" and error["error"]["status"] == 401
    assert lines[-1]["how"] == "failed" and lines[-1]["reason"]


# -- sessions ---------------------------------------------------------------------------------------------------------


def test_continue_uses_the_last_session_and_its_model(run: Run, cook: StandIn, tmp_path: Path) -> None:
    assert run("One.", model=OTHER) == 0
    assert run("Two.", "--continue", model=None) == 0
    assert [message["content"] for message in cook.requests[1]["messages"]] == ["One.", "Answer 1.", "Two."]
    begun = [entry.model for entry in log_of(tmp_path / "sessions.db") if isinstance(entry, TurnBegun)]
    assert begun == [OTHER, OTHER]


def test_continue_skips_the_sessions_of_sub_agents(run: Run, cook: StandIn, tmp_path: Path) -> None:
    assert run("One.") == 0
    with open_store(tmp_path / "sessions.db") as store:
        [own] = store.sessions()
        store.fork(own.id, 1, f"{own.id}{SEPARATOR}call_1", time=own.changed + 1_000_000)
    assert run("Two.", "--continue", model=None) == 0
    assert len(cook.requests[1]["messages"]) == 3


def test_a_named_session_continues_with_a_named_model(
    run: Run, cook: StandIn, tmp_path: Path, capsys: Captured
) -> None:
    assert run("One.", "--json") == 0
    session = json.loads(capsys.readouterr().out.splitlines()[0])["session"]
    assert run("Other.") == 0
    assert run("Two.", "--session", session, model=OTHER) == 0
    begun = [entry.model for entry in log_of(tmp_path / "sessions.db", session) if isinstance(entry, TurnBegun)]
    assert begun == [MODEL, OTHER]


def test_continuing_without_a_session_is_status_2(run: Run, capsys: Captured, cook: StandIn) -> None:
    assert run("Go.", "--continue") == 2
    assert "there is no store of sessions" in capsys.readouterr().err
    assert run("Go.") == 0
    assert run("Go.", "--session", "nobody") == 2
    assert "nobody" in capsys.readouterr().err and len(cook.requests) == 1


def test_a_session_whose_model_has_lost_its_key_continues_with_another_model(
    run: Run, cook: StandIn, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Captured
) -> None:
    catalog = tmp_path / "catalog.toml"
    catalog.write_text(catalog.read_text() + f'[providers.mistral]\nbase_url = "{cook.url}"\n')
    monkeypatch.setenv("MISTRAL_API_KEY", "another-key-of-the-tests")
    assert run("One.", "--quiet", model="mistral/mistral-large-latest") == 0
    monkeypatch.delenv("MISTRAL_API_KEY")
    monkeypatch.setenv("SEGUE_MODEL", MODEL)
    capsys.readouterr()
    assert run("Two.", "--continue", model=None) == 0
    assert capsys.readouterr().out == "Answer 2.\n"
    begun = [entry.model for entry in log_of(tmp_path / "sessions.db") if isinstance(entry, TurnBegun)]
    assert begun == ["mistral/mistral-large-latest", MODEL]


def test_the_system_prompt_is_sent(run: Run, cook: StandIn) -> None:
    assert run("Go.", "--system", "Be brief.") == 0
    assert cook.requests[0]["messages"][0] == {"role": "system", "content": "Be brief."}


def test_a_store_in_memory_leaves_no_file(cook: StandIn, run: Run, tmp_path: Path) -> None:
    assert main(["run", "Go.", "--model", MODEL, "--store", ":memory:"]) == 0
    assert not (tmp_path / "sessions.db").exists() and not (tmp_path / "home" / "data").exists()


def test_without_a_key_and_a_server_it_answers_offline_with_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured, run: Run
) -> None:
    for name, value in environment(tmp_path, CLOSED).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("segue.testing.local.find_spec", lambda name: None)
    assert run("list the files", model=None) == 0
    printed = capsys.readouterr()
    assert "menu.txt" in printed.out
    assert "demo/claude-sonnet-5-5 answers" in printed.err and "ANTHROPIC_API_KEY" in printed.err


# -- MCP --------------------------------------------------------------------------------------------------------------


SERVER = f'"{sys.executable}" "{Path(__file__).parents[1] / "tools" / "mcp_server.py"}"'


def test_the_tools_of_an_mcp_server_are_offered_and_need_approval(run: Run, cook: StandIn, tmp_path: Path) -> None:
    cook.say(calls(("add", {"a": 2, "b": 3}), ("picture", {})), "Well.")
    assert run("Go.", "--no-tools", "--mcp", SERVER, "--allow", "add") == 0
    added, picture = results(tmp_path)
    assert "5" in text_of(added) and not added.is_error
    assert "not allowed beforehand" in text_of(picture) and picture.is_error
    assert "add" in {tool["function"]["name"] for tool in cook.requests[0]["tools"]}


@pytest.mark.parametrize(
    "server", ["", "'", "/no/such/program", "http://127.0.0.1:9/mcp", "http://[bad", "http://127.0.0.1:nine/mcp"]
)
def test_an_mcp_server_that_cannot_be_reached_is_status_2(
    server: str, run: Run, cook: StandIn, capsys: Captured
) -> None:
    assert run("Go.", "--mcp", server) == 2
    errors = capsys.readouterr().err
    assert errors.startswith("segue: ") and errors.count("\n") == 1 and cook.requests == []
