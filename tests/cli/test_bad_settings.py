"""No value of a file, an argument or a variable leads to a traceback: there is a clear message, and status 1 or 2."""

import os
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from support.commands import BASE, make_files, with_value
from support.kitchen import environment

from segue.cli import main

VALUES = [
    *[
        "",
        " ",
        "-",
        "--",
        "0",
        "-1",
        "3.5",
        "nan",
        "inf",
        "1e999",
        "9" * 5_000,
        "٣",
        "true",
        "null",
        "{}",
        "[",
        "\ud800",
        "a\0b",
    ],
    *[
        "/",
        ".",
        "..",
        "/dev/null",
        "/proc/nosuch/x",
        "/proc/self/mem",
        "a" * 5_000,
        "a/b",
        "a/b/c",
        "/a",
        "a/",
        "caf\udce9",
    ],
    *["%s%n%d", "{x}", "$HOME", "~", "http://", "http://[", "postgresql://", "postgresql://127.0.0.1:9/x", "sqlite://"],
    *[
        "sqlite:///",
        "sqlite:////proc/nosuch/x.db",
        "host=x",
        "file:x?mode=ro",
        "openai",
        "openai/",
        "/gpt",
        "anthropic/x",
    ],
]


class Interrupted:
    """An event whose ``wait`` is interrupted immediately, for commands that serve until Ctrl-C."""

    def wait(self) -> None:
        raise KeyboardInterrupt


@pytest.fixture(autouse=True)
def _place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, value in environment(tmp_path).items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("SEGUE_DEBUG")
    monkeypatch.setattr("segue.cli.standin.threading", SimpleNamespace(Event=Interrupted))
    monkeypatch.setattr("segue.cli.local.threading", SimpleNamespace(Event=Interrupted))
    make_files(tmp_path)
    monkeypatch.chdir(tmp_path)


