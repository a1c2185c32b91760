"""Bodies that a provider refuses and bodies that it accepts, as data: one file each, with why and the source.

Each body in ``tests/cases/refused`` has one small fault. ``tests/cases/accepted`` holds bodies near those faults that
are fine. They are also judged by the request types of the providers' own SDKs, which share no code with the rules
(``judged: false`` where those types are of another API, or another version of it, than the body, or need the
network).
"""

import json
from collections.abc import Callable, Iterator
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
from segue.rules import Finding, run
from segue.wire.registry import PROTOCOLS, protocol_of

CASES = Path(__file__).parents[1] / "cases"
# A case may be about a model without a row, such as one on your own server.
pytestmark = pytest.mark.filterwarnings("ignore::segue.UnknownModelWarning")


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
def test_a_body_that_a_provider_refuses_is_refused_by_the_right_rule(name: str) -> None:
    protocol, data = read("refused", name)
    assert data["rule"] in {finding.rule for finding in errors(protocol, data)}


@pytest.mark.parametrize("name", names("accepted"))
def test_a_body_that_a_provider_accepts_is_accepted(name: str) -> None:
    protocol, data = read("accepted", name)
    assert errors(protocol, data) == []


@pytest.mark.parametrize("name", [name for name in names("refused") if name.endswith("/half-character")])
def test_half_a_character_is_found_in_every_form_of_the_body(name: str) -> None:
    """As a value, as text with the half in it or its escape, and as bytes with either, which other readers replace."""
    protocol, data = read("refused", name)
    escaped = json.dumps(data["body"])
    raw = json.dumps(data["body"], ensure_ascii=False)
    assert "\\ud83d" in escaped
    assert "\ud83d" in raw
    for body in (data["body"], raw, escaped, escaped.encode(), raw.encode("utf-8", "surrogatepass")):
        assert data["rule"] in {finding.rule for finding in segue.lint(body, protocol)}


def test_a_body_is_linted_as_the_protocol_that_is_asked_for_whatever_it_looks_like() -> None:
    body = {"model": "m", "max_tokens": 8, "messages": [{"role": "developer", "content": "x"}]}
    assert "ANT-02" in {finding.rule for finding in segue.lint(body, "anthropic-messages")}


WEIRD: tuple[Any, ...] = (None, True, 0, -1.5, "", "x", [], {}, [[]], {"": {}}, [None, "y", {}])


def changed(value: Any, other: Any) -> Iterator[Any]:
    """``value`` with one part of it replaced by ``other``, once for each part."""
    yield other
    if isinstance(value, dict):
        for name in value:
            for below in changed(value[name], other):
                yield {**value, name: below}
    elif isinstance(value, list):
        for at in range(len(value)):
            for below in changed(value[at], other):
                yield [*value[:at], below, *value[at + 1 :]]


@pytest.mark.parametrize("name", names("accepted"))
def test_rules_accept_a_body_with_any_part_replaced(name: str) -> None:
    """Whatever a part is replaced by, nothing raises, and every finding can be printed."""
    protocol, data = read("accepted", name)
    other = WEIRD[sum(name.encode()) % len(WEIRD)]
    for body in list(changed(data["body"], other))[1:200]:
        for finding in run(protocol_of(protocol).rules, body):
            f"{finding.path}{finding.message}".encode()


JUDGES: dict[str, Callable[[dict[str, Any]], list[str]]] = {
    "anthropic-messages": anthropic.type_faults,
    "bedrock-converse": bedrock.body_faults,
    "google-generative-ai": google.type_faults,
    "mistral-chat": lambda body: mistral.faults(body, segue.get_model("mistral/mistral-large-latest")),
    "openai-completions": completions.type_faults,
    "openai-responses": responses.faults,
}


@pytest.mark.parametrize("name", names("accepted"))
def test_accepted_bodies_fit_the_types_of_the_provider(name: str) -> None:
    protocol, data = read("accepted", name)
    if data.get("judged", True):
        assert JUDGES[protocol](data["body"]) == []


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_class_of_fault_has_cases_on_both_sides(protocol: str) -> None:
    """At least sixty faults and thirty good bodies for the four large protocols, and half of that for the others."""
    large = protocol not in ("google-generative-ai", "mistral-chat")
    assert len([name for name in names("refused") if name.startswith(f"{protocol}/")]) >= (60 if large else 25)
    assert len([name for name in names("accepted") if name.startswith(f"{protocol}/")]) >= (30 if large else 12)
