"""Generations of models: an unknown model gets the cells of the newest model of its line."""

from fnmatch import fnmatchcase
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from segue.catalog import Catalog
from segue.catalog.rows import matches

CATALOG = Catalog.load()

CELLS: list[tuple[str, str | None, dict[str, Any]]] = [
    ("anthropic/claude-haiku-4-5", None, {"prefill": True, "thinking": ("enabled", "disabled"), "prefix_bound": False}),
    ("anthropic/claude-sonnet-4-6", None, {"prefill": False, "sampling": True, "forced_tool_choice": True}),
    ("anthropic/claude-opus-4-7", None, {"thinking": ("adaptive", "disabled"), "sampling": False}),
    ("anthropic/claude-opus-4-8", None, {"system_in_messages": True, "forced_tool_choice": True}),
    ("anthropic/claude-sonnet-5", None, {"system_in_messages": False, "forced_tool_choice": True}),
    ("anthropic/claude-fable-5", None, {"thinking": ("adaptive",), "forced_tool_choice": False, "prefix_bound": False}),
    ("anthropic/claude-fable-5-1", None, {"prefix_bound": True, "reasoning_as_text": False}),
    ("anthropic/claude-fable-5-2", None, {"prefix_bound": True, "system_in_messages": True}),
    ("anthropic/claude-opus-5-5", None, {"prefix_bound": True, "forced_tool_choice": False}),
    ("anthropic/claude-opus-5-9", None, {"prefix_bound": True, "forced_tool_choice": False, "prefill": False}),
    ("amazon-bedrock/eu.anthropic.claude-opus-5-5", None, {"prefix_bound": True, "own_reasoning": "signed"}),
    ("amazon-bedrock/us.openai.gpt-5.6-sol", None, {"own_reasoning": "signed", "redacted_reasoning": True}),
    ("amazon-bedrock/us.openai.gpt-5.4", None, {"own_reasoning": "none", "redacted_reasoning": False}),
    ("amazon-bedrock/us.xai.grok-4.6", None, {"own_reasoning": "none", "redacted_reasoning": False}),
    ("amazon-bedrock/us.amazon.nova-pro-v1:0", None, {"name_form": "underscores", "error_flag": True}),
    ("amazon-bedrock/us.meta.llama3-3-70b-instruct-v1:0", None, {"tools_while_streaming": False, "mixed_turns": False}),
    ("amazon-bedrock/mistral.mistral-large-3-675b-instruct", None, {"json_results": True, "mixed_turns": False}),
    ("amazon-bedrock/us.deepseek.r1-v1:0", None, {"tools": False, "own_reasoning": "any"}),
    ("amazon-bedrock/us.writer.palmyra-x5-v1:0", None, {"error_flag": False, "mixed_turns": False}),
    ("google/gemini-2.0-flash", None, {"dummy_signature": None, "signature_required": False, "prefill": True}),
    ("google/gemini-2.5-pro", None, {"signature_required": False, "images_in_results": False, "prefill": True}),
    ("google/gemini-2.5-flash", None, {"dummy_signature": "skip_thought_signature_validator"}),
    ("google-vertex/gemini-2.5-flash", None, {"dummy_signature": "skip_thought_signature_validator"}),
    ("google/gemini-3-flash-preview", None, {"prefill": True, "dummy_signature": "skip_thought_signature_validator"}),
    ("google/gemini-3.5-flash-lite", None, {"prefill": False, "sampling": False}),
    ("google-vertex/gemini-3.6-flash", None, {"prefill": False, "send_ids": False}),
    ("google/gemini-9-pro", None, {"prefill": False, "reasoning_switch": "thinkingLevel"}),
    ("deepseek/deepseek-r1", None, {"own_reasoning": "none", "alternate_roles": True, "reasoning_required": "never"}),
    ("deepseek/deepseek-v3.2", None, {"reasoning_required": "loop", "own_reasoning": "any"}),
    ("deepseek/deepseek-v4-pro", None, {"reasoning_required": "always", "reasoning_placeholder": ""}),
    ("deepseek/deepseek-v7", None, {"reasoning_required": "always", "reasoning_placeholder": ""}),
    ("moonshot/kimi-k2.6", None, {"reasoning_required": "calls", "reasoning_placeholder": " ", "id_form": "kimi"}),
    ("moonshot/moonshot-v1-8k", None, {"own_reasoning": "none", "reasoning_required": "never", "id_form": "kimi"}),
    ("together/moonshotai/Kimi-K2.5", None, {"reasoning_required": "calls", "id_form": "kimi"}),
    ("vllm/moonshotai/Kimi-K2-Instruct", None, {"id_form": "kimi"}),
    ("openrouter/mistralai/mistral-large-2512", None, {"id_form": "nine", "user_after_tool": False}),
    ("openrouter/google/gemini-3.6-flash", None, {"reasoning_field": "reasoning_details", "name_form": "letter-first"}),
    ("cerebras/zai-glm-4.7", None, {"reasoning_field": "think-tags"}),
    ("groq/openai/gpt-oss-120b", None, {"reasoning_switch": "reasoning_effort", "effort": ("low", "medium", "high")}),
    ("mistral/magistral-medium-latest", None, {"own_reasoning": "any", "effort": ()}),
    ("mistral/mistral-medium-latest", None, {"own_reasoning": "any", "effort": ("none", "high")}),
    ("mistral/mistral-large-latest", None, {"own_reasoning": "none", "effort": ()}),
    ("openai/gpt-4.1", None, {"effort": (), "sampling": True}),
    ("openai/gpt-6-astra", None, {"effort": ("low", "medium", "high", "xhigh", "max"), "sampling": False}),
    ("openai/gpt-4.1", "openai-completions", {"sampling": True, "stop": True, "reasoning_switch": "none"}),
    ("openai/gpt-5.4", "openai-completions", {"tools_with_reasoning": True, "sampling": False}),
    ("openai/gpt-5.6-terra", "openai-completions", {"tools_with_reasoning": False, "stop": False}),
    ("azure/gpt-6-astra", "openai-completions", {"tools_with_reasoning": False, "sampling": False}),
]


