"""Reproductions of refused requests: refused for the same reason, small, and without anything of the user's."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st
from support.cases import context, load
from support.commands import TALK, TARGET

import segue
from segue.cli import main
from segue.testing import Reproduction, StandIn, reproduce
from segue.testing.disguise import other
from segue.testing.reproduce import Refused
from segue.testing.shrink import shrink

CORPUS = load("corpus")
NOT_REFUSED = {
    "09-image-for-a-text-only-model",  # the encoder has no form for it
    "15-reasoning-that-is-not-taken-back",  # ignored by the provider, not refused
    "19-reasoning-alone-after-an-abort",
    "22-item-ids-of-another-origin",  # the encoder sends no ids of others
    "36-foreign-reasoning-that-does-harm",  # the answer is worse, but there is one
    "40-failed-answer-beside-the-next-attempt",
    "42-signature-of-another-host-of-the-same-model",
}
"""Cases of the corpus that no rule and no stand-in refuses if they are sent as they are stored."""


def refused(name: str) -> tuple[segue.Context, segue.Model, Reproduction]:
    case = CORPUS[name]
    model = segue.get_model(case["to"])
    return context(case), model, reproduce(context(case), model=model)


def rules_of(body: Any, model: segue.Model) -> list[str]:
    return [each.rule for each in segue.lint(body, model.protocol, model) if each.severity == "error"]


@pytest.mark.parametrize("name", sorted(CORPUS.keys() - NOT_REFUSED))
def test_a_case_of_the_corpus_is_refused_for_the_same_reason(name: str) -> None:
    stored, model, found = refused(name)
    sent = segue.encode(stored, model, policy="off").body
    before, after = rules_of(sent, model), rules_of(found.body, model)
    assert found.refused.rule == (before[0] if before else "")
    assert before[:1] == [each for each in after if each == found.refused.rule][:1] and set(after) <= set(before)
    assert len(found.json().splitlines()) <= 20
    assert json.loads(found.json()) == found.body


CONTENT = {"text", "thinking", "thinking_signature", "id", "tool_call_id", "name", "tool_name", "description", "data"}
"""The fields of a conversation that hold what a user or a model wrote."""
OPEN = {"arguments", "properties"}
"""The fields below which the names of fields are the user's, too."""


def private(value: Any) -> Iterator[str]:
    """What a user or a model wrote in a part of a conversation."""
    if isinstance(value, list):
        for each in value:
            yield from private(each)
    elif isinstance(value, dict):
        for name, each in value.items():
            if name in OPEN:
                yield from strings(each)
            elif name in CONTENT and isinstance(each, str):
                yield each
            else:
                yield from private(each)


def strings(value: Any) -> Iterator[str]:
    """All texts in a value, with the names of fields."""
    if isinstance(value, str):
        yield value
    for each in [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from strings(each)


@pytest.mark.parametrize("name", sorted(CORPUS.keys() - NOT_REFUSED))
def test_a_reproduction_of_a_case_has_the_same_words_and_nothing_of_the_user(name: str) -> None:
    stored, model, found = refused(name)
    sent = segue.encode(stored, model, policy="off").body
    reasons = {
        Refused(each.rule, each.answers or each.message, each.message).reason
        for each in segue.lint(sent, model.protocol, model)
        if each.severity == "error"
    }
    with StandIn(model.provider) as server:
        refusal = server.refusal_for(sent, model)
    assert refusal is not None
    assert found.refused.reason in (reasons or {Refused("", refusal.text).reason})
    content = {each for each in private(json.loads(stored.to_json())) if len(each) > 2} - {"object", "string"}
    written = [*strings(found.body)]
    assert content, "otherwise this test would show nothing"
    assert [each for each in content if any(each in text for text in written)] == []


@pytest.mark.parametrize("name", sorted(NOT_REFUSED))
def test_a_request_that_is_not_refused_cannot_be_reproduced(name: str) -> None:
    with pytest.raises(segue.FormatError, match="not refused by any rule"):
        refused(name)


SECRET = "Zebra Quartz"
PRIVATE = {
    "model": "claude-sonnet-4-5",
    "max_tokens": 1000,
    "system": f"You work for {SECRET}.",
    "metadata": {"user_id": SECRET},
    "messages": [
        {"role": "user", "content": f"Hello, I am {SECRET}"},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": f"Looking up {SECRET}"},
                {
                    "type": "tool_use",
                    "id": "toolu_ZebraQuartz",
                    "name": "find_zebra",
                    "input": {"zebra_name": SECRET, "text": SECRET, "phone": 5550123},
                },
            ],
        },
        {"role": "user", "content": "Zebra?"},
    ],
    "tools": [
        {
            "name": "find_zebra",
            "description": SECRET,
            "input_schema": {
                "type": "object",
                "$defs": {"Zebra": {"type": "string", "enum": ["quartz"]}},
                "properties": {"zebra_name": {"$ref": "#/$defs/Zebra"}},
                "required": ["zebra_name"],
            },
        }
    ],
}


