"""An overflow is detected from an answer: by the provider's error text, or by the usage of an answer that succeeded."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace

import segue
from segue.catalog import Catalog
from segue.client.failures import kind_of
from segue.rules.overflow import FROM_ONE, LOOKALIKES, OVERFLOW, Phrase

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parents[1] / "cases" / "overflow.json").read_text())
TRUE = [case for case in CASES if case["overflow"]]
FALSE = [case for case in CASES if not case["overflow"]]
ROWS = [*OVERFLOW, *LOOKALIKES]
WINDOW = 200_000


def name(case: dict[str, Any]) -> str:
    return f"{case['provider']}: {case['text'][:40]}"


def answer(
    stop: segue.StopReason, error: str | None = None, usage: segue.Usage | None = None
) -> segue.AssistantMessage:
    return segue.AssistantMessage(
        content=[],
        protocol="openai-completions",
        provider="some",
        model="some-model",
        stop_reason=stop,
        error_message=error,
        usage=usage or segue.Usage(),
    )


def spent(stop: segue.StopReason, **tokens: int) -> segue.AssistantMessage:
    return answer(stop, usage=replace(segue.Usage(), **tokens))


def failed(text: str) -> bool:
    return segue.is_context_overflow(answer("error", text))


# -- by error text -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", TRUE, ids=name)
def test_the_overflow_text_of_a_provider_is_recognised(case: dict[str, Any]) -> None:
    assert failed(case["text"])


@pytest.mark.parametrize("case", FALSE, ids=name)
def test_a_text_that_only_reads_like_overflow_is_not(case: dict[str, Any]) -> None:
    assert not failed(case["text"])


@pytest.mark.parametrize(
    "case", [case for case in TRUE if "413" not in case["text"] and "no body" not in case["text"]], ids=name
)
def test_an_overflow_text_is_found_inside_other_text(case: dict[str, Any]) -> None:
    assert failed(f'invalid_request_error: {{"message": "{case["text"].upper()}"}} (request id: 20250410081234)')


def test_there_are_cases_of_at_least_thirty_providers_and_thirty_lookalikes() -> None:
    assert len({case["provider"] for case in TRUE}) >= 30
    assert len({case["text"] for case in FALSE}) >= 30


def test_every_case_has_a_source() -> None:
    assert all(case["source"] for case in CASES)


@pytest.mark.parametrize("text", ["400 status code (no body)", "400 (no body)", "Error: 400 status code (no body)"])
def test_a_400_without_a_body_may_be_an_overflow_but_is_not_a_reason_to_compact(text: str) -> None:
    assert failed(text) is not text.startswith("Error")
    assert kind_of(text, 400, "openrouter") is segue.InvalidRequestError


@pytest.mark.parametrize("provider", FROM_ONE)
def test_a_text_that_means_an_overflow_from_one_provider_does_not_from_another(provider: str) -> None:
    row = FROM_ONE[provider]
    assert provider in Catalog.load().providers and row.source and row.seen
    assert segue.is_context_overflow(replace(answer("error", row.example), provider=provider))
    assert kind_of(row.example, 400, provider) is segue.ContextOverflowError
    for other in ("openrouter", "openai", ""):
        assert kind_of(row.example, 400, other) is segue.InvalidRequestError


@pytest.mark.parametrize("provider", FROM_ONE)
def test_other_texts_of_that_provider_are_decided_by_the_tables(provider: str) -> None:
    for case in CASES:
        assert segue.is_context_overflow(replace(answer("error", case["text"]), provider=provider)) is case["overflow"]


def test_a_413_without_a_body_is_an_overflow() -> None:
    assert failed("413 status code (no body)")


@pytest.mark.parametrize("text", ["413 tokens", "error 4130", "request 413-a failed", "it failed in line 413"])
def test_a_413_that_is_not_a_status_is_not_an_overflow(text: str) -> None:
    assert not failed(text)


@pytest.mark.parametrize("tokens", ["429", "429,000", "429000", "4290"])
def test_a_429_that_is_not_a_status_does_not_hide_an_overflow(tokens: str) -> None:
    assert failed(f"prompt is too long: {tokens} tokens > 200000 maximum")


def test_a_failure_without_a_text_is_not_an_overflow() -> None:
    assert not segue.is_context_overflow(answer("error"), WINDOW)


def test_only_the_text_of_a_failure_counts() -> None:
    assert not segue.is_context_overflow(answer("error", "connection reset", segue.Usage(input=WINDOW + 1)), WINDOW)


@pytest.mark.parametrize("stop", ["stop", "length", "toolUse", "aborted"])
def test_the_text_counts_only_if_the_answer_failed(stop: segue.StopReason) -> None:
    assert not segue.is_context_overflow(answer(stop, "prompt is too long"), WINDOW)


# -- by usage ------------------------------------------------------------------------------------------------------

SUCCESS: list[segue.StopReason] = ["stop", "toolUse", "length"]


@pytest.mark.parametrize("stop", SUCCESS)
def test_a_success_whose_input_exceeds_the_window_was_cut_silently(stop: segue.StopReason) -> None:
    assert segue.is_context_overflow(spent(stop, input=WINDOW + 1, output=10), WINDOW)


@pytest.mark.parametrize("stop", SUCCESS)
def test_a_success_whose_input_just_fits_is_not_an_overflow(stop: segue.StopReason) -> None:
    assert not segue.is_context_overflow(spent(stop, input=WINDOW, output=10), WINDOW)


@pytest.mark.parametrize("part", ["cache_read", "cache_write"])
def test_cached_parts_are_input(part: str) -> None:
    assert segue.is_context_overflow(spent("stop", input=1, output=10, **{part: WINDOW}), WINDOW)


def test_output_is_not_input() -> None:
    assert not segue.is_context_overflow(spent("stop", input=WINDOW - 10, output=1000), WINDOW)


def test_a_length_stop_without_output_at_99_percent_of_the_window_is_overflow() -> None:
    assert segue.is_context_overflow(spent("length", input=198_000), WINDOW)


def test_a_length_stop_without_output_below_99_percent_is_not_an_overflow() -> None:
    assert not segue.is_context_overflow(spent("length", input=197_999), WINDOW)


@pytest.mark.parametrize("part", ["cache_read", "cache_write"])
def test_cached_parts_fill_the_window(part: str) -> None:
    assert segue.is_context_overflow(spent("length", input=98_000, **{part: 100_000}), WINDOW)


def test_a_length_stop_with_output_in_a_full_window_is_not_an_overflow() -> None:
    """An answer of Claude ends like this if it reaches the end of the window (`model_context_window_exceeded`)."""
    assert not segue.is_context_overflow(spent("length", input=199_000, output=1), WINDOW)


@pytest.mark.parametrize("stop", ["stop", "toolUse"])
def test_another_stop_without_output_in_a_full_window_is_not_an_overflow(stop: segue.StopReason) -> None:
    assert not segue.is_context_overflow(spent(stop, input=199_000), WINDOW)


@pytest.mark.parametrize("stop", SUCCESS)
@pytest.mark.parametrize("window", [None, 0, -1])
def test_usage_does_not_count_without_a_window(stop: segue.StopReason, window: int | None) -> None:
    assert not segue.is_context_overflow(spent(stop, input=10_000_000), window)


def test_an_aborted_answer_is_not_an_overflow() -> None:
    assert not segue.is_context_overflow(spent("aborted", input=WINDOW + 1), WINDOW)


def test_the_window_of_a_small_model_is_not_rounded() -> None:
    assert [segue.is_context_overflow(spent("length", input=n), 150) for n in (148, 149)] == [False, True]


# -- the rows ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.who)
def test_a_row_matches_its_own_example(row: Phrase) -> None:
    assert re.search(row.pattern, row.example, re.IGNORECASE)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.who)
def test_a_row_has_its_source_and_date(row: Phrase) -> None:
    assert row.source
    assert re.fullmatch(r"20\d\d-(0[1-9]|1[0-2])", row.seen)


def test_there_is_one_row_for_each_provider() -> None:
    assert len({row.who for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("row", OVERFLOW, ids=lambda row: row.who)
def test_a_row_is_covered_by_a_case_for_each_of_its_alternatives(row: Phrase) -> None:
    depth, alternatives = 0, [""]
    for char in row.pattern:
        depth += (char == "(") - (char == ")")
        if char == "|" and depth == 0:
            alternatives.append("")
        else:
            alternatives[-1] += char
    for alternative in alternatives:
        found = [case["text"] for case in TRUE if re.search(alternative, case["text"], re.IGNORECASE)]
        assert found, alternative


# -- laws ----------------------------------------------------------------------------------------------------------


@given(st.text(), st.none() | st.integers(), st.sampled_from(["stop", "length", "toolUse", "error", "aborted"]))
def test_no_text_raises(text: str, window: int | None, stop: segue.StopReason) -> None:
    assert segue.is_context_overflow(answer(stop, text), window) in (True, False)


@given(st.sampled_from(OVERFLOW), st.sampled_from(LOOKALIKES), st.text(), st.booleans())
def test_lookalikes_take_precedence(overflow: Phrase, lookalike: Phrase, between: str, first: bool) -> None:
    texts = [overflow.example, f" {lookalike.example} "]
    assert not failed(between.join(reversed(texts) if first else texts))


@given(st.sampled_from(TRUE), st.text(alphabet="abc xyz:{}\n"))
def test_an_overflow_text_is_found_anywhere(case: dict[str, Any], around: str) -> None:
    text = case["text"]
    assert failed(f"{around} {text} {around}") or "413" in text or "no body" in text
