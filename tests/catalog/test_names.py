"""Resolving a name to a model: separators, unknown names, and error texts."""

import subprocess
import sys
import warnings

import pytest

from segue.catalog import Catalog, UnknownModelWarning, get_model, get_provider
from segue.errors import ModelError, UnknownProviderError

CATALOG = Catalog.load()


def test_slash_and_colon_name_the_same_model() -> None:
    assert get_model("anthropic/claude-sonnet-4-5", catalog=CATALOG) == get_model(
        "anthropic:claude-sonnet-4-5", catalog=CATALOG
    )


@pytest.mark.parametrize(
    ("name", "provider", "model_id"),
    [
        ("openrouter/anthropic/claude-opus-5", "openrouter", "anthropic/claude-opus-5"),
        ("ollama:llama3:8b", "ollama", "llama3:8b"),
        (
            "amazon-bedrock:us.anthropic.claude-haiku-4-5-20251001-v1:0",
            "amazon-bedrock",
            "us.anthropic.claude-haiku-4-5-20251001-v1:0",
        ),
        ("AnThropic/claude-opus-5", "anthropic", "claude-opus-5"),
    ],
)
def test_a_name_splits_at_its_first_separator(name: str, provider: str, model_id: str) -> None:
    model = get_model(name, catalog=CATALOG)
    assert (model.provider, model.id, model.known) == (provider, model_id, True)


def test_an_unknown_model_works_and_warns_once() -> None:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        first = get_model("groq/never-heard-of", catalog=CATALOG)
        assert get_model("groq:never-heard-of", catalog=CATALOG) == first
    assert [warning.category for warning in seen] == [UnknownModelWarning]
    assert "groq/never-heard-of" in str(seen[0].message)
    assert "32768" in str(seen[0].message)
    assert seen[0].filename == __file__
    assert not first.known
    assert first.cost.input is None
    assert first.input == ("text",)


def test_a_model_with_a_row_does_not_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        get_model("mistral/mistral-large-latest", catalog=CATALOG)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("gemini", "google"),
        ("bedrock", "amazon-bedrock"),
        ("vertex", "google-vertex"),
        ("kimi", "moonshot"),
        ("qwen", "dashscope"),
        ("glm", "zai"),
        ("together_ai", "together"),
        ("antropic", "anthropic"),
    ],
)
def test_the_error_of_an_unknown_provider_suggests_similar_names(typed: str, meant: str) -> None:
    with pytest.raises(UnknownProviderError, match=f"did you mean {meant}"):
        get_model(f"{typed}/some-model", catalog=CATALOG)
    with pytest.raises(UnknownProviderError, match=f"did you mean {meant}"):
        get_provider(typed, CATALOG)


def test_without_a_similar_name_the_error_lists_all_providers() -> None:
    with pytest.raises(UnknownProviderError, match="the providers are anthropic, openai"):
        get_model("xyzzyxyzzy/some-model", catalog=CATALOG)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("gpt-5.6-terra", "openai/gpt-5.6-terra"),
        ("no-such-model", "provider/model"),
        ("anthropic", "anthropic/model"),
        ("anthropic/", "no model id"),
        ("", "provider/model"),
    ],
)
def test_the_error_of_a_name_without_provider_or_model_shows_the_form(name: str, hint: str) -> None:
    with pytest.raises(ModelError) as caught:
        get_model(name, catalog=CATALOG)
    assert hint in str(caught.value)


def test_any_protocol_of_the_provider_can_be_chosen() -> None:
    assert get_model("openai/gpt-5.4", catalog=CATALOG).protocol == "openai-responses"
    chosen = get_model("openai/gpt-5.4", protocol="openai-completions", catalog=CATALOG)
    assert chosen.protocol == "openai-completions"
    assert chosen.dialect.id_form == "call-40"
    with pytest.raises(ModelError, match="it speaks openai-responses, openai-completions"):
        get_model("openai/gpt-5.4", protocol="mistral-chat", catalog=CATALOG)


def test_importing_the_catalog_reads_no_file_and_imports_no_heavy_module() -> None:
    code = (
        "import sys, segue.catalog, segue.catalog.loader as loader\n"
        "heavy = {'tomllib', 'difflib', 'argparse', 'rich'} & set(sys.modules)\n"
        "print(sorted(heavy), loader.built_in.cache_info().currsize)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[0] == "[] 0"
