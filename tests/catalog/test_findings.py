"""What a comparison with other libraries found on 2026-11-16, entry by entry, and the tests that hold it down.

Where segue decides against a finding, the docstring of the test says why.
"""

import re
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
QUIRKS, NAMES, SCHEMAS = "catalog/test_quirks.py", "catalog/test_names.py", "catalog/test_schemas.py"
MADE = "catalog/test_generator.py"

DEFECTS = {
    "A1 Moonshot refuses tool schemas with references, tuples, types beside unions, untyped properties": [
        (SCHEMAS, "test_kimi_gets_what_moonshot_accepts"),
        (SCHEMAS, "test_lint_refuses_the_stored_schema_in_moonshot_s_words"),
    ],
    "A1 GLM-5.3, Qwen, Llama misread references; Grok on Azure refuses them": [
        (SCHEMAS, "test_definitions_are_inlined_for_models_that_refuse_or_misread_references"),
    ],
    "A1 Gemini through OpenRouter knows only a subset": [(SCHEMAS, "test_gemini_on_openrouter_gets_the_subset")],
    "A1 OpenAI and others refuse a list as items": [(SCHEMAS, "test_no_list_of_schemas_is_sent_as_items")],
    "A2 DashScope refuses thinking in an answer that is not streamed": [
        (QUIRKS, "test_a_whole_answer_of_dashscope_does_not_think"),
    ],
    "A3 prices rise with the prompt, for one-hour caches, and differ by tier": [
        (NAMES, "test_the_costs_of_long_prompts_and_of_one_hour_caches_are_those_of_the_price_lists"),
        (NAMES, "test_a_larger_prompt_with_the_same_cached_share_never_costs_less"),
        ("types/test_cost.py", "test_all_tokens_have_the_prices_of_the_step_and_tier"),
        ("types/test_cost.py", "test_a_cache_that_lives_for_an_hour_costs_more_to_write"),
    ],
    "A4 a window is the total, the input may have its own limit": [
        (NAMES, "test_the_window_is_the_total_and_the_input_may_have_a_limit_of_its_own"),
        (MADE, "test_the_window_of_openai_is_the_total_and_its_input_has_a_limit_of_its_own"),
    ],
    "A5 Grok has levels, speaks Responses, and gets its reasoning back": [
        (QUIRKS, "test_levels_are_kept_where_the_provider_has_them"),
        (QUIRKS, "test_xai_speaks_responses_and_gets_its_reasoning_back"),
    ],
    "A5 retired models keep their rows": [
        (NAMES, "test_a_retired_model_keeps_its_row_and_its_prices"),
        (MADE, "test_rows_that_no_source_has_any_more_are_kept"),
    ],
    "A6 an output limit is not a copy of the window": [
        (NAMES, "test_no_output_limit_is_a_copy_of_a_large_window"),
        (MADE, "test_an_output_limit_that_repeats_the_window_counts_as_unknown"),
    ],
    "A7 one odd source does not hide a model": [
        (NAMES, "test_models_that_one_source_describes_wrongly_have_rows"),
        (MADE, "test_the_first_source_that_knows_decides_whether_a_model_is_for_chat"),
    ],
    "A8 Fireworks reports the usage of streams, has levels, and more models": [
        (QUIRKS, "test_fireworks_is_asked_for_the_usage_of_a_stream"),
        (QUIRKS, "test_levels_are_kept_where_the_provider_has_them"),
        (NAMES, "test_models_that_were_missing_have_rows"),
    ],
    "A9 suffixes, regions, ARNs and aliases have the facts of their base": [
        (NAMES, "test_another_form_of_a_name_has_the_facts_of_its_base_and_keeps_its_id"),
        (NAMES, "test_models_that_were_missing_have_rows"),
    ],
    "A10 the last day of a model is known, shown and warned about": [
        (NAMES, "test_the_last_day_of_a_model_is_known"),
        ("client/test_retiring.py", "test_a_last_day_that_is_near_or_past_is_warned_about_once"),
        ("cli/test_models.py", "test_last_days_that_do_not_fit_into_the_table_are_below_it"),
        ("render/test_preview.py", "test_it_shows_when_a_model_retires"),
    ],
}