@pytest.mark.parametrize(("name", "protocol", "cells"), CELLS)
def test_a_model_has_the_cells_of_its_generation(name: str, protocol: str | None, cells: dict[str, Any]) -> None:
    dialect = CATALOG.resolve(name, protocol).dialect
    assert {cell: getattr(dialect, cell) for cell in cells} == cells


def test_families_set_reasoning_and_input_of_an_unknown_model() -> None:
    unknown = CATALOG.resolve("anthropic/claude-opus-5-9")
    assert not unknown.known
    assert unknown.reasoning
    assert unknown.input == ("text", "image", "document")
    assert not CATALOG.resolve("google/gemma-9").reasoning


FAMILIES = ("opus", "sonnet", "haiku", "fable", "mythos")


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    "name", ["anthropic/claude-{}-{}", "amazon-bedrock/us.anthropic.claude-{}-{}", "openrouter/anthropic/claude-{}-{}"]
)
def test_thinking_is_bound_from_version_5_1_on_in_every_family(name: str, family: str) -> None:
    """The pattern is a minimum, not a list: later versions are bound, too."""
    for version, bound in [("5", False), ("5-1", True), ("5-5", True), ("5-9", True), ("6", True), ("7-3", True)]:
        written = version.replace("-", ".") if name.startswith("openrouter") else version
        ref = name.format(family, written)
        if (family, version) == ("opus", "5-1"):  # never released; snapshots of Opus 5 are named like versions
            continue
        if (family, version) == ("haiku", "5"):  # never released
            continue
        assert CATALOG.resolve(ref).dialect.prefix_bound is bound, ref


READS = [
    # platform.claude.com, "Preserved thinking" and the pages of Sonnet 5.5 and Fable 5.2, 2026-10 and 2026-11
    (
        "claude-fable-5-1",
        {"claude-opus-5", "claude-opus-5-5", "claude-sonnet-5", "claude-fable-5", "claude-mythos-5-1"},
    ),
    (
        "claude-mythos-5-1",
        {"claude-opus-5", "claude-opus-5-5", "claude-sonnet-5", "claude-fable-5", "claude-fable-5-1"},
    ),
    ("claude-opus-5-5", {"claude-opus-5", "claude-sonnet-5", "claude-sonnet-5-5", "claude-haiku-5-5"}),
    ("claude-sonnet-5-5", {"claude-sonnet-5", "claude-haiku-5-5"}),
    ("claude-haiku-5-5", set()),
    ("claude-fable-5-2", {"claude-mythos-5-2"}),
    ("claude-opus-5", set()),
    ("claude-sonnet-5", set()),
    ("claude-fable-5", set()),
    ("claude-opus-4-8", set()),
    ("claude-opus-7", set()),
]
MODELS = {
    "claude-opus-5", "claude-opus-5-5", "claude-sonnet-5", "claude-sonnet-5-5", "claude-haiku-5-5", "claude-fable-5",
    "claude-fable-5-1", "claude-fable-5-2", "claude-mythos-5-1", "claude-mythos-5-2",
}  # fmt: skip


@pytest.mark.parametrize(("name", "read"), READS)
def test_a_model_reads_the_thinking_of_the_documented_models(name: str, read: set[str]) -> None:
    globs = CATALOG.resolve(f"anthropic/{name}").dialect.reads_thinking_of
    found = {model for model in MODELS - {name} if any(fnmatchcase(model, glob) for glob in globs)}
    assert found == read


GLOBS = st.text("ab*", max_size=8) | st.text("ab*?[-]!", max_size=8)


@settings(max_examples=200)
@given(GLOBS, st.text("ab-!", max_size=8))
def test_globs_match_as_those_of_the_standard_library(pattern: str, text: str) -> None:
    assert matches((pattern,), text) == fnmatchcase(text, pattern)
