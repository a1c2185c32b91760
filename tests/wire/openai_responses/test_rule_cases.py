"""Each rule has a body that violates it and one that violates none; rules accept any JSON."""

import json
from pathlib import Path
from typing import Any

import pytest
import typing_extensions
from hypothesis import given, strategies as st
from openai.types.responses.response_create_params import ResponseCreateParamsStreaming

import segue
from segue.rules import run
from segue.wire.openai_responses import PROTOCOL
from segue.wire.openai_responses.shapes import ITEMS

CASES = Path(__file__).parents[2] / "cases" / "rules" / "openai-responses"
USER = {"role": "user", "content": "hi"}


def found(body: dict[str, Any], model: str | None = None) -> dict[str, list[str]]:
    """The paths of the findings, by rule."""
    paths: dict[str, list[str]] = {}
    for finding in run(PROTOCOL.rules, body, None if model is None else segue.get_model(model)):
        paths.setdefault(finding.rule, []).append(finding.path)
    return paths


@pytest.mark.parametrize("number", [rule.number for rule in PROTOCOL.rules])
def test_the_rule_finds_the_bad_body_and_not_the_good_one(number: str) -> None:
    case = json.loads((CASES / f"{number}.json").read_text())
    assert number in found(case["bad"], case.get("model"))
    assert found(case["good"], case.get("model")) == {}


@pytest.mark.parametrize(
    ("number", "path", "more", "items"),
    [
        ("OAR-02", "input[0].type", {}, [{"type": "bogus"}]),
        ("OAR-02", "input[0].role", {}, [{"role": "tool", "content": "x"}]),
        ("OAR-02", "input[0]", {}, ["text"]),
        ("OAR-02", "input[0].status", {}, [{"type": "message", "role": "user", "content": "x", "status": None}]),
        ("OAR-02", "input[0]", {}, [{"type": "compaction_trigger"}, USER]),
        ("OAR-03", "input[0].content[0].type", {}, [{"role": "user", "content": [{"type": "output_text"}]}]),
        ("OAR-04", "input[0]", {}, [{"type": "function_call_output", "call_id": "c", "output": "x"}]),
        ("OAR-06", "input[0].id", {}, [{"role": "assistant", "content": "x", "id": "msg_" + "x" * 400}]),
        ("OAR-06", "input[0]", {}, [{"type": "reasoning", "summary": []}, USER]),
        ("OAR-08", "input[0]", {}, [{"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "g"}]),
        ("OAR-09", "input[0]", {"store": False}, [{"type": "item_reference", "id": "msg_1"}, USER]),
        ("OAR-14", "tools", {"tools": [{"type": "function", "name": f"t{at}"} for at in range(129)]}, [USER]),
        ("OAR-27", "tool_choice", {"tool_choice": "required"}, [USER]),
        ("OAR-15", "messages", {"messages": []}, [USER]),
        ("OAR-15", "stop", {"stop": ["x"]}, [USER]),
        ("OAR-15", "reasoning.generate_summary", {"reasoning": {"generate_summary": "auto"}}, [USER]),
    ],
)
def test_a_finding_has_the_path_of_the_fault(number: str, path: str, more: dict[str, Any], items: list[Any]) -> None:
    assert path in found({"model": "m", "input": items, **more})[number]


def test_models_that_do_not_reason_accept_no_reasoning() -> None:
    item = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAA"}
    body = {"model": "m", "input": [USER, item, {"role": "assistant", "content": "x"}], "reasoning": {"effort": "low"}}
    assert set(found(body, "openai/gpt-4.1")) == {"OAR-11", "OAR-15b"}
    assert found(body, "openai/gpt-5.4") == found(body) == {}


def test_outputs_for_calls_on_the_server_are_not_orphans() -> None:
    output = {"type": "function_call_output", "call_id": "c", "output": "x"}
    assert found({"model": "m", "input": [output], "previous_response_id": "resp_1"}) == {}


NAMES = (
    *("type", "role", "content", "output", "call_id", "id", "name", "input", "summary", "image_url", "tools"),
    *("arguments", "phase", "text", "file_data", "effort"),
)
junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["", "x", *sorted(ITEMS)]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
    max_leaves=12,
)


PARAMETERS = sorted(typing_extensions.get_type_hints(ResponseCreateParamsStreaming))


@given(st.dictionaries(st.sampled_from(PARAMETERS), junk, max_size=6), st.booleans())
def test_rules_accept_any_json(body: dict[str, Any], known: bool) -> None:
    run(PROTOCOL.rules, body, segue.get_model("openai/gpt-5.4") if known else None)