def test_nothing_of_the_user_is_in_a_reproduction() -> None:
    found = reproduce(PRIVATE, model="anthropic/claude-sonnet-4-5")
    assert found.refused.rule == "ANT-19"
    assert not re.search("(?i)zebra|quartz|5550123", found.text())
    assert found.body["model"] == "claude-sonnet-4-5"


@pytest.mark.parametrize("model", ["openai/gpt-5.4", "mistral/mistral-large-latest", "google/gemini-2.5-pro"])
def test_arguments_inside_of_texts_are_replaced_too(model: str) -> None:
    call = segue.ToolCall("call-Zebra!", "zebra", {"city": "Quartz", "more": {"zebra": ["Quartz"]}})
    messages = [segue.UserMessage("Zebra"), segue.AssistantMessage([call]), segue.UserMessage("go on")]
    found = reproduce(segue.Context(messages=messages), model=model)
    assert not re.search("(?i)zebra|quartz", found.text())


def test_another_rule_can_be_chosen_and_one_that_finds_nothing_is_an_error() -> None:
    body = {**PRIVATE, "temperature": 5}
    model = segue.get_model("anthropic/claude-sonnet-4-5")
    rules = set(rules_of(body, model))
    assert len(rules) > 1
    assert {reproduce(body, model=model, rule=rule).refused.rule for rule in rules} == rules
    with pytest.raises(segue.FormatError, match="not refused by rule ANT-20"):
        reproduce(body, model="anthropic/claude-sonnet-4-5", rule="ANT-20")


@given(st.text(st.characters(max_codepoint=0x2FF), max_size=30), st.integers(0, 99))
def test_a_text_is_replaced_by_one_with_the_same_kinds_of_characters(text: str, count: int) -> None:
    new = other(text, count)
    assert len(new) == len(text)
    for old, fresh in zip(text, new, strict=True):
        assert (old.islower() and old.isascii()) == (fresh.islower() and fresh.isascii())
        assert (old.isdigit() and old.isascii()) == (fresh.isdigit() and fresh.isascii())
        assert old.isalnum() or old == fresh


@given(st.lists(st.integers(0, 9), max_size=30))
def test_what_is_not_needed_is_left_out(numbers: list[int]) -> None:
    def holds(some: Any) -> bool:
        return some.count(7) >= numbers.count(7)

    assert shrink(numbers, holds) == [7] * numbers.count(7)


def test_the_command_prints_what_can_be_pasted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "talk.json"
    file.write_text(json.dumps(TALK))
    assert main(["reproduce", str(file), "--model", TARGET]) == 0
    assert "```json\n" in (shown := capsys.readouterr().out) and "a stray" not in shown
    assert main(["reproduce", str(file), "--model", TARGET, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["refused"]["rule"]
    assert main(["reproduce", str(file)]) == 2
    assert "name the model" in capsys.readouterr().err
