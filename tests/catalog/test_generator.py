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

from catalog_sources import Facts, read_genai_prices, read_litellm, read_models_dev  # noqa: E402

Notes, build, write = command["Notes"], command["build"], command["write"]

TODAY = date(2026, 11, 15)


def litellm(**entry: Any) -> dict[str, Any]:
    usual = {"litellm_provider": "groq", "mode": "chat", "max_input_tokens": 1000, "max_output_tokens": 100}
    return {**usual, "input_cost_per_token": 3e-06, "output_cost_per_token": 1.5e-05, **entry}


def rows_of(*sources: tuple[str, dict[str, Facts]]) -> tuple[list[dict[str, Any]], Any]:
    notes = Notes()
    return build([(name, source, source.get) for name, source in sources], notes), notes


def test_prices_per_token_become_prices_per_million() -> None:
    facts = read_litellm(json.dumps({"groq/m": litellm(cache_read_input_token_cost=3e-07)}).encode())["groq/m"]
    assert (facts.input, facts.output, facts.cache_read, facts.cache_write) == (3.0, 15.0, 0.3, None)


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
    assert [row["id"] for row in rows] == ["retired", "stays"]
    assert notes.counts["left out"] == 3


def test_a_model_is_left_out_if_one_source_marks_it_as_not_for_chat() -> None:
    rows, _ = rows_of(
        ("litellm", {"groq/m": Facts(unwanted=True)}),
        ("models-dev", {"groq/m": Facts(context_window=10, max_tokens=5)}),
    )
    assert rows == []


def test_a_disagreement_is_reported_and_the_first_source_in_order_is_used() -> None:
    rows, notes = rows_of(
        ("models-dev", {"groq/m": Facts(name="M", context_window=2000, max_tokens=100, input=2.0)}),
        ("litellm", {"groq/m": Facts(context_window=1000, max_tokens=100, input=3.0)}),
        ("genai-prices", {"groq/m": Facts(input=4.0)}),
    )
    assert notes.lines == [
        "disagree: groq/m context_window: litellm 1000 | models-dev 2000 -> litellm",
        "disagree: groq/m input: litellm 3 | genai-prices 4 | models-dev 2 -> litellm",
    ]
    assert (rows[0]["context_window"], rows[0]["cost"]["input"], rows[0]["name"]) == (1000, 3, "M")


def test_unknown_is_null_and_a_zero_of_one_source_is_ignored() -> None:
    limits = {"context_window": 10, "max_tokens": 5}
    rows, notes = rows_of(
        ("litellm", {"groq/a": Facts(input=0.0, **limits), "ollama/b": Facts(input=0.0, **limits)}),
    )
    assert [row["cost"]["input"] for row in rows] == [None, 0]
    assert rows[0]["cost"]["output"] is None
    assert notes.counts["odd"] == 1


def test_a_price_in_the_wrong_unit_and_an_output_beyond_the_window_are_reported() -> None:
    rows, notes = rows_of(("litellm", {"groq/m": Facts(context_window=10, max_tokens=50, input=3_000_000.0)}))
    assert (rows[0]["max_tokens"], rows[0]["cost"]["input"]) == (10, None)
    assert notes.counts["odd"] == 2


def test_a_model_without_limits_gets_the_careful_defaults() -> None:
    rows, notes = rows_of(("genai-prices", {"groq/m": Facts(context_window=10, input=1.0)}))
    assert rows == []
    assert notes.counts["without limits"] == 1


def test_a_router_s_model_has_the_limits_of_the_maker_and_its_own_price() -> None:
    rows, _ = rows_of(
        ("litellm", {"anthropic/claude-x-5-5": Facts(context_window=10, max_tokens=5, image=True, reasoning=True)}),
        ("genai-prices", {"openrouter/anthropic/claude-x-5.5": Facts(input=7.0)}),
    )
    assert [(row["provider"], row["max_tokens"], row["cost"]["input"]) for row in rows] == [
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
    assert found["groq/m"] == Facts(name="M", context_window=10, max_tokens=5, image=True, reasoning=True, input=1)
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
                        prices=ModelPrice(input_mtok=TieredPrices(base=Decimal('2.5'), tiers=[])),
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
    assert (facts.input, facts.context_window) == (2.5, 1000)
    assert lookup("groq/other") is None


def test_the_file_has_a_header_and_one_row_per_line_and_is_deterministic() -> None:
    rows, _ = rows_of(("litellm", {f"groq/{name}": Facts(context_window=10, max_tokens=5) for name in "ba"}))
    text = write(rows, {"litellm": "1"}, TODAY)
    document = json.loads(text)
    assert (document["generated"], document["sources"]) == ("2026-11-15", {"litellm": "1"})
    assert [json.loads(line.rstrip(","))["id"] for line in text.splitlines()[4:6]] == ["a", "b"]
