"""The commands that change a gateway while it runs: what they refuse, and what the gateway does with it."""

import asyncio
import socket
from pathlib import Path

import pytest

from segue.cli import main
from segue.gateway import client_lines, load_config, open_gateway_store, url_of


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "segue.toml"
    path.write_text(
        '[gateway]\nstore = "gateway.db"\n[[keys]]\nname = "alice"\nkey = "a"\n'
        '[[routes]]\nname = "fast"\nmodels = ["openai/gpt-5.4"]\n'
    )
    return str(path)


def keys_of(file: str) -> tuple[list[str], set[str]]:
    store = open_gateway_store(load_config(file))
    added, revoked = asyncio.run(store.keys())
    store.close()
    return [key.name for key in added], revoked


@pytest.mark.parametrize(
    "flags",
    [("--requests", "0"), ("--tokens", "-1"), ("--dollars", "-3"), ("--dollars", "nan"), ("--dollars", "inf")],
    ids=" ".join,
)
def test_a_key_with_a_limit_that_cannot_be_is_not_added(
    file: str, flags: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """No gateway could read it back."""
    assert main(["gateway", "--config", file, "keys", "add", "bob", *flags]) == 2
    assert "keys.bob" in capsys.readouterr().err
    assert keys_of(file) == ([], set())


def test_only_a_key_that_exists_is_revoked(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A name that was mistyped must not look like a success."""
    assert main(["gateway", "--config", file, "keys", "add", "bob", "--dollars", "3"]) == 0
    assert main(["gateway", "--config", file, "keys", "revoke", "bbo"]) == 2
    assert "bbo" in capsys.readouterr().err and keys_of(file) == (["bob"], set())
    for name in ("bob", "alice"):
        assert main(["gateway", "--config", file, "keys", "revoke", name]) == 0
    assert keys_of(file) == ([], {"alice", "bob"})


def test_only_a_route_that_was_changed_is_reset(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gateway", "--config", file, "route", "slow", "openai/gpt-5.4"]) == 0
    assert main(["gateway", "--config", file, "route", "--reset", "slwo"]) == 2
    assert "slwo" in capsys.readouterr().err
    assert main(["gateway", "--config", file, "route", "--reset", "slow"]) == 0
    assert main(["gateway", "--config", file, "route", "--reset"]) == 0


def test_a_start_names_the_routes_that_were_changed_before(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    """They win over the file and over `--to`, which would be a riddle otherwise."""
    assert main(["gateway", "--config", file, "route", "claude-*", "openai/gpt-5.4"]) == 0
    capsys.readouterr()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        assert main(["gateway", "--config", file, "--to", "openai/gpt-5.1", "--port", str(port)]) == 2  # after the note
    written = " ".join(capsys.readouterr().err.split())
    assert "claude-* is answered by openai/gpt-5.4" in written
    assert "segue gateway route --reset 'claude-*'" in written


def test_the_lines_for_clients_have_a_valid_address() -> None:
    assert "ANTHROPIC_BASE_URL=http://[::1]:4000 " in client_lines(url_of("::1", 4000), "m")[0]
    assert "ANTHROPIC_BASE_URL=http://127.0.0.1:4000 " in client_lines(url_of("127.0.0.1", 4000), "m")[0]