OTHERS_KNOW = {
    "Z.ai drops earlier reasoning unless told to keep it": "test_z_ai_keeps_earlier_reasoning_and_streams_arguments",
    "Z.ai streams arguments only on request": "test_z_ai_keeps_earlier_reasoning_and_streams_arguments",
    "GLM-5.3 on Together has levels, and is always on": "test_glm_5_3_on_together_has_levels_and_no_switch",
    "GLM-5.2 has levels": "test_glm_5_2_and_5_3_have_levels",
    "DeepSeek V4 has levels beside its switch": "test_deepseek_v4_has_levels_beside_the_switch",
    "DashScope keeps reasoning of some models": "test_dashscope_preserves_thinking_where_models_support_it",
    "DashScope has a budget, and Qwen levels": "test_qwen_gets_a_budget_for_its_level",
    "Kimi K3 needs reasoning on every answer": "test_kimi_k3_gets_reasoning_on_all_answers",
    "Kimi K2.7 Code always thinks": "test_kimi_k2_7_code_is_never_told_not_to_think",
    "Kimi cannot be forced to call a tool": "test_kimi_is_never_forced_to_call_a_tool",
    "strict tools of DeepSeek, Z.ai, Fireworks": "test_strict_is_not_sent_where_only_one_library_lists_it",
    "strict tools of Bedrock and Claude": "test_strict_is_not_sent_to_claude",
    "the developer role is refused": "test_the_developer_role_is_not_sent_where_it_may_be_refused",
    "a key per session for the cache": "test_a_cache_key_is_sent_where_a_provider_has_a_field_for_it",
    "a key for the cache of DeepSeek": "test_a_cache_key_without_a_use_is_reported",
    "affinity headers of routers": "test_routers_keep_a_conversation_on_one_server_by_a_header",
    "DeepSeek V4 behind Together has levels": "test_deepseek_v4_on_together_has_a_level",
    "a system role inside messages": "test_the_5_5_models_read_a_system_role_inside_messages",
    "temperature is sent to Fable 5 and Sonnet 5": "test_temperature_is_not_sent_to_models_that_refuse_it",
    "advice on sampling": "test_no_sampling_is_added",
    "think tags of self-hosted models": "test_think_tags_of_self_hosted_models_are_read_as_thinking",
    "white space before a call": "test_white_space_before_a_call_is_not_sent_again",
    "Mistral on Azure refuses max_completion_tokens": "test_mistral_on_azure_gets_max_tokens",
    "no switch for models that do not reason": "test_no_switch_is_sent_to_a_model_that_does_not_reason",
    "levels that are dropped although a model reasons": "test_a_level_that_cannot_be_sent_is_reported",
    "levels of Nova 2": "test_nova_2_has_levels",
}
"""Quirks that other libraries know; the tests are in ``test_quirks.py``."""

ENTRIES = [(entry, *test) for entry, tests in DEFECTS.items() for test in tests] + [
    (entry, QUIRKS, test) for entry, test in OTHERS_KNOW.items()
]


@cache
def names_in(file: str) -> frozenset[str]:
    return frozenset(re.findall(r"^ *def (test_\w+)", (TESTS / file).read_text(encoding="utf-8"), re.MULTILINE))


def test_every_entry_has_a_test_that_exists() -> None:
    missing = [(entry, file, test) for entry, file, test in ENTRIES if test not in names_in(file)]
    assert missing == []
    assert {entry.split()[0] for entry in DEFECTS} == {f"A{number}" for number in range(1, 11)}


@pytest.mark.parametrize("file", [QUIRKS, SCHEMAS])
def test_no_test_of_a_quirk_is_without_an_entry(file: str) -> None:
    assert names_in(file) == {test for _, place, test in ENTRIES if place == file}
