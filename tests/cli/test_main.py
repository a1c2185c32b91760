"""The command line: data on stdout, everything else on stderr, and an exit status for each outcome."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import segue
from segue.cli import COMMANDS, main

EXAMPLE = Path(__file__).parents[2] / "examples" / "three-models.json"


def run(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-m", "segue", *arguments], input=stdin, capture_output=True, check=False)


def test_version() -> None:
    assert run("--version").stdout.decode().strip() == f"segue {segue.__version__}"


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["--help"])
    assert left.value.code == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert all(name in shown and purpose in shown for name, purpose in COMMANDS.items())


def test_the_command_alone_prints_help() -> None:
    done = run()
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"usage: segue" in done.stdout and b"chat in the terminal" in done.stdout


def test_an_unknown_option_shows_the_usage_of_its_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["lint", "a.json", "--for", "openai"])
    error = capsys.readouterr().err
    assert error.startswith("usage: segue lint ")
    assert error.endswith("segue lint: error: unrecognized arguments: --for openai\n")


@pytest.mark.parametrize("arguments", [["no-such-command"], ["show"], ["show", "--no-such-flag", "x"]])
def test_bad_usage_is_status_2(arguments: list[str]) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert done.stdout == b""
    assert b"usage: segue" in done.stderr


BAD_FILES: dict[str, tuple[bytes, str]] = {
    "a truncated file": (EXAMPLE.read_bytes()[:900], "not JSON: the text ends in the middle of a value"),
    "a wrong role": (
        b'{"messages":[{"role":"bot"}]}',
        "messages[0]: unknown role 'bot'; the roles are user, assistant and toolResult",
    ),
    "a block in the wrong message": (
        b'{"version":1,"messages":[{"role":"user","content":[{"type":"thinking","thinking":""}]}]}',
        "messages[0].content[0]: a thinking block is not allowed in a user message",
    ),
    "a number for a string": (
        b'{"version":1,"messages":[{"role":"user","content":[{"type":"text","text":7}]}]}',
        "messages[0].content[0].text: Expected 'str', got 'int'",
    ),
    "version 99": (
        b'{"version":99,"messages":[]}',
        "version: version 99 is not supported: this segue reads version 1; update segue",
    ),
    "invalid UTF-8": (b'{"messages":[{"role":"user","content":"\xff"}]}', "not UTF-8: byte 0xff at offset 39"),
    "nesting 100,000 deep": (b'{"messages":' + b"[" * 100_000, "nested too deeply to be read"),
    "one bare string": (b'"hello"', "a request body is a JSON object or a list of messages, not a string"),
}


@pytest.mark.parametrize("how", ["file", "stdin"])
@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_input_is_status_2_and_one_line_with_file_and_path(name: str, how: str, tmp_path: Path) -> None:
    data, text = BAD_FILES[name]
    path = tmp_path / "talk.json"
    path.write_bytes(data)
    done = run("show", str(path)) if how == "file" else run("show", "-", stdin=data)
    source = str(path) if how == "file" else "standard input"
    assert done.returncode == 2
    assert done.stdout == b""
    assert done.stderr.decode() == f"segue: {source}: {text}\n"


def test_closed_streams_and_narrow_encodings_give_no_traceback() -> None:
    for command in ("show - <&-", f"show {EXAMPLE} >&-", f"show {EXAMPLE}"):
        done = subprocess.run(
            ["bash", "-c", f'"{sys.executable}" -m segue {command}'],
            capture_output=True,
            env=os.environ | {"PYTHONIOENCODING": "ascii", "COLUMNS": "0"},
            check=False,
        )
        assert b"Traceback" not in done.stderr
        assert done.returncode == (0 if command.endswith(".json") else 2)
    assert b"bakery" in done.stdout


def test_a_missing_file_is_status_2() -> None:
    done = run("show", "/no/such/file.json")
    assert (done.returncode, done.stderr) == (2, b"segue: /no/such/file.json: No such file or directory\n")


def test_a_directory_is_status_2(tmp_path: Path) -> None:
    done = run("show", str(tmp_path))
    assert done.returncode == 2
    assert done.stderr.decode() == f"segue: {tmp_path}: Is a directory\n"


def test_a_closed_pipe_is_not_an_error() -> None:
    shown = f'"{sys.executable}" -m segue show "{EXAMPLE}" | head -n 1; exit ${{PIPESTATUS[0]}}'
    done = subprocess.run(["bash", "-c", shown], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, f"segue: {EXAMPLE}: a conversation of segue\n")
