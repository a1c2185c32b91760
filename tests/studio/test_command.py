"""`segue studio` at the shell."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest

import segue.studio
from segue.cli import main

from .conftest import EXAMPLE


def test_the_url_is_printed_immediately_into_a_pipe_and_ctrl_c_stops_it(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "segue", "studio", str(EXAMPLE), "--to", "openai/gpt-5.4", "--no-open"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "XDG_DATA_HOME": str(tmp_path)}
    )
    assert process.stdout is not None
    url = process.stdout.readline().decode().strip()
    assert url.startswith("http://127.0.0.1:")
    with httpx2.Client(follow_redirects=True) as client:
        page = client.get(url)
    assert page.status_code == 200
    assert "token" not in str(page.url)
    assert "openai/gpt-5.4" in page.text
    process.send_signal(signal.SIGINT)
    process.communicate()
    assert process.returncode in (0, 130)


def test_without_the_extra_the_command_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [name for name in sys.modules if name.startswith("segue.studio")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr("segue.studio", raising=False)
    monkeypatch.setitem(sys.modules, "htpy", None)
    assert main(["studio", "--no-open"]) == 2
    assert "pip install 'segue[studio]'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing-of-that-name"], "there is no such file"),
        (["--gateway", "ftp://x"], "must begin with https:// or http://"),
        (["--gateway", "http://[::1"], "check its host, port and path"),
        (["--gateway", "http://me:pass-word@h:x"], "'http://h:x' cannot be used"),
    ],
)
def test_mistakes_are_one_line(
    arguments: list[str],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.delenv("SEGUE_SESSIONS", raising=False)
    assert main(["studio", "--no-open", *arguments]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


def test_assets_are_small_and_scripts_are_few() -> None:
    files = list((Path(segue.studio.__file__).parent / "assets").iterdir())
    assert sum(file.stat().st_size for file in files) < 60_000
    assert sum(len(file.read_text().splitlines()) for file in files if file.suffix == ".js") < 400
