"""The command that writes models.json, on small made-up sources."""

import gzip
import json
import sys
from datetime import date
from pathlib import Path
from runpy import run_path
from typing import Any

# The command is a script, not a package: it imports the module beside it through sys.path.
SCRIPTS = Path(__file__).parents[2] / "scripts"
sys.path.insert(0, str(SCRIPTS))
command = run_path(str(SCRIPTS / "catalog.py"))

from catalog_prices import Prices, as_row, choose, from_litellm  # noqa: E402
from catalog_sources import Facts, read_genai_prices, read_litellm, read_models_dev  # noqa: E402

Notes, build, write, with_earlier = (command[name] for name in ("Notes", "build", "write", "with_earlier"))

TODAY = date(2026, 11, 15)


def litellm(**entry: Any) -> dict[str, Any]:
    usual = {"litellm_provider": "groq", "mode": "chat", "max_input_tokens": 1000, "max_output_tokens": 100}
    return {**usual, "input_cost_per_token": 3e-06, "output_cost_per_token": 1.5e-05, **entry}


def prices(sent: float, output: float = 15.0, **others: float) -> Prices:
    return Prices({"input": sent, "output": output, **others})


def rows_of(*sources: tuple[str, dict[str, Facts]]) -> tuple[list[dict[str, Any]], Any]:
    notes = Notes()
    return build([(name, source, source.get) for name, source in sources], notes), notes


def test_prices_per_token_become_prices_per_million() -> None:
    facts = read_litellm(json.dumps({"groq/m": litellm(cache_read_input_token_cost=3e-07)}).encode())["groq/m"]
    assert facts.prices == prices(3.0, cache_read=0.3)


def test_steps_tiers_and_one_hour_caches_are_read_from_the_names_of_prices() -> None:
    entry = litellm(
        cache_creation_input_token_cost_above_1hr=6e-06,
        input_cost_per_token_above_272k_tokens=6e-06,
        input_cost_per_token_batches=1.5e-06,
        input_cost_per_token_above_272k_tokens_batches=3e-06,
        input_cost_per_audio_token=1,
    )
    assert as_row(from_litellm(entry)) == {
        "input": 3,
        "output": 15,
        "cache_write_long": 6,
        "steps": [{"above": 272_000, "input": 6, "output": 15}],
        "tiers": {"batch": {"input": 1.5, "steps": [{"above": 272_000, "input": 3}]}},
    }


