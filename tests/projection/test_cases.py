"""Cases by name: the failures that people report, and the scenarios of the designs that came before."""

from typing import Any

import pytest
from msgspec.structs import replace
from support import cases

import segue
from segue.projection import pipeline
from segue.types import Model

CASES = {f"{folder}/{name}": case for folder in ("corpus", "scenarios") for name, case in cases.load(folder).items()}


def target(case: dict[str, Any]) -> Model:
    model = segue.get_model(case["to"])
    return replace(model, endpoint=case["endpoint"]) if "endpoint" in case else model


def rendered(case: dict[str, Any]) -> tuple[list[dict[str, Any]], list[str]]:
    projection = segue.project(cases.context(case), target(case), case.get("policy"))
    changes = [cases.change_notation(change) for change in projection.changes]
    return [cases.notation(message) for message in projection.context.messages], changes


@pytest.mark.parametrize("name", CASES)
def test_it_is_rendered_as_the_case_says(name: str) -> None:
    case = CASES[name]
    messages, changes = rendered(case)
    assert messages == case["rendered"]
    assert changes == case["changes"]


GUARDED = [name for name, case in CASES.items() if "pass" in case]


@pytest.mark.parametrize("name", GUARDED)
def test_the_case_fails_without_its_pass(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = CASES[name]
    others = tuple(each for each in pipeline.PASSES if each.__name__ != case["pass"])
    assert len(others) == len(pipeline.PASSES) - 1
    monkeypatch.setattr(pipeline, "PASSES", others)
    try:
        messages, _ = rendered(case)
    except (AssertionError, AttributeError, TypeError, segue.SegueError):
        return  # what is left out is missed at once
    assert messages != case["rendered"]
