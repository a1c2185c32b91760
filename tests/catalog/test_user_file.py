"""A user's TOML file adds rows, changes rows field by field, and gets one error with all faults."""

from pathlib import Path

import pytest

from segue.catalog import Catalog, get_model, get_provider, list_models
from segue.errors import CatalogError

GOOD = """
[providers.acme]
name = "Acme"
base_url = "https://llm.acme.example/v1"
keys = ["ACME_API_KEY"]
protocols = ["openai-completions"]
defaults = { context_window = 64_000, max_tokens = 4_000 }

[providers.acme.dialect.openai-completions]
id_form = "call-40"
reasoning_field = ""

[models."acme/house-model"]
name = "House Model"
context_window = 100_000
reasoning = true
cost = { input = 1.5, output = 6 }

[models."acme/house-model".dialect.openai-completions]
alternate_roles = false

[providers.openai]
base_url = "https://proxy.acme.example/openai/v1"

[models."anthropic/claude-opus-5"]
max_tokens = 1_000
cost = { input = 1 }
"""

BAD = """
[providers.Acme]
name = "Acme"
base_url = 5
protocols = ["openai-completion"]
colour = "red"

[providers.groq.dialect.openai-completions]
id_form = "ten"
sampeling = true

[providers.groq.dialect.mistral-chat]
effort = ["high"]

[models."nowhere/model"]
context_window = 10

[models."groq/thing"]
context_window = 10
max_tokens = 20
input = ["text", "smell"]

[models."anthropic/claude-opus-5"]
max_tokens = 2_000_000

[models.plain]
name = "no provider"

[other]
"""


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "catalog.toml"
    path.write_text(GOOD, encoding="utf-8")
    return path


def test_a_file_adds_a_provider_and_a_model(good: Path) -> None:
    catalog = Catalog.load(good)
    model = get_model("acme/house-model", catalog=catalog)
    assert model.known
    assert model.name == "House Model"
    assert model.base_url == "https://llm.acme.example/v1"
    assert (model.context_window, model.max_tokens, model.reasoning) == (100_000, 4_000, True)
    assert (model.cost.input, model.cost.cache_read) == (1.5, None)
    assert model.dialect.id_form == "call-40"
    assert model.dialect.alternate_roles is False
    assert "acme/house-model" in list_models(catalog)


def test_a_file_changes_a_row_field_by_field(good: Path) -> None:
    catalog, before = Catalog.load(good), Catalog.load()
    model, old = catalog.resolve("anthropic/claude-opus-5"), before.resolve("anthropic/claude-opus-5")
    assert (model.max_tokens, model.cost.input) == (1_000, 1)
    assert (model.context_window, model.cost.output, model.name) == (old.context_window, old.cost.output, old.name)
    assert get_provider("openai", catalog).base_url.startswith("https://proxy.acme.example")
    assert get_provider("openai", catalog).keys == ("OPENAI_API_KEY",)
    assert get_provider("openai", before).base_url == "https://api.openai.com/v1"


def test_all_faults_of_a_file_are_reported_together_with_their_places(tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(BAD, encoding="utf-8")
    with pytest.raises(CatalogError) as caught:
        Catalog.load(path)
    faults = caught.value.faults
    for place, reason in [
        ("other", "unknown section"),
        ("providers.Acme", "lower case"),
        ("providers.Acme.base_url", "str"),
        ("providers.Acme.colour", "unknown field"),
        ("providers.groq.dialect.openai-completions.id_form", "ten"),
        ("providers.groq.dialect.openai-completions.sampeling", "did you mean sampling?"),
        ("providers.groq.dialect.mistral-chat", "not one of its protocols"),
        ('models."nowhere/model"', "unknown provider"),
        ('models."groq/thing".input', "smell"),
        ('models."anthropic/claude-opus-5".max_tokens', "larger than the context window"),
        ("models.plain", "provider/model"),
    ]:
        assert any(fault.startswith(place) and reason in fault for fault in faults), (place, reason, faults)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(("text", "reason"), [("not toml", "not TOML"), ("models = 3", "models: expected a table")])
def test_a_file_that_is_not_a_catalog_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CatalogError, match=reason):
        Catalog.load(path)


def test_a_file_that_has_changed_is_read_again(good: Path) -> None:
    assert Catalog.load(good).resolve("acme/house-model").context_window == 100_000
    good.write_text(GOOD.replace("100_000", "90_000"), encoding="utf-8")
    assert Catalog.load(good).resolve("acme/house-model").context_window == 90_000


def test_the_variable_sets_the_file_and_a_missing_file_is_an_error(
    good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEGUE_CATALOG", str(good))
    assert get_model("acme:house-model").known
    monkeypatch.setenv("SEGUE_CATALOG", str(tmp_path / "missing.toml"))
    with pytest.raises(CatalogError, match=r"missing\.toml"):
        get_model("acme:house-model")


def test_the_file_in_the_configuration_directory_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SEGUE_CATALOG", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert "acme/house-model" not in list_models()
    (tmp_path / "segue").mkdir()
    (tmp_path / "segue" / "catalog.toml").write_text(GOOD, encoding="utf-8")
    assert "acme/house-model" in list_models()
