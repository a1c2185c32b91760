"""`segue models`: filters, columns, JSON, exit status."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import segue
from segue.catalog import Catalog
from segue.cli import main
from segue.cli.keys import is_local


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
    prices = ["3.00", "15.00", "0.30", "3.75"]
    assert row[1:] == ["200,000", "64,000", "text+image+document", "yes", *prices, "2026-11-30", "ANTHROPIC_API_KEY"]
    segue_models("anthropic/claude-opus-5-5")
    assert capsys.readouterr().out.splitlines()[1].split()[-2:] == ["-", "ANTHROPIC_API_KEY"]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
@pytest.mark.parametrize(
    ("words", "note"),
    [
        (["anthropic/claude-sonnet-4-5"], "segue: until: anthropic/claude-sonnet-4-5 2026-11-30, "),
        (["openai/gpt"], "of them have a last day; a wider terminal shows it, and --json"),
        (["anthropic/claude-opus-5-5"], None),
    ],
)
def test_last_days_that_do_not_fit_into_the_table_are_below_it(
    words: list[str], note: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    from support.terminals import on_terminal

    monkeypatch.setenv("COLUMNS", "80")
    _, shown = on_terminal("models", *words)
    if note is None:
        assert "until" not in shown and "last day" not in shown
    else:
        assert note in shown


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
    assert (captured.out, captured.err) == ("", "segue: no model matches; segue models lists all of them\n")
    assert segue_models("no-such-model-anywhere", "--json") == 1
    assert json.loads(capsys.readouterr().out) == []


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


def listed(capsys: pytest.CaptureFixture[str], *argv: str) -> list[dict[str, Any]]:
    segue_models("--json", *argv)
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return found


FILTERS: dict[str, tuple[tuple[str, ...], Callable[[dict[str, Any]], bool]]] = {
    "images": (("--images",), lambda model: "image" in model["input"]),
    "reasoning": (("--reasoning",), lambda model: model["reasoning"]),
    "window": (("--window", "200k"), lambda model: model["contextWindow"] >= 200_000),
    "a large window": (("--window", "1m"), lambda model: model["contextWindow"] >= 1_000_000),
    "price": (
        ("--max-price", "0.5"),
        lambda model: model["cost"]["input"] is not None and model["cost"]["input"] <= 0.5,
    ),
    "provider": (("--provider", "mistral"), lambda model: model["provider"] == "mistral"),
    "key": (("--with-key",), lambda model: model["keySet"] or is_local(segue.get_provider(model["provider"]))),
}


@pytest.mark.parametrize("name", FILTERS)
def test_a_filter_leaves_exactly_the_models_that_pass_it(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for key in {key for provider in Catalog.load().providers.values() for key in provider.keys}:
        monkeypatch.delenv(key, raising=False)
    monkeypatch.setenv("GROQ_API_KEY", "sk-secret-of-the-tests")
    arguments, passes = FILTERS[name]
    everything = listed(capsys)
    found = listed(capsys, *arguments)
    assert found == [model for model in everything if passes(model)]
    assert 0 < len(found) < len(everything)
    assert "sk-secret" not in str(found)


def test_filters_are_combined(capsys: pytest.CaptureFixture[str]) -> None:
    found = listed(capsys, "--images", "--reasoning", "--window", "1m", "--max-price", "$1", "gemini")
    assert found and all("gemini" in model["id"] and model["reasoning"] for model in found)


@pytest.mark.parametrize("value", ["many", "-1", "1g", "", "1e9"])
def test_a_bad_window_or_price_is_status_2_with_an_example(value: str, capsys: pytest.CaptureFixture[str]) -> None:
    for option, example in (("--window", "such as 200000, 200k or 1m"), ("--max-price", "such as 0.5")):
        with pytest.raises(SystemExit, match="2"):
            segue_models(f"{option}={value}")
        assert example in " ".join(capsys.readouterr().err.split())


def test_the_variable_of_a_key_is_shown_and_whether_it_is_set(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    monkeypatch.setenv("GOOGLE_API_KEY", "sk-secret-of-the-tests")
    monkeypatch.delenv("MISTRAL_API_KEY", raising=False)
    segue_models("--provider", "google")
    assert all(line.endswith("GOOGLE_API_KEY ✓") for line in capsys.readouterr().out.splitlines()[1:])
    segue_models("--provider", "mistral")
    assert all(line.endswith("MISTRAL_API_KEY") for line in capsys.readouterr().out.splitlines()[1:])


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_the_table_fits_the_terminal_and_names_and_keys_stay_complete(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from support.terminals import on_terminal

    monkeypatch.setenv("COLUMNS", str(width))
    status, shown = on_terminal("models")
    *lines, last = re.sub(r"\x1b\[[0-9;]*m", "", shown).splitlines()
    while lines[-1].startswith("segue: "):
        lines.pop()
    assert status == 0 and " models; prices in dollars per million tokens" in last
    assert set(Catalog.default().models) <= {line.split()[0] for line in lines}
    assert all(len(line) <= width or len(line.split()) == 1 for line in lines)
    assert "$ in" in lines[0] and ("$ write" in lines[0]) is (width >= 200)
    assert all(variable in shown for variable in ("ANTHROPIC_API_KEY", "MISTRAL_API_KEY", "GROQ_API_KEY"))
