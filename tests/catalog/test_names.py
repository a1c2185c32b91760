"""Resolving a name to a model: separators, unknown names, and error texts."""

import subprocess
import sys
import warnings

import pytest
from hypothesis import given, strategies as st

from segue.catalog import Catalog, UnknownModelWarning, get_model, get_provider
from segue.errors import ModelError, UnknownProviderError
from segue.types import Usage

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


FORMS = [
    # a name, the id of the row that has its facts, and whether its prices hold
    ("openrouter/anthropic/claude-sonnet-4.5:thinking", "anthropic/claude-sonnet-4.5", "same"),
    ("openrouter/openai/gpt-5:online", "openai/gpt-5", "unverified"),
    ("openrouter/openai/gpt-5:nitro", "openai/gpt-5", "unverified"),
    ("openrouter/z-ai/glm-4.6:batch", "z-ai/glm-4.6", "unknown"),
    ("openrouter/~anthropic/claude-sonnet-latest", "anthropic/claude-sonnet-5.5", "unverified"),
    (
        "amazon-bedrock/in.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "anthropic.claude-sonnet-4-5-20250929-v1:0",
        "unverified",
    ),
    (
        "amazon-bedrock/arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-opus-5-5",
        "us.anthropic.claude-opus-5-5",
        "same",
    ),
    (
        "amazon-bedrock/anthropic.claude-3-5-sonnet-20241022-v2:0:200k",
        "anthropic.claude-3-5-sonnet-20241022-v2:0",
        "same",
    ),
    ("amazon-bedrock/openai.gpt-5.4", "us.openai.gpt-5.4", "unverified"),
    ("amazon-bedrock/xai.grok-4.6", "us.xai.grok-4.6", "unverified"),
    ("amazon-bedrock/in.openai.gpt-5.6-luna", "us.openai.gpt-5.6-luna", "unverified"),
    ("google-vertex/gemini-2.5-pro@default", "gemini-2.5-pro", "same"),
    ("google-vertex/publishers/google/models/gemini-2.5-pro", "gemini-2.5-pro", "same"),
    ("google/models/gemini-2.5-pro", "gemini-2.5-pro", "same"),
    ("openai/ft:gpt-4.1-2025-04-14:acme:name:id", "ft:gpt-4.1-2025-04-14", "same"),
    ("openai/ft:gpt-5.4:acme::id", "gpt-5.4", "unknown"),
    ("anthropic/claude-sonnet-latest", "claude-sonnet-5-5", "unverified"),
    ("anthropic/claude-opus-5-5-20270101", "claude-opus-5-5", "same"),
    ("fireworks/kimi-k3", "accounts/fireworks/models/kimi-k3", "same"),
    ("fireworks/accounts/fireworks/routers/glm-5p3-latest", "accounts/fireworks/models/glm-5p3", "unknown"),
]


@pytest.mark.parametrize(("name", "base", "prices"), FORMS)
def test_another_form_of_a_name_has_the_facts_of_its_base_and_keeps_its_id(name: str, base: str, prices: str) -> None:
    """A9."""
    provider, _, model_id = name.partition("/")
    model, known = CATALOG.resolve(name), CATALOG.resolve(f"{provider}/{base}")
    assert (model.id, model.known, model.name) == (model_id, True, known.name)
    assert (model.context_window, model.max_tokens, model.input) == (
        known.context_window,
        known.max_tokens,
        known.input,
    )
    assert model.dialect == known.dialect
    assert model.cost == (type(known.cost)() if prices == "unknown" else known.cost)
    assert ("cost" in model.unverified) == (prices != "same" or "cost" in known.unverified)


@pytest.mark.parametrize(
    "name",
    [
        "openrouter/auto",
        "amazon-bedrock/us.amazon.nova-premier-v1:0",
        "amazon-bedrock/xai.grok-4.3",
        "moonshot/kimi-k3.1-pro",
        "openai/gpt-6.1-terra",
        "fireworks/qwen3p8-max",
        "fireworks/muse-spark-open",
        "fireworks/ember-1",
        "kimi-coding/k3",
        "qwen-token-plan/qwen3.8-max",
    ],
)
def test_models_that_were_missing_have_rows(name: str) -> None:
    """A8, A9."""
    model = CATALOG.resolve(name)
    assert model.known
    assert model.context_window > 100_000


@pytest.mark.parametrize(
    "name",
    [
        "amazon-bedrock/arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abcdef",
        "openai/gpt-99",
        "openrouter/acme/nothing:thinking",
        "anthropic/-latest",
    ],
)
def test_a_form_without_a_known_base_is_unknown(name: str) -> None:
    assert not CATALOG.resolve(name).known


