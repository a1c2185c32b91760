"""Which bodies of clients a target accepts as they are: those that break none of the rules that only some targets of
their protocol have. Everything else is rendered."""

import json
from pathlib import Path
from typing import Any

import pytest
from support.gateways import TALKS
from support.targets import built_in, every

from segue import FormatError
from segue.gateway.conversation import Conversations, Known
from segue.render import read_request
from segue.rules import Rule, quirks, run
from segue.transport import read_body
from segue.types import Model
from segue.wire import protocol_of

CASES = Path(__file__).parents[1] / "cases"
SOME = 5
"""Targets of each protocol that are tried; all differ in their dialect."""


def bodies(protocol: str) -> dict[str, dict[str, Any]]:
    """Bodies of the corpora of rules: those that are accepted and those that are refused."""
    found = {}
    for folder in ("accepted", "refused", "rules"):
        for file in sorted((CASES / folder / protocol).glob("*.json")):
            case = json.loads(file.read_text())
            found |= {f"{folder}/{file.stem}/{name}": case[name] for name in ("body", "good", "bad") if name in case}
    return {name: body for name, body in found.items() if isinstance(body, dict)}


def targets(protocol: str) -> list[Model]:
    """Targets with different rules, those with most of them first."""
    by_rules: dict[tuple[str, ...], Model] = {}
    rules = protocol_of(protocol).rules
    for model in every():
        if model.protocol == protocol and getattr(model.dialect, "surface", "") != "vertex":
            by_rules.setdefault(tuple(rule.number for rule in quirks(rules, model)), model)
    return [by_rules[numbers] for numbers in sorted(by_rules, key=len, reverse=True)][:SOME]


def read(conversations: Conversations, body: dict[str, Any], protocol: str, name: str) -> tuple[Known, Any]:
    split = read_body(json.dumps(body).encode())
    assert split is not None
    reading = conversations.read(split, protocol, "tenant", name, 0)
    conversations.put(reading)
    return reading.known, split


@pytest.mark.parametrize("protocol", TALKS)
def test_a_rule_that_is_not_marked_finds_the_same_for_every_model(protocol: str) -> None:
    rules = [rule for rule in protocol_of(protocol).rules if rule.only is None and not rule.by_model]
    models = targets(protocol)
    for name, body in bodies(protocol).items():
        found = [_faults(rules, body, model) for model in models]
        assert all(each == found[0] for each in found), name


def _faults(rules: list[Rule], body: dict[str, Any], model: Model) -> set[tuple[str, str]]:
    return {(each.rule, each.path) for each in run(rules, body, model) if not _by_table(each)}


def _by_table(finding: Any) -> bool:
    """Whether it is about the fields of a body, whose table is that of the target's SDK."""
    return finding.rule in ("OAC-60", "OAC-61")


@pytest.mark.parametrize("protocol", TALKS)
def test_a_conversation_that_grows_is_judged_like_one_that_is_new(protocol: str) -> None:
    """Only what is new is judged, and the verdict is that of judging everything."""
    history, models = protocol_of(protocol).history, targets(protocol)
    verdicts: set[bool] = set()
    for name, body in bodies(protocol).items():
        items = body.get(history)
        if not isinstance(items, list) or not _is_readable(body, protocol):
            continue
        conversations = Conversations()
        for count in range(1, len(items) + 1):
            part = body | {history: items[:count]}
            if not _is_readable(part, protocol):
                continue
            known, split = read(conversations, part, protocol, name)
            fresh, _ = read(Conversations(), part, protocol, name)
            for model in models:
                own = quirks(protocol_of(protocol).rules, model)
                verdict = known.is_accepted_by(model, own, split)
                assert verdict == fresh.is_accepted_by(model, own, split), (model.ref, name, count)
                verdicts.add(verdict)
    assert verdicts == {True, False}


def _is_readable(body: dict[str, Any], protocol: str) -> bool:
    if read_body(json.dumps(body).encode()) is None:  # half a character
        return False
    try:
        read_request(body, protocol)
    except FormatError:  # refused for its shape
        return False
    return True


def test_another_option_is_judged_with_the_tools() -> None:
    """The tools were accepted while reasoning was off."""
    model = built_in().resolve("openai/gpt-5.6", "openai-completions")
    tool = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi."}], "tools": [tool]}
    conversations = Conversations()
    own = quirks(protocol_of(model.protocol).rules, model)
    known, split = read(conversations, body | {"reasoning_effort": "none"}, model.protocol, "name")
    assert known.is_accepted_by(model, own, split)
    known, split = read(conversations, body | {"reasoning_effort": "high"}, model.protocol, "name")
    assert not known.is_accepted_by(model, own, split)
