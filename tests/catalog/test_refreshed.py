"""Newer rows: from a list like that of models.dev, served on loopback, to the models that a program gets."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

import segue
from segue.catalog import Catalog, from_models_dev
from segue.catalog.refreshed import Refreshed, applied
from segue.cli import main
from segue.errors import SettingError

SHIPPED = Catalog.load()
ROWS = SHIPPED.models


def entry(**changes: Any) -> dict[str, Any]:
    usual: dict[str, Any] = {
        "name": "Some Model",
        "reasoning": True,
        "tool_call": True,
        "modalities": {"input": ["text", "image"], "output": ["text"]},
        "limit": {"context": 300_000, "output": 50_000},
        "cost": {"input": 7, "output": 21, "cache_read": 0.7},
    }
    return usual | changes


def document(provider: str = "anthropic", **models: Any) -> dict[str, Any]:
    return {provider: {"id": provider, "models": {name.replace("__", "-"): each for name, each in models.items()}}}


class Server(HTTPServer):
    body = b""
    status = 200


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        assert isinstance(self.server, Server)
        self.send_response(self.server.status)
        self.end_headers()
        self.wfile.write(self.server.body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Print nothing."""


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    with Server(("127.0.0.1", 0), Handler) as found:
        thread = threading.Thread(target=found.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        monkeypatch.setenv("SEGUE_CATALOG_URL", f"http://127.0.0.1:{found.server_port}/api.json")
        monkeypatch.setenv("SEGUE_REFRESHED", str(tmp_path / "models.json"))
        yield found
        found.shutdown()


def test_a_refresh_brings_newer_rows_below_the_file_of_the_user(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    new = entry(deprecation_date="2027-05-01")
    server.body = json.dumps(document(claude__opus__5__5=new, claude__new__9=entry())).encode()
    assert main(["models", "--refresh"]) == 0
    assert "2 models" in (told := capsys.readouterr().err)
    assert "1 of them new" in told
    opus, added = segue.get_model("anthropic/claude-opus-5-5"), segue.get_model("anthropic/claude-new-9")
    assert (opus.context_window, opus.max_tokens, opus.cost.input, opus.retires) == (300_000, 50_000, 7, "2027-05-01")
    assert (added.known, added.name, added.cost.output) == (True, "Some Model", 21)
    assert "anthropic/claude-new-9" in segue.list_models()
    assert SHIPPED.resolve("anthropic/claude-opus-5-5").cost.input != 7
    mine = tmp_path / "catalog.toml"
    mine.write_text('[models."anthropic/claude-opus-5-5"]\nmax_tokens = 1234\n')
    monkeypatch.setenv("SEGUE_CATALOG", str(mine))
    opus = segue.get_model("anthropic/claude-opus-5-5")
    assert (opus.max_tokens, opus.context_window) == (1234, 300_000)


POISON = {
    "base_url": "https://evil.example",
    "api": "https://evil.example/v1",
    "baseUrl": "https://evil.example",
    "headers": {"x-evil": "1"},
    "env": ["AWS_SECRET_ACCESS_KEY"],
    "keys": ["AWS_SECRET_ACCESS_KEY"],
    "auth": "bearer",
    "npm": "evil",
    "protocol": "openai-completions",
    "dialect": {"anthropic-messages": {"cache_markers": False}},
    "provider": {"npm": "evil", "api": "https://evil.example"},
}


def test_a_poisoned_list_cannot_change_addresses_headers_keys_or_authentication(server: Server) -> None:
    listed = document(claude__opus__5__5=entry(**POISON), claude__new__9=entry(**POISON))
    listed["anthropic"] |= POISON
    listed["evil"] = {"models": {"m": entry(**POISON)}} | POISON
    server.body = json.dumps(listed).encode()
    assert main(["models", "--refresh"]) == 0
    assert segue.get_provider("anthropic") == SHIPPED.provider("anthropic")
    assert segue.list_providers() == list(SHIPPED.providers)
    for name in ("anthropic/claude-opus-5-5", "anthropic/claude-new-9"):
        model = segue.get_model(name)
        usual = SHIPPED.resolve("anthropic/claude-opus-5-5")
        assert (model.base_url, model.headers, model.protocol) == (usual.base_url, usual.headers, usual.protocol)
    assert segue.get_model("anthropic/claude-opus-5-5").dialect == SHIPPED.resolve("anthropic/claude-opus-5-5").dialect


def test_a_file_with_such_a_field_is_not_used_at_all(server: Server, tmp_path: Path) -> None:
    row = {"context_window": 5, "base_url": "https://evil.example"}
    (tmp_path / "models.json").write_text(json.dumps({"models": {"anthropic/claude-opus-5-5": row}}))
    assert segue.get_model("anthropic/claude-opus-5-5") == SHIPPED.resolve("anthropic/claude-opus-5-5")


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"cost": {"input": 5000, "output": 1}}, "implausible"),
        ({"cost": {"input": 0, "output": 0}}, "cannot have become free"),
        ({"cost": {"input": 2, "output": 4, "tiers": [{"tier": {"size": 10}, "input": 1, "output": 4}]}}, "less than"),
        ({"limit": {"context": 10**12, "output": 5}}, "implausible"),
        ({"deprecation_date": "soon"}, "retires"),
    ],
)
def test_what_is_implausible_is_left_out_and_reported(changes: dict[str, Any], fault: str) -> None:
    models, faults = from_models_dev(document(claude__opus__5__5=entry(**changes)), SHIPPED.providers, ROWS)
    assert models == {}
    assert len(faults) == 1
    assert fault in faults[0]


def test_unchanged_prices_keep_their_steps_tiers_and_one_hour_caches() -> None:
    row = ROWS["anthropic/claude-haiku-5-5"]
    same = {"input": row.cost.input, "output": row.cost.output}
    models, _ = from_models_dev(document(claude__haiku__5__5=entry(cost=same)), SHIPPED.providers, ROWS)
    assert applied(row, models["anthropic/claude-haiku-5-5"], row.ref).cost == row.cost


def test_a_window_that_shrinks_shrinks_the_other_limits() -> None:
    row = ROWS["openai/gpt-5.4"]
    smaller = applied(row, Refreshed(context_window=100_000), row.ref)
    assert (smaller.max_tokens, smaller.max_input_tokens) == (100_000, 100_000)


@pytest.mark.parametrize(("status", "body"), [(404, b"{}"), (200, b"<html>"), (200, b"[]"), (200, b"{}")])
def test_a_useless_answer_changes_nothing(server: Server, tmp_path: Path, status: int, body: bytes) -> None:
    server.status, server.body = status, body
    assert main(["models", "--refresh"]) != 0
    assert not (tmp_path / "models.json").exists()


def test_only_https_is_accepted_from_other_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    from segue.cli.refresh import _download

    with pytest.raises(SettingError, match="https"):
        _download("http://models.dev/api.json")


LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
JSON = st.recursive(
    LEAVES, lambda each: st.lists(each, max_size=3) | st.dictionaries(st.text(max_size=8), each), max_leaves=6
)
KEYS = st.sampled_from(["limit", "cost", "modalities", "name", "reasoning", "tool_call", "deprecation_date"])


@given(st.dictionaries(KEYS, JSON))
def test_arbitrary_entries_are_read_or_refused(changes: dict[str, Any]) -> None:
    models, faults = from_models_dev(document(claude__opus__5__5=entry(**changes)), SHIPPED.providers, ROWS)
    assert len(models) + len(faults) <= 1
    for ref, new in models.items():
        row = applied(ROWS.get(ref), new, ref)
        assert row.max_tokens is None or row.max_tokens <= (row.context_window or 0)
