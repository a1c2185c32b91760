"""Every lint rule has a body that breaks it and one that does not, as data: one file for each rule."""

import json
from pathlib import Path
from typing import Any

import pytest
from support.targets import built_in

import segue
from segue.rules import Rule, run
from segue.wire.registry import PROTOCOLS, protocol_of

CASES = Path(__file__).parents[1] / "cases" / "rules"
RULES: dict[str, tuple[str, Rule]] = {
    f"{protocol}/{rule.number}": (protocol, rule) for protocol in PROTOCOLS for rule in protocol_of(protocol).rules
}


def case(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((CASES / f"{name}.json").read_text())
    return found


def found(case: dict[str, Any], body: Any, protocol: str) -> set[str]:
    model = built_in().resolve(case["model"], protocol) if "model" in case else None  # it may have no row
    return {finding.rule for finding in segue.lint(body, protocol, model)}


@pytest.mark.parametrize("name", RULES)
def test_a_body_that_breaks_the_rule_is_found_and_one_that_does_not_is_not(name: str) -> None:
    protocol, rule = RULES[name]
    data = case(name)
    assert rule.number in found(data, data["bad"], protocol)
    assert found(data, data["good"], protocol) == set()


@pytest.mark.parametrize("name", RULES)
def test_a_finding_names_the_fault_and_not_the_rule(name: str) -> None:
    protocol, rule = RULES[name]
    data = case(name)
    model = built_in().resolve(data["model"], protocol) if "model" in data else None
    texts = [finding.message for finding in run([rule], data["bad"], model)]
    assert texts
    for text in texts:
        assert text and text.rstrip(".").lower() != rule.title.rstrip(".").lower()
        assert not text.startswith("'") or " " in text.strip("'"), "a value alone does not say what is wrong with it"
        assert ".py" not in text


def test_there_is_no_case_without_a_rule() -> None:
    assert {str(path.relative_to(CASES).with_suffix("")) for path in CASES.rglob("*.json")} == set(RULES)


@pytest.mark.parametrize("name", RULES)
def test_a_rule_says_where_it_comes_from_and_who_prevents_it(name: str) -> None:
    _, rule = RULES[name]
    assert rule.title
    assert rule.source
    assert rule.prevented_by
    assert rule.answers or rule.severity == "warning"


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("body", [{}, {"messages": None}, {"messages": [None, 1, "x", [], {}]}, {"contents": [[]]}])
def test_rules_accept_any_json(protocol: str, body: Any) -> None:
    assert isinstance(run(protocol_of(protocol).rules, body), list)
