"""Shipped rows, newer rows, learnt facts and the user's file: which one a model has its facts from. A user's file may
change and add families, too."""

from pathlib import Path

import pytest

from segue.catalog import Catalog, RefreshedFile, get_model, write_refreshed
from segue.catalog.refreshed import Refreshed
from segue.errors import CatalogError
from segue.healing import Facts
from segue.types import Model

REF = "openai/gpt-4.1"
SHIPPED = Catalog.load()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the files of a user are. None of them exists."""
    for name, file in {"REFRESHED": "models.json", "LEARNT": "learnt.toml", "CATALOG": "catalog.toml"}.items():
        monkeypatch.setenv(f"SEGUE_{name}", str(tmp_path / file))
    monkeypatch.setenv("SEGUE_LEARN", "use")
    (tmp_path / "catalog.toml").touch()
    return tmp_path


def refresh(folder: Path) -> None:
    newer = Refreshed(context_window=900_000, max_tokens=30_000)
    write_refreshed(str(folder / "models.json"), RefreshedFile(models={REF: newer}))


def learn(folder: Path, model: Model) -> None:
    values = {"max_tokens": 20_000, "sampling": False}
    Facts(folder / "learnt.toml").learn(model, model.amended(values), values, "C1", "refused")


def write(folder: Path, text: str) -> None:
    (folder / "catalog.toml").write_text(text, encoding="utf-8")


ROW = f'[models."{REF}"]\nmax_tokens = 25_000\n'
FAMILY = """
[[families]]
models = ["openai/gpt-4.1*"]
protocol = "openai-responses"
why = "seen on 2026-11-18"
dialect = { sampling = true }
"""


def test_of_four_sources_the_last_that_has_a_value_counts(folder: Path) -> None:
    found = [get_model(REF)]
    refresh(folder)
    found.append(get_model(REF))
    learn(folder, found[-1])
    found.append(get_model(REF))
    write(folder, ROW)
    found.append(get_model(REF))
    write(folder, ROW + FAMILY)
    found.append(get_model(REF))
    assert found[0] == SHIPPED.resolve(REF)
    assert [model.name for model in found] == [found[0].name] * 5
    assert [model.context_window for model in found] == [1_047_576, *[900_000] * 4]
    assert [model.max_tokens for model in found] == [32_768, 30_000, 20_000, 25_000, 25_000]
    assert [model.dialect.sampling for model in found] == [True, True, False, False, True]  # type: ignore[attr-defined]
    assert [model.learnt for model in found[2:]] == [("max_tokens", "sampling"), ("sampling",), ()]


def test_what_the_user_sets_also_counts_for_other_forms_of_the_name(folder: Path) -> None:
    form = get_model(f"{REF}@default")
    assert form.known
    learn(folder, form)
    assert get_model(form.ref).max_tokens == 20_000
    write(folder, ROW + FAMILY)
    model = get_model(form.ref)
    assert (model.max_tokens, model.dialect.sampling) == (25_000, True)  # type: ignore[attr-defined]


FAMILIES = """
[[families]]
models = ["moonshot/*", "acme/*"]
protocol = "openai-completions"
why = "Kimi may be forced again"
dialect = { forced_tool_choice = true }
reasoning = true
adds_input = ["image"]

[providers.acme]
name = "Acme"
base_url = "https://llm.acme.example/v1"
protocols = ["openai-completions"]
dialect.openai-completions = { forced_tool_choice = false }

[models."moonshot/kimi-k2.6".dialect.openai-completions]
forced_tool_choice = false
"""


@pytest.mark.parametrize(
    ("name", "forced"),
    [("moonshot/kimi-k2.5", True), ("moonshot/never-heard-of", True), ("acme/x", True), ("moonshot/kimi-k2.6", False)],
)
def test_a_family_of_the_user_comes_after_the_built_in_ones_and_before_rows(
    folder: Path, name: str, forced: bool
) -> None:
    write(folder, FAMILIES)
    model = Catalog.load(folder / "catalog.toml").resolve(name)
    assert model.dialect.forced_tool_choice is forced
    assert (model.reasoning, "image" in model.input) == (True, True)
    assert SHIPPED.resolve("moonshot/kimi-k2.5").dialect.forced_tool_choice is False


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("families = 3", "families: expected a list of tables"),
        (FAMILY.replace("sampling", "sampeling"), r"families\[0\].*did you mean sampling\?"),
        (FAMILY.replace("openai-responses", "openai-response"), r"families\[0\].*openai-response"),
        (FAMILY.replace("why", "because"), r"families\[0\].*because"),
        (FAMILY.replace('["openai/gpt-4.1*"]', "[]"), r"families\[0\].*models"),
        (FAMILY + FAMILY.replace("true", '"yes"'), r"families\[1\].*sampling"),
    ],
)
def test_a_fault_in_a_family_is_reported_with_its_place(folder: Path, text: str, fault: str) -> None:
    write(folder, text)
    with pytest.raises(CatalogError, match=fault):
        Catalog.load(folder / "catalog.toml")
