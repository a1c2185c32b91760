"""`segue doctor`: what is set, what answers, where things are. It never fails, and never shows a key."""

import json
from pathlib import Path

import pytest
from support.kitchen import environment
from support.loopback import serve
from support.waiting import HANGS

from segue.catalog import Catalog
from segue.cli import local_servers, main
from segue.session import open_store

Captured = pytest.CaptureFixture[str]
SECTIONS = ["segue", "catalog", "keys", "local servers", "sessions", "installed", "chat"]


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in {key for provider in Catalog.load().providers.values() for key in provider.keys}:
        monkeypatch.delenv(name, raising=False)
    for name in ("SEGUE_MODEL", "SEGUE_SESSIONS"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment(tmp_path).items():
        monkeypatch.setenv(name, value)


def report(capsys: Captured) -> dict[str, dict[str, dict[str, str]]]:
    assert main(["doctor", "--json"]) == 0
    found: dict[str, dict[str, dict[str, str]]] = json.loads(capsys.readouterr().out)
    return found


def test_without_keys_and_servers_everything_is_listed_and_the_status_is_0(capsys: Captured) -> None:
    assert main(["doctor"]) == 0
    shown = capsys.readouterr().out
    assert [line for line in shown.splitlines() if line and not line.startswith(" ")] == SECTIONS
    assert "ANTHROPIC_API_KEY is not set" in shown and "no answer at" in shown and "none yet" in shown
    found = report(capsys)
    assert list(found) == SECTIONS
    assert not any(row["ok"] for row in found["keys"].values())


def test_a_key_that_is_set_is_named_but_not_shown(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.setenv("MISTRAL_API_KEY", "sk-secret-of-the-tests-0123456789")
    assert main(["doctor"]) == 0
    assert "sk-secret" not in capsys.readouterr().out
    found = report(capsys)
    assert found["keys"]["Mistral"] == {"ok": True, "detail": "MISTRAL_API_KEY is set"}
    assert found["chat"]["segue chat"]["detail"].startswith("mistral/")


def test_a_server_that_answers_is_listed_with_its_models(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setattr(local_servers, "TIMEOUT", HANGS)
    models = json.dumps({"data": [{"id": "qwen3:8b"}, {"id": "llama3"}]}).encode()
    with serve(models, "application/json") as url:
        environment(tmp_path, url)
        row = report(capsys)["local servers"]["segue local"]
    assert row == {"ok": True, "detail": f"2 models at {url}, such as local/qwen3:8b"}


def test_the_store_is_shown_with_its_size_and_an_address_with_a_password_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    with open_store(None) as store:
        store.create("one", time=1)
    row = report(capsys)["sessions"]["sessions"]
    assert row["ok"] and row["detail"].startswith("1 session in ") and row["detail"].endswith("sessions.db")
    monkeypatch.setenv("SEGUE_SESSIONS", "postgresql://me:sk-secret-password@127.0.0.1:9/none")
    assert "sk-secret" not in str(report(capsys))


def test_a_broken_catalog_is_reported_and_the_rest_still_shown(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "catalog.toml").write_text("[models.plain]")
    found = report(capsys)
    assert "models.plain" in found["catalog"]["catalog"]["detail"] and not found["catalog"]["catalog"]["ok"]
    assert "Anthropic" in found["keys"]


def test_extras_are_those_of_the_package(capsys: Captured) -> None:
    assert {"bedrock", "local", "mcp", "postgres", "vertex"} <= set(report(capsys)["installed"])
