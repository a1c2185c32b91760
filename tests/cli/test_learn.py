"""`segue learn`: list, forget and export what was learnt from refused requests."""

import json
import tomllib
from pathlib import Path

import pytest

import segue
from segue import Facts
from segue.cli import main
from segue.cli.learn import KEYWORDS
from segue.rules import CURES
from segue.testing import StandIn

Captured = pytest.CaptureFixture[str]
MODEL = segue.Catalog.load().resolve("vllm/secret-model")


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "learnt.toml"
    monkeypatch.setenv("SEGUE_LEARNT", str(path))
    values = {"max_tokens_field": "max_completion_tokens", "refused_keywords": ("pattern", "x-my-secret")}
    Facts(path, clock=lambda: 1_800_000_000.0).learn(MODEL, MODEL.amended(values), values, "1", CURES[0].example)
    return path


def test_facts_are_listed_one_per_line(file: Path, capsys: Captured) -> None:
    assert main(["learn"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith(
        'vllm/secret-model (openai-completions, http://localhost:8000/v1): max_tokens_field = "max_completion_tokens"'
    )
    assert "learnt 2027-01-15, 1 time, until 2027-02-14; cure 1: " in lines[0]


def test_a_model_can_be_chosen_and_json_be_printed(file: Path, capsys: Captured) -> None:
    assert main(["learn", "vllm/other"]) == 0
    assert capsys.readouterr().err == "segue: nothing has been learnt about vllm/other\n"
    assert main(["learn", "VLLM/secret-model", "--json"]) == 0
    assert [json.loads(line)["field"] for line in capsys.readouterr().out.splitlines()] == [
        "max_tokens_field",
        "refused_keywords",
    ]


def test_facts_are_forgotten(file: Path, capsys: Captured) -> None:
    assert main(["learn", "vllm/other", "--forget"]) == 0
    assert main(["learn", "--forget"]) == 0
    assert capsys.readouterr().err == "segue: 0 facts were removed\nsegue: 2 facts were removed\n"
    assert list(Facts(file)) == []


def test_what_is_exported_is_a_cell_and_a_case_without_words_of_the_user(file: Path, capsys: Captured) -> None:
    assert main(["learn", "--export"]) == 0
    out = capsys.readouterr().out
    assert "x-my-secret" not in out and "localhost" not in out
    first, second = out.split("# src/segue/catalog/families.toml\n")[1:]
    cell, _, case = first.partition("# tests/cases/cures/1-vllm-max_tokens_field.json\n")
    [family] = tomllib.loads(cell)["families"]
    assert family == {
        "models": ["vllm/secret-model"],
        "protocol": "openai-completions",
        "why": CURES[0].example,
        "dialect": {"max_tokens_field": "max_completion_tokens"},
    }
    assert json.loads(case)["value"] == "max_completion_tokens"
    assert json.loads(second.partition(".json\n")[2])["value"] == ["pattern"]


def test_the_keywords_that_are_exported_are_those_of_json_schema() -> None:
    assert {"propertyNames", "readOnly", "$ref"} <= KEYWORDS


def test_a_damaged_file_is_reported(file: Path, capsys: Captured) -> None:
    file.write_text("[[families]]\nmodels = 3\n")
    assert main(["learn"]) == 0
    assert "families[0] is not a fact of this version" in capsys.readouterr().err


def test_segue_run_keeps_what_it_learns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.setenv("SEGUE_LEARNT", str(tmp_path / "learnt.toml"))
    monkeypatch.delenv("SEGUE_LEARN")

    def refuses(body: dict[str, object]) -> str | None:
        return "unknown variant `developer`, expected one of `system`, `user`" if "developer" in str(body) else None

    with StandIn("azure", protocol="openai-completions", refuses=refuses, key="standin-key") as server:
        catalog = tmp_path / "catalog.toml"
        catalog.write_text(f'[providers.azure]\nbase_url = "{server.url}"\nprotocols = ["openai-completions"]\n')
        monkeypatch.setenv("SEGUE_CATALOG", str(catalog))
        monkeypatch.setenv("AZURE_OPENAI_API_KEY", "standin-key")
        command = ["run", "Hello", "--model", "azure/gpt-4.1", "--system", "Be brief."]
        for number in range(2):
            assert main([*command, "--store", str(tmp_path / f"{number}.db")]) == 0
        assert len(server.requests) == 3
    err = capsys.readouterr().err
    assert err.count("it was sent again, changed: the system prompt has the role that the target knows") == 1
    assert main(["learn"]) == 0
    assert 'system_role = "system"' in capsys.readouterr().out