def errors_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run a command and return its stderr, which must be a clear message."""
    capsys.readouterr()
    try:
        with warnings.catch_warnings(action="default"):  # as on a command line, a warning is printed
            status = main(list(arguments))
    except SystemExit as left:
        status = int(left.code or 0)
    errors = capsys.readouterr().err
    assert status in (0, 1, 2, 130), (arguments, errors)
    assert "internal error (" not in errors and "Traceback" not in errors, (arguments, errors)
    assert status != 2 or "segue" in errors, (arguments, "there is a message")
    return errors


@pytest.mark.parametrize("command", BASE)
def test_no_value_of_an_argument_leads_to_a_traceback(
    command: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    cases = [case for value in VALUES for case in with_value(command, BASE[command](tmp_path), value)]

    @settings(max_examples=40)
    @given(st.sampled_from(cases))
    def tried(arguments: list[str]) -> None:
        errors_of(capsys, *arguments)

    tried()


def fifo(path: Path) -> None:
    """A pipe that was opened for writing, and closed without data."""
    os.mkfifo(path)
    threading.Thread(target=lambda: os.close(os.open(path, os.O_WRONLY)), daemon=True).start()


FILES: dict[str, Callable[[Path], Any]] = {
    "missing": lambda path: None,
    "a folder": lambda path: path.mkdir(),
    "a closed pipe": fifo,
    "a link to itself": lambda path: path.symlink_to(path),
    "empty": lambda path: path.write_bytes(b""),
    "blank": lambda path: path.write_bytes(b" \n\n "),
    "binary": lambda path: path.write_bytes(bytes(range(256)) * 10),
    "zeros": lambda path: path.write_bytes(bytes(1000)),
    "UTF-16": lambda path: path.write_bytes('{"messages": []}'.encode("utf-16")),
    "a byte order mark": lambda path: path.write_bytes(b"\xef\xbb\xbf{}"),
    "deep lists": lambda path: path.write_bytes(b"[" * 100_000),
    "deep objects": lambda path: path.write_bytes(b'{"messages":' * 50_000),
    "a deep value": lambda path: path.write_bytes(b'{"messages":' + b"[" * 5_000 + b"]" * 5_000 + b"}"),
    "a huge number": lambda path: path.write_bytes(b'{"messages": ' + b"9" * 10_000 + b"}"),
    "a large power": lambda path: path.write_bytes(b'{"version": 1e400, "messages": []}'),
    "not a number": lambda path: path.write_bytes(b'{"messages": [NaN, Infinity]}'),
    "a number": lambda path: path.write_bytes(b"3"),
    "a null": lambda path: path.write_bytes(b"null"),
    "a half character": lambda path: path.write_bytes(b'{"messages": [{"role": "user", "content": "\\ud800"}]}'),
    "lists of lists": lambda path: path.write_bytes(b'{"messages": [[], {}, null, 3, "x"]}'),
    "TOML": lambda path: path.write_bytes(b'[models."a/b"]\ncontext_window = 1e400\n[providers]\nx = 3\n'),
    "half TOML": lambda path: path.write_bytes(b'[models."a/b'),
    "deep TOML": lambda path: path.write_bytes(b"x = " + b"[" * 5_000),
}


@pytest.mark.parametrize("name", FILES)
def test_no_file_leads_to_a_traceback(name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Used as input, catalog, store, weights, root of the tools, and output."""
    target = ["--to", "mistral/mistral-large-latest"]
    kept = ["--store", str(tmp_path / "s.db")]
    uses: list[Callable[[str], list[str]]] = [
        lambda path: ["show", path],
        lambda path: ["project", path, *target],
        lambda path: ["encode", path, *target],
        lambda path: ["lint", path],
        lambda path: ["lint", path, "--as", "openai-responses"],
        lambda path: ["import", path],
        lambda path: ["import", path, "--from", "anthropic-messages"],
        lambda path: ["export", path, "--as", "anthropic-messages"],
        lambda path: ["sessions", "import", path, *kept],
        lambda path: ["models", "--catalog", path],
        lambda path: ["encode", str(tmp_path / "talk.json"), *target, "--catalog", path],
        lambda path: ["sessions", "list", "--store", path],
        lambda path: ["sessions", "show", "one", "--store", path],
        lambda path: ["sessions", "export", "one", "-o", path, *kept],
        lambda path: ["local", "--weights", path, "--port", "0"],
        lambda path: ["run", "hello", "--model", "nosuch/x", "--root", path],
        lambda path: ["run", "hello", "--model", "nosuch/x", "--mcp", path],
    ]
    for at, use in enumerate(uses):
        if name == "a closed pipe" and at in (11, 12, 13):
            continue  # a pipe is not a database, and nothing reads what is written to it
        path = tmp_path / f"file{at}"
        FILES[name](path)
        errors = errors_of(capsys, *use(str(path)))
        assert len(errors.splitlines()) <= 25


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_read_permission(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "secret.json"
    path.write_text("{}")
    path.chmod(0)
    assert errors_of(capsys, "show", str(path)) == f"segue: {path}: Permission denied\n"


VARIABLES = {
    "SEGUE_SESSIONS": [
        "",
        " ",
        "/",
        "/proc/nosuch/x.db",
        "postgresql://",
        "postgresql://[",
        "sqlite://",
        "x://y",
        "host=a b",
    ],
    "SEGUE_CATALOG": ["", " ", "/", "/proc/nosuch.toml", "/dev/null", "x" * 5_000, "~"],
    "SEGUE_MODEL": ["", " ", "x", "/", "a/b/c", "openai/", "nosuch/model", "x" * 5_000],
    "XDG_DATA_HOME": ["", " ", "relative", "/proc/nosuch", "/dev/null"],
    "HOME": ["", "/proc/nosuch", "/dev/null"],
    "COLUMNS": ["", "0", "-5", "1", "x", "99999999999999999999", "1.5"],
    "LINES": ["", "0", "-5", "x"],
    "TERM": ["", "dumb", "nosuch", "x" * 500],
    "NO_COLOR": ["", "1"],
    "FORCE_COLOR": ["", "1"],
    "LANG": ["", "C", "nosuch.nosuch"],
    "LC_ALL": ["", "C", "nosuch"],
    "TZ": ["", "nosuch", ":"],
    "PGCONNECT_TIMEOUT": ["", "x", "-1"],
    "AWS_REGION": ["", "nosuch region"],
    "OPENAI_API_KEY": ["", " "],
    "TMPDIR": ["/proc/nosuch", "/dev/null"],
}
COMMANDS = [
    ["show", "talk.json"],
    ["models", "claude"],
    ["project", "talk.json", "--to", "mistral/mistral-large-latest"],
    ["lint", "body.json"],
    ["sessions", "list"],
    ["sessions", "show", "nosuch"],
    ["run", "hello", "--no-tools", "--model", "demo/claude"],
    ["chat"],
]


@pytest.mark.parametrize("name", VARIABLES)
def test_no_value_of_a_variable_leads_to_a_traceback(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for value in VARIABLES[name]:
        monkeypatch.setenv(name, value)
        for command in COMMANDS:
            errors_of(capsys, *command)


def test_two_servers_with_a_tool_of_the_same_name_are_both_used(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from support import mcp_bad_server

    (tmp_path / "tools.json").write_text('{"tools": [{"name": "good", "inputSchema": {"type": "object"}}]}')
    command = f"{sys.executable} {mcp_bad_server.__file__} {tmp_path / 'tools.json'} {tmp_path / 'begun'}"
    errors = errors_of(capsys, "run", "hello", "--model", "demo/claude", "--mcp", command, "--mcp", command)
    assert "a tool of bad is left out: tool 'good': another tool has the same name" in errors
