"""Bodies that a provider refuses and bodies that it accepts, as data: one file each, with why and where that is known from.

``tests/cases/refused`` holds one small fault in each body; ``tests/cases/accepted`` holds bodies near those faults that
are fine. Accepted bodies are also judged by the request types of the providers' own SDKs, which share no code with the
rules (``judged: false`` where those types are of one API version, and the body is of another).
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from wire.anthropic_messages import judge as anthropic
from wire.bedrock_converse import judge as bedrock
from wire.google_generative_ai import judge as google
from wire.mistral_chat import judge as mistral
from wire.openai_completions import judge as completions
from wire.openai_responses import judge as responses

import segue
from segue.rules import Finding
from segue.wire.registry import FOLDERS

CASES = Path(__file__).parents[1] / "cases"


def names(kind: str) -> list[str]:
    root = CASES / kind
    return sorted(str(path.relative_to(root).with_suffix("")) for path in root.rglob("*.json"))


def read(kind: str, name: str) -> tuple[str, dict[str, Any]]:
    data: dict[str, Any] = json.loads((CASES / kind / f"{name}.json").read_text())
    assert data["why"], "a case says why"
    assert data["source"], "a case says where it is known from"
    return name.split("/")[0], data


def errors(protocol: str, data: dict[str, Any]) -> list[Finding]:
    model = segue.get_model(data["model"], protocol=protocol) if "model" in data else None
    return [finding for finding in segue.lint(data["body"], protocol, model) if finding.severity == "error"]


@pytest.mark.parametrize("name", names("refused"))
def test_what_a_provider_refuses_is_refused_by_the_rule_about_it(name: str) -> None:
    protocol, data = read("refused", name)
    assert data["rule"] in {finding.rule for finding in errors(protocol, data)}


@pytest.mark.parametrize("name", names("accepted"))
def test_what_a_provider_accepts_is_accepted(name: str) -> None:
    protocol, data = read("accepted", name)
    assert errors(protocol, data) == []


JUDGES: dict[str, Callable[[dict[str, Any]], list[str]]] = {
    "anthropic-messages": anthropic.type_faults,
    "bedrock-converse": bedrock.body_faults,
    "google-generative-ai": google.type_faults,
    "mistral-chat": lambda body: mistral.faults(body, segue.get_model("mistral/mistral-large-latest")),
    "openai-completions": completions.type_faults,
    "openai-responses": responses.complaints,
}


@pytest.mark.parametrize("name", names("accepted"))
def test_what_is_accepted_fits_the_types_of_the_provider(name: str) -> None:
    protocol, data = read("accepted", name)
    if data.get("judged", True):
        assert JUDGES[protocol](data["body"]) == []


@pytest.mark.parametrize("protocol", FOLDERS)
def test_every_class_of_fault_has_cases_on_both_sides(protocol: str) -> None:
    """At least sixty faults and thirty good bodies for the four large protocols, and half of that for the others."""
    large = protocol not in ("google-generative-ai", "mistral-chat")
    assert len([name for name in names("refused") if name.startswith(f"{protocol}/")]) >= (60 if large else 25)
    assert len([name for name in names("accepted") if name.startswith(f"{protocol}/")]) >= (30 if large else 12)
