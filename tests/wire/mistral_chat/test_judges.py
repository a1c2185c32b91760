"""Check encoded bodies independently, and the laws that hold for all bodies."""

import copy
from typing import Any

import pytest
from conftest import SOAK
from hypothesis import given, settings, strategies as st
from support import torn
from support.clean import clean_contexts
from support.journeys import CONVERSATIONS
from support.targets import built_in, distinct_on_the_wire
from wire.mistral_chat.judge import faults, sent_by_sdk

from segue.errors import ProjectionError
from segue.projection.pairing import Pairing
from segue.render import encode, lint
from segue.types import Context, Message, Model, Options, ToolResultMessage
from segue.types.texts import CLOSING

PROTOCOL = "mistral-chat"
TARGETS: dict[str, Model] = distinct_on_the_wire(PROTOCOL) | {
    name: built_in().resolve(name, PROTOCOL) for name in ("mistral/pixtral-12b", "mistral/mistral-large-2411")
}
counts = settings(max_examples=200 if SOAK else 60)
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
targets = st.sampled_from(sorted(TARGETS))
options_of = st.builds(
    Options,
    max_tokens=st.sampled_from([None, 1, 10_000_000]),
    temperature=st.sampled_from([None, 0.0, 1.0]),
    stop=st.sampled_from([(), ("END", "")]),
    tool_choice=st.sampled_from([None, "auto", "none", "required", "bash", "my.tool", "none such"]),
    reasoning=st.sampled_from([None, "off", "minimal", "medium", "max"]),
    stream=st.booleans(),
    metadata=st.sampled_from([{}, {"user_id": "u"}]),
)


@pytest.mark.parametrize("name", TARGETS)
def test_requests_for_histories_of_any_origin_have_no_faults(name: str) -> None:
    model = TARGETS[name]
    for title, context in CONVERSATIONS.items():
        for options in (None, OPTIONS):
            body = encode(context, model, options).body
            assert lint(body, PROTOCOL, model) == [], title
            assert faults(body, model) == [], title


@counts
@given(st.data(), targets, options_of)
def test_requests_for_torn_histories_have_no_faults(data: st.DataObject, name: str, options: Options) -> None:
    model = TARGETS[name]
    body = encode(data.draw(torn.torn_contexts(model)), model, options).body
    assert lint(body, PROTOCOL, model) == []
    assert faults(body, model) == []


VERTEX = "/v1/projects/p/locations/r/publishers/mistralai"


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("stream", [False, True])
def test_the_sdk_sends_the_same_body(name: str, stream: bool) -> None:
    options = Options(max_tokens=100, reasoning="high", tool_choice="read_file", stop=("END",), stream=stream)
    request = encode(CONVERSATIONS["all in a row"], TARGETS[name], options)
    path, sent = sent_by_sdk(request)
    assert path == ("/v1" if request.path == "/chat/completions" else VERTEX) + request.path
    assert with_defaults(sent) == with_defaults(copy.deepcopy(request.body))


def with_defaults(body: dict[str, Any]) -> dict[str, Any]:
    """The body with the default values that the client adds."""
    body.setdefault("stream", False)
    for message in body["messages"]:
        if message["role"] == "assistant":
            message.setdefault("prefix", False)
            for call in message.get("tool_calls", ()):
                call.setdefault("index", 0)
    return body


# -- laws ------------------------------------------------------------------------------------------------------------


@counts
@given(st.data(), targets)
def test_an_earlier_body_is_a_prefix_of_a_later_one(data: st.DataObject, name: str) -> None:
    model = TARGETS[name]
    context = data.draw(torn.torn_contexts(model))
    whole = flat(encode(context, model).body)
    for cut in stable_cuts(context.messages):
        head = Context(system_prompt=context.system_prompt, messages=context.messages[:cut], tools=context.tools)
        try:
            part = flat(encode(head, model).body)
        except ProjectionError:
            continue  # nothing to send yet
        assert is_prefix(part, whole), f"the first {cut} messages are sent otherwise"


@counts
@given(st.data(), targets)
def test_encoding_is_deterministic_and_does_not_change_its_input(data: st.DataObject, name: str) -> None:
    model = TARGETS[name]
    context = data.draw(torn.torn_contexts(model))
    before = copy.deepcopy(context)
    first = encode(context, model, OPTIONS).json()
    assert context == before
    assert encode(before, model, OPTIONS).json() == first


@counts
@given(st.data(), targets)
def test_a_clean_conversation_of_the_target_changes_only_where_the_protocol_has_no_field(
    data: st.DataObject, name: str
) -> None:
    model = TARGETS[name]
    changes = encode(data.draw(clean_contexts(model)), model).changes
    assert {change.code for change in changes} <= {"error-as-text", "filler-inserted"}
    fillers = [change.detail for change in changes if change.code == "filler-inserted"]
    needed = ["ends with the user", "between tool results"]
    needed += [] if model.dialect.text_with_calls else ["between text and calls"]  # type: ignore[attr-defined]
    assert all(any(each in detail for each in needed) for detail in fillers)


def flat(body: dict[str, Any]) -> list[Any]:
    """Roles and blocks in order, adjacent texts of one role joined, without the closing filler."""
    messages = body["messages"]
    if messages[-1] == {"role": "user", "content": CLOSING} and (
        len(messages) == 1 or messages[-2]["role"] in ("assistant", "system")
    ):
        messages = messages[:-1]
    sequence: list[Any] = []
    for message in messages:
        role, content = message["role"], message.get("content", [])
        for chunk in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            if chunk["type"] == "text" and sequence and sequence[-1][:2] == (role, "text") and role != "tool":
                sequence[-1] = (role, "text", sequence[-1][2] + chunk["text"])
            else:
                sequence.append((role, chunk["type"], chunk.get("text", chunk)))
        sequence += [(role, "call", call) for call in message.get("tool_calls", ())]
        if role == "tool":
            sequence.append((role, "end", message["tool_call_id"]))
    return sequence


def is_prefix(part: list[Any], whole: list[Any]) -> bool:
    """Whether ``whole`` begins with ``part``, whose last text may be longer in ``whole``."""
    if not part:
        return True
    *head, last = part
    if whole[: len(head)] != head or len(whole) < len(part):
        return False
    other = whole[len(head)]
    if last[1] == "text" and other[:2] == last[:2]:
        return bool(other[2].startswith(last[2]))
    return bool(other == last)


def stable_cuts(messages: list[Message]) -> list[int]:
    """Positions where no call waits for its result, and no result belongs to a call on the other side."""
    pairing, cuts = Pairing(messages), []
    for cut in range(1, len(messages)):
        so_far = Pairing(messages[:cut])
        last = max((at for at in range(cut) if not isinstance(messages[at], ToolResultMessage)), default=-1)
        waits = any(batch.index == last and -1 in batch.answers for batch in so_far.batches.values())
        crossed = any(
            answer >= 0 and (batch.index < cut) != (answer < cut)
            for batch in pairing.batches.values()
            for answer in batch.answers
        )
        early = any(fate == "orphan" and pairing.strays.get(at) != "orphan" for at, fate in so_far.strays.items())
        if not waits and not crossed and not early:
            cuts.append(cut)
    return cuts
