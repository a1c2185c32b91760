"""Independent judges check what the encoder writes."""

import copy
import itertools
import json
from typing import Any

import pytest
from conftest import SOAK
from hypothesis import given, settings, strategies as st
from support import torn
from support.clean import clean_contexts
from support.journeys import CONVERSATIONS
from support.targets import distinct_on_the_wire
from wire.google_generative_ai.judge import faults, normal, sent_by_sdk, turn_faults, type_faults

from segue.projection import project
from segue.render import encode, lint
from segue.types import Context, Model, Options, ToolResultMessage
from segue.types.texts import CLOSING

PROTOCOL = "google-generative-ai"
TARGETS = distinct_on_the_wire(PROTOCOL)
EXAMPLES = 150 if SOAK else 60
OPTIONS = Options(
    max_tokens=100,
    temperature=0.5,
    stop=("END",),
    tool_choice="required",
    reasoning="high",
    cache="long",
    stream=True,
    metadata={"team": "a"},
)


@pytest.mark.parametrize("name", TARGETS)
def test_no_judge_finds_anything_in_histories_of_any_origin(name: str) -> None:
    model = TARGETS[name]
    for title, context in CONVERSATIONS.items():
        for options in (None, OPTIONS):
            body = encode(context, model, options).body
            assert lint(body, PROTOCOL, model) == [], title
            assert faults(body, model) == [], title


@settings(max_examples=EXAMPLES)
@given(st.data(), st.sampled_from(sorted(TARGETS)), st.sampled_from(["default", "or", "phi-core", "llxprt"]))
def test_no_judge_finds_anything_in_torn_histories(data: st.DataObject, name: str, policy: str) -> None:
    model = TARGETS[name]
    context = data.draw(torn.torn_contexts(model))
    body = encode(context, model, policy=policy).body
    assert lint(body, PROTOCOL, model) == []
    assert faults(body, model) == []


@pytest.mark.parametrize("name", TARGETS)
def test_the_sdk_sends_the_same_body(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = TARGETS[name]
    for title in ("google/gemini-3-pro-preview", "all in a row"):
        request = encode(CONVERSATIONS[title], model, Options(max_tokens=100, reasoning="high", tool_choice="auto"))
        path, body = sent_by_sdk(request, monkeypatch)
        assert body == normal(request.body)
        assert f"/{path}".endswith(request.path)


@given(st.data(), st.sampled_from(sorted(TARGETS)))
def test_a_conversation_is_encoded_without_passes(data: st.DataObject, name: str) -> None:
    model = TARGETS[name]
    assert encode(data.draw(torn.torn_contexts(model)), model, policy="off").body["contents"]


# -- laws on the body ------------------------------------------------------------------------------------------------


def blocks(body: dict[str, Any]) -> list[Any]:
    """Roles and parts, adjacent texts of one role joined, without the closing filler."""
    contents = body["contents"]
    if contents[-1]["parts"] == [{"text": CLOSING}]:
        contents = contents[:-1]
    flat: list[Any] = []
    for content in contents:
        for part in content["parts"]:
            if set(part) == {"text"} and flat and flat[-1][0] == content["role"] and set(flat[-1][1]) == {"text"}:
                flat[-1] = (content["role"], {"text": flat[-1][1]["text"] + part["text"]})
            else:
                flat.append((content["role"], part))
    return flat


def is_prefix(before: list[Any], after: list[Any]) -> bool:
    if not before:
        return True
    *whole, (role, last) = before
    if after[: len(whole)] != whole or len(after) <= len(whole):
        return False
    later_role, later = after[len(whole)]
    if set(last) == {"text"} and set(later) == {"text"}:
        return bool(role == later_role and later["text"].startswith(last["text"]))
    return (role, last) == (later_role, later)


@settings(max_examples=EXAMPLES)
@given(st.data(), st.sampled_from(sorted(TARGETS)))
def test_an_earlier_request_is_a_prefix_of_a_later_one(data: st.DataObject, name: str) -> None:
    model = TARGETS[name]
    rendered = project(data.draw(torn.torn_contexts(model)), model).context
    whole = blocks(encode(rendered, model).body)
    for end in range(1, len(rendered.messages)):
        if not isinstance(rendered.messages[end], ToolResultMessage):  # no call waits
            head = Context(messages=rendered.messages[:end], tools=rendered.tools)
            assert is_prefix(blocks(encode(head, model).body), whole)


@pytest.mark.parametrize("name", TARGETS)
def test_journeys_of_all_origins_are_sent_as_prefixes(name: str) -> None:
    model, context = TARGETS[name], CONVERSATIONS["all in a row"]
    bodies = []
    for end in range(1, len(context.messages) + 1):
        if end == len(context.messages) or not isinstance(context.messages[end], ToolResultMessage):
            bodies.append(blocks(encode(Context(messages=context.messages[:end]), model).body))
    assert all(is_prefix(before, after) for before, after in itertools.pairwise(bodies))


@settings(max_examples=EXAMPLES)
@given(st.data(), st.sampled_from(sorted(TARGETS)))
def test_nothing_stored_is_changed_and_the_bytes_are_always_the_same(data: st.DataObject, name: str) -> None:
    model = TARGETS[name]
    context = data.draw(torn.torn_contexts(model))
    before = copy.deepcopy(context)
    first, second = encode(context, model, OPTIONS), encode(context, model, OPTIONS)
    assert context == before
    assert first.json() == second.json()
    assert first.body["contents"] == encode(context, model).body["contents"]


@settings(max_examples=EXAMPLES)
@given(st.data(), st.sampled_from(sorted(TARGETS)))
def test_a_clean_conversation_of_the_target_is_sent_without_a_change(data: st.DataObject, name: str) -> None:
    model = TARGETS[name]
    context = data.draw(clean_contexts(model))
    request = encode(context, model)
    expected = {"filler-inserted", "schema-adapted"}
    results = [message for message in context.messages if isinstance(message, ToolResultMessage)]
    if any(getattr(block, "url", None) for message in results for block in message.content):
        expected |= {"image-moved", "file-moved"}  # results have no addresses
    if model.dialect.surface == "gemini":  # type: ignore[attr-defined]
        expected.add("file-renamed")  # files have no names there
    assert {change.code for change in request.changes} <= expected


# -- the judges themselves -------------------------------------------------------------------------------------------


def test_the_judges_find_faults() -> None:
    model: Model = TARGETS["google/gemini-3.7-flash"]
    call = {"functionCall": {"name": "f", "args": {}}}
    user = {"role": "user", "parts": [{"text": "x"}]}
    response = {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]}
    signed = {"role": "model", "parts": [call | {"thoughtSignature": "c2ln"}]}
    assert turn_faults({"contents": [user, signed, response]}, model) == []
    for contents in (
        [user, signed],
        [user, response],
        [signed, response],
        [user, {"role": "model", "parts": [call]}, response],
        [user, signed, {"role": "user", "parts": [*response["parts"], {"text": "x"}]}],
        [user, {"role": "model", "parts": [{"text": "x"}]}],
        [user, {"role": "model", "parts": [{"text": ""}]}, user],
    ):
        assert turn_faults({"contents": contents}, model), json.dumps(contents)
    assert type_faults({"contents": [{"role": "user", "parts": [{"txt": "x"}]}]})
    assert type_faults({"content": []})
