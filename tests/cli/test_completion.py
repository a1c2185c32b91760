"""`segue completion`: the words that may come next, and the scripts in the real shells."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest
from support.commands import BASE
from support.kitchen import environment
from support.waiting import HANGS

from segue.cli import COMMANDS, main
from segue.cli.completion import FILES, SCRIPTS, candidates
from segue.cli.sessions import ACTIONS
from segue.session import open_store
from segue.wire import PROTOCOLS

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="these shells are not there")


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in environment(tmp_path).items():
        monkeypatch.setenv(name, value)
    with open_store(None) as store:
        store.create("20261118-one", time=1, title="About soup")


def words(*typed: str) -> list[str]:
    return [word for word, _ in candidates(list(typed))]


def test_commands_and_actions_are_completed() -> None:
    assert words("") == list(COMMANDS)
    assert words("mod") == ["models"]
    assert words("sessions", "") == list(ACTIONS)
    assert words("sessions", "ex") == ["export"]
    assert words("nonsense", "") == []


@pytest.mark.parametrize("command", BASE)
def test_every_option_of_every_command_is_completed_until_it_is_used(command: str) -> None:
    options = words(*command.split(), "--")
    assert "--help" in options
    for option in options:
        assert option in words(*command.split(), option[:-1])
        assert option not in words(*command.split(), option, "x", "--")


def test_values_are_completed() -> None:
    assert words("lint", "x.json", "--as", "") == list(PROTOCOLS)
    assert words("encode", "--to", "mistral/mistral-large-l") == ["mistral/mistral-large-latest"]
    assert words("chat", "--model", "demo/c") == ["demo/claude-sonnet-5-5"]
    assert words("models", "--provider", "mis") == ["mistral"]
    assert words("standin", "anth") == ["anthropic"]
    assert candidates(["sessions", "show", "2026"]) == [("20261118-one", "About soup")]
    assert words("chat", "--session", "") == ["20261118-one"]
    assert words("completion", "") == list(SCRIPTS)
    for typed in ("show ta", "project --to a/b ", "sessions export x -o ", "run --root "):
        assert words(*typed.split(" ")) == [FILES]


def test_the_command_prints_words_with_their_descriptions(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "words", "sessions", "sh"]) == 0
    assert capsys.readouterr().out == f"show\t{ACTIONS['show'].purpose}\n"
    assert main(["completion", "words", "--vers"]) == 0
    assert capsys.readouterr().out.startswith("--version\t")
    assert main(["completion", "words"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(COMMANDS)


def test_an_unknown_shell_is_status_2(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["completion", "tcsh"])
    assert "fish" in capsys.readouterr().err


# -- real shells -------------------------------------------------------------------------------------------------------


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A PATH with the `segue` command of this environment."""
    folder = tmp_path / "bin"
    folder.mkdir()
    command = folder / "segue"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m segue "$@"\n')
    command.chmod(0o755)
    (tmp_path / "menu.json").write_text("{}")
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def needs(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")


def run(shell: str, script: str, path: str, folder: Path) -> list[str]:
    needs(shell)
    command = [shell, *(["--norc"] if shell == "bash" else ["--no-config"]), "-c", script]
    done = subprocess.run(
        command, cwd=folder, env=os.environ | {"PATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


TYPED = {
    "segue mod": ["models"],
    "segue import --from goo": ["google-generative-ai"],
    "segue sessions show 2026": ["20261118-one"],
    "segue show me": ["menu.json"],
    "segue completion ": ["bash", "zsh", "fish"],
}


def in_bash(typed: str, path: str, folder: Path) -> list[str]:
    completes = f'COMP_LINE="{typed}"; COMP_POINT={len(typed)}; _segue; printf "%s\\n" "${{COMPREPLY[@]}}"'
    return run("bash", f'eval "$(segue completion bash)"; complete -p segue > /dev/null; {completes}', path, folder)


@pytest.mark.parametrize("typed", TYPED)
def test_bash(typed: str, path: str, tmp_path: Path) -> None:
    assert in_bash(typed, path, tmp_path) == TYPED[typed]


def test_bash_replaces_only_what_follows_a_colon(path: str, tmp_path: Path) -> None:
    typed = "segue encode --to amazon-bedrock/anthropic.claude-sonnet-4-5-20250929-v1:"
    assert in_bash(typed, path, tmp_path) == ["0"]


@pytest.mark.parametrize("typed", TYPED)
def test_fish(typed: str, path: str, tmp_path: Path) -> None:
    lines = run("fish", f"segue completion fish | source; complete -C '{typed}'", path, tmp_path)
    assert [line.split("\t")[0] for line in lines] == TYPED[typed]


def test_zsh(path: str, tmp_path: Path) -> None:
    needs("zsh")
    env = {**os.environ, "PATH": path, "TERM": "dumb", "ZDOTDIR": str(tmp_path), "PS1": "> "}
    child = pexpect.spawn("zsh", ["-f", "-i"], cwd=str(tmp_path), env=env, encoding="utf-8", timeout=HANGS)
    try:
        child.send('eval "$(segue completion zsh)"; echo re""ady\r')
        child.expect("\nready")
        for typed, [*completed] in TYPED.items():
            if len(completed) == 1:
                child.send(f"{typed}\t")
                child.expect_exact(completed[0])
                child.send("\x15")  # clears the line
    finally:
        child.close(force=True)
