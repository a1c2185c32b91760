"""`segue models`: filters, columns, JSON, exit status."""

import json
from pathlib import Path

import pytest

from segue.cli import main


@pytest.fixture(autouse=True)
def no_user_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SEGUE_CATALOG", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))


def segue_models(*argv: str) -> int:
    return main(["models", *argv])


def test_all_words_must_match_in_any_case(capsys: pytest.CaptureFixture[str]) -> None:
    assert segue_models("SONNET", "anthropic/", "4-5") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("model")
    assert any(line.startswith("anthropic/claude-sonnet-4-5 ") for line in lines)
    assert all("sonnet" in line and "4-5" in line for line in lines[1:])


def test_columns_show_limits_inputs_reasoning_and_prices(capsys: pytest.CaptureFixture[str]) -> None:
    segue_models("anthropic/claude-sonnet-4-5-20250929")
    row = capsys.readouterr().out.splitlines()[1].split()
    assert row[1:] == ["200,000", "64,000", "text+image", "yes", "3", "15", "0.3", "3.75"]


def test_a_provider_can_be_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    assert segue_models("--provider", "Mistral", "large") == 0
    assert all(line.startswith("mistral/") for line in capsys.readouterr().out.splitlines()[1:])


def test_json_has_the_resolved_models_with_the_cells_that_differ(capsys: pytest.CaptureFixture[str]) -> None:
    assert segue_models("--json", "deepseek/deepseek-v4-pro", "--provider", "deepseek") == 0
    (model,) = json.loads(capsys.readouterr().out)
    assert model["provider"] == "deepseek"
    assert model["protocol"] == "openai-completions"
    assert model["dialect"]["reasoning_required"] == "always"
    assert "tool_name_field" not in model["dialect"]
    assert {"contextWindow", "maxTokens", "cost", "input", "reasoning"} <= set(model)


def test_no_match_is_status_1_with_a_message_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    assert segue_models("no-such-model-anywhere") == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "no-such-model-anywhere" in captured.err


def test_an_unknown_provider_or_a_bad_file_is_status_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert segue_models("--provider", "gemini") == 2
    assert "did you mean google?" in capsys.readouterr().err
    (tmp_path / "bad.toml").write_text("[models.plain]", encoding="utf-8")
    assert segue_models("--catalog", str(tmp_path / "bad.toml")) == 2
    assert "models.plain" in capsys.readouterr().err


def test_models_of_a_user_catalog_are_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('[models."vllm/my-model"]\ncontext_window = 9_000\n', encoding="utf-8")
    assert segue_models("--catalog", str(path), "vllm") == 0
    assert "vllm/my-model" in capsys.readouterr().out
