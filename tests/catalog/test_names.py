"""From a name to a model: separators, what is unknown, and what the errors say."""

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


def test_an_unknown_model_works_and_says_so_once() -> None:
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


def test_a_model_that_has_a_row_says_nothing() -> None:
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
def test_an_unknown_provider_is_told_the_nearest(typed: str, meant: str) -> None:
    with pytest.raises(UnknownProviderError, match=f"did you mean {meant}"):
        get_model(f"{typed}/some-model", catalog=CATALOG)
    with pytest.raises(UnknownProviderError, match=f"did you mean {meant}"):
        get_provider(typed, CATALOG)


def test_a_provider_that_is_like_no_other_is_told_all() -> None:
    with pytest.raises(UnknownProviderError, match="the providers are anthropic, openai"):
        get_model("xyzzyxyzzy/some-model", catalog=CATALOG)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("gpt-5.6-terra", "openai/gpt-5.6-terra"),
        ("no-such-model", "provider/model"),
        ("anthropic", "anthropic/model"),
        ("anthropic/", "no model id"),
        ("", "provider/model"),
    ],
)
def test_a_name_without_provider_or_model_shows_the_form(name: str, words: str) -> None:
    with pytest.raises(ModelError) as caught:
        get_model(name, catalog=CATALOG)
    assert words in str(caught.value)


def test_a_protocol_can_be_chosen_among_those_that_the_provider_speaks() -> None:
    assert get_model("openai/gpt-5.4", catalog=CATALOG).protocol == "openai-responses"
    chosen = get_model("openai/gpt-5.4", protocol="openai-completions", catalog=CATALOG)
    assert chosen.protocol == "openai-completions"
    assert chosen.dialect.id_form == "call-40"
    with pytest.raises(ModelError, match="it speaks openai-responses, openai-completions"):
        get_model("openai/gpt-5.4", protocol="mistral-chat", catalog=CATALOG)


def test_importing_the_catalog_reads_no_file_and_brings_no_heavy_module() -> None:
    code = (
        "import sys, segue.catalog, segue.catalog.loader as loader\n"
        "heavy = {'tomllib', 'difflib', 'argparse', 'rich'} & set(sys.modules)\n"
        "print(sorted(heavy), loader.built_in.cache_info().currsize)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[0] == "[] 0"
