"""Neither our own rules nor the types of the openai SDK find a fault in any rendered body."""

import inspect
from typing import Any

import openai
import pytest
import typing_extensions
from conftest import SOAK
from hypothesis import given, settings, strategies as st
from openai.types.responses import response_input_item_param
from support.journeys import CONVERSATIONS
from support.targets import distinct_on_the_wire
from support.torn import torn_contexts
from wire.openai_responses.answers import histories, stable_cuts
from wire.openai_responses.judge import faults

from segue.errors import ProjectionError
from segue.render import encode, ingest
from segue.rules import run
from segue.types import Context, Model, Options
from segue.wire.openai_responses import PROTOCOL
from segue.wire.openai_responses.shapes import ITEMS

MODELS = distinct_on_the_wire("openai-responses")
OPTIONS = st.builds(
    Options,
    max_tokens=st.sampled_from([None, 1, 5_000, 10_000_000]),
    temperature=st.sampled_from([None, 0.0, 1.0, 3.0]),
    stop=st.sampled_from([(), ("END",)]),
    tool_choice=st.sampled_from([None, "auto", "none", "required", "bash", "my.tool", "no such tool"]),
    reasoning=st.sampled_from([None, "off", "minimal", "low", "medium", "high", "xhigh", "max"]),
    cache=st.sampled_from([None, "none", "short", "long"]),
    stream=st.booleans(),
    metadata=st.sampled_from([{}, {"user_id": "u1"}, {"user_id": "u" * 200, "k" * 65: "v", "team": "a"}]),
)


def all_faults(body: dict[str, Any], model: Model) -> list[Any]:
    return [*run(PROTOCOL.rules, body, model), *faults(body)]


def ingested_again(body: dict[str, Any], model: Model) -> dict[str, Any]:
    return encode(ingest(body, "openai-responses", model), model).body


@pytest.mark.parametrize("name", MODELS)
def test_requests_for_histories_of_any_origin_have_no_faults(name: str) -> None:
    for title, context in CONVERSATIONS.items():
        assert all_faults(encode(context, MODELS[name]).body, MODELS[name]) == [], title


@settings(max_examples=150 if SOAK else 60)
@given(st.data(), st.sampled_from(sorted(MODELS)), OPTIONS)
def test_requests_for_torn_histories_have_no_faults(data: st.DataObject, name: str, options: Options) -> None:
    body = encode(data.draw(torn_contexts(MODELS[name])), MODELS[name], options).body
    assert all_faults(body, MODELS[name]) == []


@settings(max_examples=150 if SOAK else 60)
@given(st.data(), st.sampled_from(sorted(MODELS)))
def test_an_answer_is_sent_with_all_of_its_ids_or_none_and_no_id_twice(data: st.DataObject, name: str) -> None:
    """Answers of the target itself, with any mixture of complete, broken and repeated items."""
    model = MODELS[name]
    context = data.draw(histories(model))
    body = encode(context, model).body
    assert all_faults(body, model) == []
    ids = [item["id"] for item in body["input"] if "id" in item]
    assert len(ids) == len(set(ids))
    assert ingested_again(body, model) == body


@settings(max_examples=150 if SOAK else 25)
@given(st.data(), st.sampled_from(sorted(MODELS)), OPTIONS)
def test_the_input_does_not_depend_on_options_and_is_deterministic(
    data: st.DataObject, name: str, options: Options
) -> None:
    context = data.draw(torn_contexts(MODELS[name]))
    once, twice = encode(context, MODELS[name], options), encode(context, MODELS[name], options)
    assert once.json() == twice.json()
    assert once.body["input"] == encode(context, MODELS[name]).body["input"]


def sequence(body: dict[str, Any]) -> list[Any]:
    """The items without a closing filler."""
    closing = [{"type": "input_text", "text": "Continue."}]
    return [item for item in body["input"] if item.get("content") != closing]


@settings(max_examples=150 if SOAK else 60)
@given(st.data(), st.sampled_from(sorted(MODELS)), st.booleans())
def test_items_do_not_change_when_messages_are_appended(data: st.DataObject, name: str, own: bool) -> None:
    context = data.draw((histories if own else torn_contexts)(MODELS[name]))
    whole = sequence(encode(context, MODELS[name]).body)
    for end in stable_cuts(context.messages):
        part = Context(system_prompt=context.system_prompt, messages=context.messages[:end], tools=context.tools)
        try:
            first = sequence(encode(part, MODELS[name]).body)
        except ProjectionError:
            continue  # nothing to send yet
        assert whole[: len(first)] == first


# -- the checks themselves -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("item", "fault"),
    [
        ({"type": "function_call", "call_id": "c", "name": "n", "arguments": "{}", "bogus": 1}, "bogus"),
        ({"role": "assistant", "content": [{"type": "output_text", "text": "x", "annotations": []}]}, "id"),
        ({"type": "reasoning", "id": "rs_1"}, "summary"),
        ({"type": "function_call_output", "call_id": "c", "output": [{"type": "input_text"}]}, "text"),
    ],
)
def test_the_types_are_checked_strictly(item: dict[str, Any], fault: str) -> None:
    assert any(fault in found for found in faults({"model": "m", "input": [item]}))


def test_the_table_of_items_matches_the_sdk() -> None:
    kinds = typing_extensions.get_args(response_input_item_param.ResponseInputItemParam)
    known = {name for kind in kinds for name in _literals(typing_extensions.get_type_hints(kind)["type"])}
    assert known | {"agent_message", "multi_agent_call", "multi_agent_call_output"} == ITEMS


def _literals(kind: Any) -> list[str]:
    if isinstance(kind, str):
        return [kind]
    return [found for argument in typing_extensions.get_args(kind) for found in _literals(argument)]


def test_the_sdk_has_an_argument_for_every_field() -> None:
    options = Options(max_tokens=100, reasoning="high", cache="long", stream=True, metadata={"user_id": "u", "a": "b"})
    create = inspect.signature(openai.OpenAI(api_key="none").responses.create)
    for model in MODELS.values():
        request = encode(CONVERSATIONS["openai/gpt-5.4"], model, options)
        create.bind(**request.sdk_kwargs())
        assert (request.path, request.headers) == ("/responses", {"content-type": "application/json", **model.headers})