def test_a_list_of_ranges_is_read_as_steps_and_thinking_has_the_higher_price() -> None:
    ranges = [
        {"input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06, "range": [0, 32000.0]},
        {
            "input_cost_per_token": 3e-06,
            "output_cost_per_token": 4e-06,
            "output_cost_per_reasoning_token": 8e-06,
            "range": [32000.0, 128000.0],
        },
    ]
    row = as_row(from_litellm({"tiered_pricing": ranges}))
    assert row == {"input": 1, "output": 2, "steps": [{"above": 32_000, "input": 3, "output": 8}]}


def test_no_price_falls_with_the_length_of_the_prompt() -> None:
    row = as_row(Prices({"input": 3.0, "output": 15.0}, {1000: {"input": 2.0, "output": 20.0}}))
    assert row["steps"] == [{"above": 1000, "input": 3, "output": 20}]


def test_current_sources_decide_an_older_one_breaks_a_tie_and_otherwise_the_higher_price_is_doubtful() -> None:
    current = ("a", "b")
    one, two = prices(1.0, 5.0, cache_read=0.1), prices(2.0, 6.0)
    assert choose({"a": one, "old": two}, current).prices.pair == (1, 5)
    assert choose({"a": one, "b": two, "old": one}, current).prices.pair == (1, 5)
    chosen = choose({"a": one, "b": two}, current)
    assert (chosen.prices.rates, chosen.source, chosen.doubtful) == ({"input": 2, "output": 6}, "b", True)
    assert choose({"old": two}, current).prices.pair == (2, 6)


def test_models_that_are_not_for_chat_are_left_out_and_retired_ones_stay() -> None:
    entries = {
        "groq/stays": litellm(deprecation_date="2026-12-01"),
        "groq/retired": litellm(deprecation_date="2026-11-01"),
        "groq/vectors": litellm(mode="embedding"),
        "groq/some-tts-1": litellm(),
        "azure/eu/gpt-5": litellm(litellm_provider="azure"),
        "elsewhere/model": litellm(litellm_provider="elsewhere"),
    }
    rows, notes = rows_of(("litellm", dict(read_litellm(json.dumps(entries).encode()))))
    assert [(row["id"], row["retires"]) for row in rows] == [("retired", "2026-11-01"), ("stays", "2026-12-01")]
    assert notes.counts["left out"] == 3


def test_the_first_source_that_knows_decides_whether_a_model_is_for_chat() -> None:
    """A7: an odd entry of an old source does not drop a model that a current one describes."""
    limits = Facts(context_window=10, max_tokens=5)
    painter = Facts(context_window=10, max_tokens=5, unwanted=True)
    rows, _ = rows_of(
        ("litellm", {"groq/a": Facts(unwanted=True), "groq/b": Facts(context_window=10, max_tokens=5, unwanted=False)}),
        ("models-dev", {"groq/a": limits, "groq/b": painter, "groq/c": painter}),
    )
    assert [row["id"] for row in rows] == ["b"]


def test_a_disagreement_is_reported_with_the_source_that_is_used() -> None:
    rows, notes = rows_of(
        ("models-dev", {"groq/m": Facts(name="M", context_window=2000, max_tokens=100, prices=prices(2.0))}),
        ("litellm", {"groq/m": Facts(context_window=1000, max_tokens=100, prices=prices(3.0))}),
        ("genai-prices", {"groq/m": Facts(prices=prices(4.0))}),
    )
    assert notes.lines == [
        "disagree: groq/m context_window: litellm 1000 | models-dev 2000 -> litellm",
        "disagree: groq/m prices: litellm 3/15 | genai-prices 4/15 | models-dev 2/15 -> genai-prices (the higher one)",
    ]
    assert (rows[0]["context_window"], rows[0]["cost"]["input"], rows[0]["name"]) == (1000, 4, "M")
    assert rows[0]["unverified"] == ["input", "reasoning", "tools", "cost"]


def test_what_no_source_states_is_an_assumption_and_says_so() -> None:
    limits = {"context_window": 10, "max_tokens": 5}
    stated = Facts(image=False, reasoning=False, tools=False, **limits)
    rows, _ = rows_of(
        ("litellm", {"groq/a": Facts(**limits), "groq/b": stated, "groq/c": Facts(**limits)}),
        ("models-dev", {"groq/c": Facts(image=True, tools=True)}),
    )
    assert [row.get("unverified") for row in rows] == [["input", "reasoning", "tools"], None, ["reasoning"]]


def test_of_two_current_windows_the_smaller_is_used_unless_one_is_the_other_rounded() -> None:
    rows, _ = rows_of(
        ("litellm", {"groq/a": Facts(context_window=1_048_576, max_tokens=5), "groq/b": Facts(context_window=900)}),
        ("genai-prices", {"groq/a": Facts(context_window=1_000_000), "groq/b": Facts(context_window=500)}),
    )
    assert [(row["context_window"], "context_window" in row.get("unverified", ())) for row in rows] == [
        (1_048_576, False),
        (500, True),
    ]


def test_unknown_is_absent_and_a_zero_of_one_source_is_ignored() -> None:
    free = Facts(context_window=10, max_tokens=5, prices=prices(0.0, 0.0))
    rows, notes = rows_of(("litellm", {"groq/a": free, "ollama/b": free}))
    assert [row["cost"] for row in rows] == [{}, {"input": 0, "output": 0}]
    assert notes.counts["odd"] == 1


def test_a_price_in_the_wrong_unit_and_an_output_beyond_the_window_are_reported() -> None:
    rows, notes = rows_of(("litellm", {"groq/m": Facts(context_window=10, max_tokens=50, prices=prices(3_000_000.0))}))
    assert (rows[0]["max_tokens"], rows[0]["cost"]) == (10, {})
    assert notes.counts["odd"] == 2


def test_a_model_without_a_window_gets_the_careful_defaults() -> None:
    rows, notes = rows_of(("genai-prices", {"groq/m": Facts(prices=prices(1.0))}))
    assert rows == []
    assert notes.counts["without limits"] == 1


def test_an_output_limit_that_repeats_the_window_counts_as_unknown() -> None:
    """A6: another host's limit, or a careful number, replaces it."""
    copied = {"max_input_tokens": 1_000_000, "max_output_tokens": 1_000_000}
    entries = {
        "groq/vendor/some-model-1.5": litellm(**copied),
        "groq/other": litellm(**copied),
        "groq/small": litellm(max_input_tokens=8192, max_output_tokens=8192),
        "cerebras/Some-Model-1p5": litellm(litellm_provider="cerebras", max_output_tokens=500),
    }
    rows, _ = rows_of(("litellm", dict(read_litellm(json.dumps(entries).encode()))))
    assert {row["id"]: (row["max_tokens"], "max_tokens" in row["unverified"]) for row in rows} == {
        "Some-Model-1p5": (500, False),
        "vendor/some-model-1.5": (500, True),
        "other": (32_768, True),
        "small": (8192, False),
    }


def test_the_window_of_openai_is_the_total_and_its_input_has_a_limit_of_its_own() -> None:
    """A4: one source names the total, another one the input."""
    rows, _ = rows_of(
        (
            "litellm",
            {
                "openai/gpt-5.2": Facts(context_window=272_000, max_tokens=128_000),
                "openai/gpt-5.4": Facts(context_window=1_050_000, max_tokens=128_000),
                "openai/gpt-6-sol": Facts(context_window=922_000, max_tokens=128_000),
                "openai/gpt-4.1": Facts(context_window=1_047_576, max_tokens=32_768),
            },
        )
    )
    assert {row["id"]: (row["context_window"], row.get("max_input_tokens")) for row in rows} == {
        "gpt-4.1": (1_047_576, None),
        "gpt-5.2": (400_000, 272_000),
        "gpt-5.4": (1_050_000, 922_000),
        "gpt-6-sol": (1_050_000, 922_000),
    }


def test_a_model_cannot_call_tools_only_if_a_source_states_it_and_none_the_contrary() -> None:
    limits = {"context_window": 10, "max_tokens": 5}
    rows, _ = rows_of(
        ("litellm", {"groq/a": Facts(tools=None, **limits), "groq/b": Facts(tools=True, **limits)}),
        ("models-dev", {"groq/a": Facts(tools=False), "groq/b": Facts(tools=False)}),
    )
    assert [row.get("tools") for row in rows] == [False, None]


def test_rows_that_no_source_has_any_more_are_kept() -> None:
    """A5: sessions that name a retired model keep its prices."""
    present = write([{"provider": "groq", "id": "old", "cost": {"input": 1}}], {}, TODAY)
    rows, notes = rows_of(("litellm", {"groq/new": Facts(context_window=10, max_tokens=5)}))
    assert [row["id"] for row in with_earlier(rows, present, notes)] == ["new", "old"]
    assert notes.counts["kept"] == 1


def test_a_router_s_model_has_the_limits_of_the_maker_and_its_own_price() -> None:
    rows, _ = rows_of(
        ("litellm", {"anthropic/claude-x-5-5": Facts(context_window=10, max_tokens=5, image=True, reasoning=True)}),
        ("genai-prices", {"openrouter/anthropic/claude-x-5.5": Facts(prices=prices(7.0))}),
    )
    assert [(row["provider"], row["max_tokens"], row["cost"].get("input")) for row in rows] == [
        ("anthropic", 5, None),
        ("openrouter", 5, 7),
    ]


def test_models_dev_is_read_with_its_modalities() -> None:
    entry = {"name": "M", "limit": {"context": 10, "output": 5}, "modalities": {"input": ["text", "image"]}}
    model = {**entry, "cost": {"input": 1}, "reasoning": True}
    model["modalities"] = {"input": ["text", "image"], "output": ["text"]}
    painter = {**entry, "modalities": {"input": ["text"], "output": ["image"]}}
    data = gzip.compress(json.dumps({"groq": {"models": {"m": model, "p": painter}}}).encode())
    found = read_models_dev(data)
    assert found["groq/m"] == Facts(
        name="M",
        context_window=10,
        max_tokens=5,
        image=True,
        reasoning=True,
        prices=Prices({"input": 1}),
        unwanted=False,
    )
    assert found["groq/p"].unwanted


GENAI = b"""
import datetime
from decimal import Decimal
from .types import *
providers: list[Provider] = [
    Provider(
        id='groq',
        models=[
            ModelInfo(
                id='m-latest',
                match=ClauseOr(or_=[ClauseStartsWith(starts_with='m-'), ClauseEquals(equals='m')]),
                context_window=1000,
                prices=[
                    ConditionalPrice(prices=ModelPrice(input_mtok=Decimal('1'))),
                    ConditionalPrice(
                        constraint=StartDateConstraint(start_date=datetime.date(2026, 10, 1)),
                        prices=ModelPrice(
                            input_mtok=TieredPrices(base=Decimal('2.5'), tiers=[Tier(start=200000, price=Decimal('5'))])
                        ),
                    ),
                    ConditionalPrice(
                        constraint=StartDateConstraint(start_date=datetime.date(2027, 1, 1)),
                        prices=ModelPrice(input_mtok=Decimal('9')),
                    ),
                ],
            ),
        ],
    ),
]
"""


def test_genai_prices_is_read_without_running_it_at_current_prices() -> None:
    known, lookup = read_genai_prices(GENAI, TODAY)
    assert list(known) == ["groq/m-latest"]
    facts = lookup("groq/m-2026")
    assert facts is not None
    assert (facts.prices, facts.context_window) == (Prices({"input": 2.5}, {200_000: {"input": 5}}), 1000)
    assert lookup("groq/other") is None


def test_the_file_has_a_header_and_one_row_per_line_and_is_deterministic() -> None:
    rows, _ = rows_of(("litellm", {f"groq/{name}": Facts(context_window=10, max_tokens=5) for name in "ba"}))
    text = write(rows, {"litellm": "1"}, TODAY)
    document = json.loads(text)
    assert (document["generated"], document["sources"]) == ("2026-11-15", {"litellm": "1"})
    assert [row["id"] for row in document["models"].values()] == ["a", "b"]
    assert [line.partition(":")[0] for line in text.splitlines()[4:6]] == ['"groq/a"', '"groq/b"']