# A5: sessions name them, although they are gone.
@pytest.mark.parametrize(
    "name",
    [
        "xai/grok-4",
        "xai/grok-4-0709",
        "xai/grok-4-latest",
        "xai/grok-4-fast",
        "xai/grok-3",
        "xai/grok-3-mini",
        "anthropic/claude-3-5-sonnet-latest",
        "openai/chatgpt-4o-latest",
        "openai/codex-mini-latest",
        "google/gemini-2.0-flash-001",
        "google/gemini-1.5-pro",
    ],
)
def test_a_retired_model_keeps_its_row_and_its_prices(name: str) -> None:
    model = CATALOG.resolve(name)
    assert model.known
    assert model.cost.input is not None
    assert model.cost.output is not None


@pytest.mark.parametrize(
    ("name", "day"), [("openai/gpt-4", "2026-10-23"), ("anthropic/claude-sonnet-4-5", "2026-11-30")]
)
def test_the_last_day_of_a_model_is_known(name: str, day: str) -> None:
    """A10."""
    assert CATALOG.resolve(name).retires == day


# A7: an odd entry of an old source must not hide them.
@pytest.mark.parametrize("name", ["azure/gpt-5.1", "azure/gpt-5.1-chat", "azure/gpt-5.1-codex"])
def test_models_that_one_source_describes_wrongly_have_rows(name: str) -> None:
    assert CATALOG.resolve(name).known


@pytest.mark.parametrize(
    ("name", "total", "sent"),
    [
        ("openai/gpt-5", 400_000, 272_000),
        ("openai/gpt-5.4", 1_050_000, 922_000),
        ("openai/gpt-6-sol", 1_050_000, 922_000),
        ("azure/gpt-5.4", 1_050_000, 922_000),
        ("openai/gpt-4.1", 1_047_576, None),
    ],
)
def test_the_window_is_the_total_and_the_input_may_have_a_limit_of_its_own(
    name: str, total: int, sent: int | None
) -> None:
    """A4."""
    model = CATALOG.resolve(name)
    assert (model.context_window, model.max_input_tokens) == (total, sent)
    assert model.input_limit(answer=16_384) <= (sent or total)


def test_no_output_limit_is_a_copy_of_a_large_window() -> None:
    """A6: a copy makes the clamp of ``Options.max_tokens`` useless."""
    copies = [
        ref for ref, row in CATALOG.models.items() if row.max_tokens == row.context_window and row.max_tokens > 32_768
    ]
    assert copies == []


def cost(name: str, **usage: int) -> float | None:
    found = CATALOG.resolve(name).cost.of(Usage(**usage))
    return None if found is None else round(found.total, 6)


def test_the_costs_of_long_prompts_and_of_one_hour_caches_are_those_of_the_price_lists() -> None:
    """A3."""
    assert cost("openai/gpt-5.4", input=400_000, output=1_000) == 2.0225
    assert cost("openai/gpt-5.4", input=200_000, output=1_000) == 0.515
    assert cost("anthropic/claude-haiku-5-5", input=200_000, output=1_000) == round((200 * 0.5 + 2.5) / 1000, 6)
    assert cost("anthropic/claude-haiku-5-5", input=100_000, output=1_000) == round((100 * 0.1 + 0.5) / 1000, 6)
    assert cost("dashscope/qwen3-max", input=200_000) == 0.6
    assert cost("anthropic/claude-sonnet-4-5", cache_write=1_000_000, cache_write_long=1_000_000) == 6.0
    assert cost("amazon-bedrock/us.amazon.nova-pro-v1:0", cache_write=1_000_000) == 0.8


PRICED = [ref for ref, row in CATALOG.models.items() if row.cost.input is not None]


@given(st.sampled_from(PRICED), st.integers(1, 2_000_000), st.integers(1, 2_000_000), st.integers(0, 10))
def test_a_larger_prompt_with_the_same_cached_share_never_costs_less(
    name: str, one: int, other: int, tenth: int
) -> None:
    def cost_of(prompt: int) -> float | None:
        cached = prompt * tenth // 10
        found = CATALOG.resolve(name).cost.of(Usage(input=prompt - cached, cache_read=cached, output=100))
        return None if found is None else found.total

    small, large = cost_of(min(one, other)), cost_of(max(one, other))
    assert small is None or large is None or small <= large + 1e-12
