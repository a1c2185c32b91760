"""Lint and botocore accept what is encoded, for every dialect of Converse and for histories of every origin."""

import json
from typing import Any

import pytest
from conftest import SOAK
from hypothesis import assume, given, settings, strategies as st
from support.clean import clean_contexts
from support.journeys import CONVERSATIONS
from support.targets import distinct_on_the_wire
from support.torn import torn_contexts
from wire.bedrock_converse.judge import faults, on_the_wire

from segue.errors import ProjectionError
from segue.render import Request, encode, ingest, lint
from segue.types import Context, Model, Options, UserMessage
from segue.types.texts import CLOSING
from segue.wire.bedrock_converse import PROTOCOL

MODELS = distinct_on_the_wire("bedrock-converse")
OPTIONS = st.builds(
    Options,
    max_tokens=st.sampled_from([None, 100, 1_500, 5_000, 10_000_000]),
    temperature=st.sampled_from([None, 0.0, 0.7, 1.0, 1.5]),
    stop=st.sampled_from([(), ("END",), (" ", "END")]),
    tool_choice=st.sampled_from([None, "auto", "none", "required", "bash", "my.tool", "no such tool"]),
    reasoning=st.sampled_from([None, "off", "minimal", "low", "medium", "high", "xhigh", "max"]),
    cache=st.sampled_from([None, "none", "short", "long"]),
    stream=st.booleans(),
    metadata=st.sampled_from([{}, {"user_id": "u1"}, {"team": "ä", "user_id": "u1"}]),
)


def judged(request: Request) -> None:
    assert lint(request.body, "bedrock-converse", request.model) == []
    assert lint(request.sdk_kwargs(), "bedrock-converse", request.model) == []
    assert faults(request) == []
    assert on_the_wire(request) == (request.path, json.loads(request.json()))


@pytest.mark.parametrize("name", MODELS)
def test_histories_of_every_origin_are_accepted_and_read_back(name: str) -> None:
    model = MODELS[name]
    for context in CONVERSATIONS.values():
        request = encode(context, model)
        judged(request)
        assert PROTOCOL.recognise(request.body) == 100
        assert encode(ingest(request.body, "bedrock-converse", model), model).body == request.body


@settings(max_examples=200 if SOAK else 100)
@given(st.data(), OPTIONS, st.sampled_from(sorted(MODELS)))
def test_torn_histories_with_any_options_are_accepted(data: st.DataObject, options: Options, name: str) -> None:
    judged(encode(data.draw(torn_contexts(MODELS[name])), MODELS[name], options))


@settings(max_examples=200 if SOAK else 50)
@given(st.data(), st.sampled_from(sorted(MODELS)))
def test_torn_histories_are_read_back(data: st.DataObject, name: str) -> None:
    model = MODELS[name]
    body = encode(data.draw(torn_contexts(model)), model).body
    again = encode(ingest(body, "bedrock-converse", model), model)
    assert again.body == body


@settings(max_examples=200 if SOAK else 60)
@given(st.data(), st.sampled_from(sorted(MODELS)))
def test_a_clean_conversation_of_the_target_has_only_changes_that_its_family_needs(
    data: st.DataObject, name: str
) -> None:
    model = MODELS[name]
    request = encode(data.draw(clean_contexts(model)), model)
    judged(request)
    codes = {change.code for change in request.changes}
    codes -= {"filler-inserted"}  # it ends with an answer
    dialect: Any = model.dialect
    expected = set() if dialect.error_flag else {"error-as-text"}
    expected |= set() if dialect.tools else {"tools-as-text", "error-as-text", "option-dropped"}
    expected |= set() if dialect.system_prompt else {"system-as-text"}
    expected |= set() if dialect.reasoning_signature else {"signature-dropped", "thinking-dropped"}
    assert codes <= expected


def flat(body: dict[str, Any], closed: bool) -> list[tuple[str, Any]]:
    """Roles and blocks, adjacent texts of one role joined, without cache markers and the closing filler."""
    messages = body["messages"][:-1] if closed else body["messages"]
    found: list[tuple[str, Any]] = []
    for turn in messages:
        for block in turn["content"]:
            if "cachePoint" in block:
                continue
            if "text" in block and found and found[-1][0] == turn["role"] and isinstance(found[-1][1], str):
                found[-1] = (turn["role"], found[-1][1] + block["text"])
            else:
                found.append((turn["role"], block.get("text", block)))
    return found


def is_closed(request: Request) -> bool:
    """Whether the last turn is the closing filler."""
    return any(CLOSING in change.detail and "ends with the user" in change.detail for change in request.changes)


@settings(max_examples=200 if SOAK else 100)
@given(st.data(), st.sampled_from(sorted(MODELS)), OPTIONS)
def test_appending_turns_only_appends(data: st.DataObject, name: str, options: Options) -> None:
    """If the projection only grows, so does the body: the encoder does not depend on later messages."""
    model = MODELS[name]
    context = data.draw(
        st.one_of(clean_contexts(model), torn_contexts(model), st.sampled_from(list(CONVERSATIONS.values())))
    )
    at = data.draw(st.integers(1, len(context.messages)))
    part = Context(system_prompt=context.system_prompt, messages=context.messages[:at], tools=context.tools)
    assume(any(isinstance(message, UserMessage) for message in part.messages))
    try:
        before = encode(part, model)
    except ProjectionError:
        assume(False)
    after = encode(context, model, options)
    rendered = before.projection.context.messages
    assume(after.projection.context.messages[: len(rendered)] == rendered)
    head, tail = flat(before.body, is_closed(before)), flat(after.body, is_closed(after))
    if not head:
        return
    assert tail[: len(head) - 1] == head[:-1]
    (role, last), (role_later, last_later) = head[-1], tail[len(head) - 1]
    assert role == role_later
    assert last_later.startswith(last) if isinstance(last, str) else last_later == last


@settings(max_examples=200 if SOAK else 25)
@given(st.data(), st.sampled_from(sorted(MODELS)), OPTIONS)
def test_the_same_input_gives_the_same_bytes(data: st.DataObject, name: str, options: Options) -> None:
    model: Model = MODELS[name]
    context = data.draw(torn_contexts(model))
    copy = Context.from_json(context.to_json())
    assume(copy == context)
    assert encode(context, model, options).json() == encode(copy, model, options).json()


def test_messages_never_depend_on_options() -> None:
    options = Options(max_tokens=5_000, reasoning="high", tool_choice="required", stream=True, stop=("x",))
    for model in MODELS.values():
        for context in CONVERSATIONS.values():
            assert encode(context, model, options).body["messages"] == encode(context, model).body["messages"]


@settings(max_examples=200 if SOAK else 25)
@given(st.data(), st.sampled_from(sorted(MODELS)))
def test_any_stored_conversation_is_encoded_without_passes(data: st.DataObject, name: str) -> None:
    context = data.draw(torn_contexts(MODELS[name]))
    assert encode(context, MODELS[name], policy="off").body["messages"]
