"""Independent checks agree with the rules: they refuse the bad body of each case and accept the good one."""

import json
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from support.targets import built_in
from wire.mistral_chat.judge import faults

from segue.rules import run
from segue.wire.mistral_chat.rules import RULES

CASES = Path(__file__).parents[2] / "cases" / "rules" / "mistral-chat"
# The checks do not know context windows, do not parse arguments or images, do not compare tools, and accept lone
# surrogates and empty lists.
UNSEEN = {"MIS-15", "MIS-17", "MIS-18", "MIS-19", "MIS-20", "MIS-23"}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.number)
def test_the_checks_agree_with_the_case_of_the_rule(rule: object) -> None:
    number = rule.number  # type: ignore[attr-defined]
    case = json.loads((CASES / f"{number}.json").read_text())
    model = built_in().resolve(case.get("model", "mistral/mistral-large-latest"), "mistral-chat")
    assert faults(case["good"], model) == []
    if number not in UNSEEN:
        assert faults(case["bad"], model) != []


FIELDS = ["role", "content", "tool_calls", "function", "type", "id", "name", "parameters", "items", "properties"]
junk = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["", "tool", "assistant", "thinking", "x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4),
    max_leaves=12,
)


@given(st.lists(junk, max_size=3) | junk, st.lists(junk, max_size=2) | junk, junk)
def test_rules_accept_any_json(messages: object, tools: object, effort: object) -> None:
    body = {"messages": messages, "tools": tools, "reasoning_effort": effort, "max_tokens": effort}
    run(RULES, body)
    run(RULES, body, built_in().resolve("mistral/open-mistral-nemo", "mistral-chat"))
