"""The hand-off matrix: histories of every origin, alone and in a row, for every provider row: nothing to find."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import SOAK
from hypothesis import given, settings, strategies as st
from support import torn
from support.journeys import CONVERSATIONS
from support.targets import of_every_provider

import segue
from segue.catalog import list_providers
from segue.types import Model, Options
from segue.wire.registry import PROTOCOLS

TARGETS = {
    f"{name} ({protocol})": model for protocol in PROTOCOLS for name, model in of_every_provider(protocol).items()
}


def test_every_provider_row_is_a_target() -> None:
    assert {model.provider for model in TARGETS.values()} == set(list_providers())


@pytest.mark.parametrize("name", TARGETS)
def test_no_history_of_any_origin_breaks_a_rule_of_any_target(name: str) -> None:
    model = TARGETS[name]
    for title, context in CONVERSATIONS.items():
        assert segue.lint(segue.encode(context, model).json(), model.protocol, model) == [], title


OPTIONS = st.builds(
    Options,
    max_tokens=st.sampled_from([None, 100, 5_000, 10_000_000]),
    temperature=st.sampled_from([None, 0.0, 0.7, 1.0]),
    stop=st.sampled_from([(), ("END",), (" ", "\n\nHuman:")]),
    tool_choice=st.sampled_from([None, "auto", "none", "required", "bash", "my.tool", "no such tool"]),
    reasoning=st.sampled_from([None, "off", "minimal", "low", "medium", "high", "xhigh", "max"]),
    cache=st.sampled_from([None, "none", "short", "long"]),
    stream=st.booleans(),
    metadata=st.sampled_from([{}, {"user_id": "u1"}, {"team": "a", "user_id": "u1"}]),
)


@settings(max_examples=400 if SOAK else 300)
@given(st.data(), OPTIONS, st.sampled_from(sorted(TARGETS)))
def test_torn_histories_with_any_options_break_no_rule(data: st.DataObject, options: Options, name: str) -> None:
    model: Model = TARGETS[name]
    context = data.draw(torn.torn_contexts(model))
    request = segue.encode(context, model, options)
    assert segue.lint(request.body, model.protocol, model) == []


@settings(max_examples=200 if SOAK else 150)
@given(st.data(), OPTIONS, st.sampled_from(sorted(TARGETS)))
def test_messages_never_depend_on_options(data: st.DataObject, options: Options, name: str) -> None:
    model: Model = TARGETS[name]
    context = data.draw(torn.torn_contexts(model))
    with_options = segue.encode(context, model, options)
    without = segue.encode(context, model)
    assert with_options.projection.context == without.projection.context


SCRIPT = """
import sys, segue
context = segue.Context.from_json(sys.stdin.buffer.read())
options = segue.Options(cache="long", reasoning="high", tool_choice="required", stop=("a",), metadata={"user_id": "u"})
for ref, protocol in TARGETS:
    model = segue.get_model(ref, protocol=protocol)
    sys.stdout.buffer.write(segue.encode(context, model, options).json() + b"\\n")
"""


def test_bodies_are_the_same_bytes_in_every_process() -> None:
    example = Path(__file__).parents[2] / "examples" / "three-models.json"
    targets = [(model.ref, model.protocol) for model in TARGETS.values() if model.known][::5]
    seen = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT.replace("TARGETS", repr(targets))],
            input=example.read_bytes(),
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "4711")
    }
    assert len(seen) == 1
    assert next(iter(seen)).count(b"\n") == len(targets)
