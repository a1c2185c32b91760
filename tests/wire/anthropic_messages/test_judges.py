"""Encoded bodies break no rule, pass the judge, are always the same, and only grow at the end."""

import json
from typing import Any

import pytest
from conftest import SOAK
from hypothesis import given, settings, strategies as st
from support import torn
from support.clean import clean_contexts
from support.journeys import CONVERSATIONS
from support.targets import distinct_on_the_wire
from wire.anthropic_messages.judge import faults

from segue.projection import project
from segue.projection.policy import PRESETS
from segue.render import encode
from segue.rules import run
from segue.types import AssistantMessage, Context, Model, Options, ToolResultMessage, UserMessage
from segue.wire.anthropic_messages.rules import RULES

TARGETS = distinct_on_the_wire("anthropic-messages")
models = st.sampled_from(sorted(TARGETS)).map(TARGETS.__getitem__)
policies = st.sampled_from([name for name in PRESETS if name != "off"])
options = st.builds(
    Options,
    max_tokens=st.sampled_from([None, 1, 1_024, 1_025, 5_000, 10_000_000]),
    temperature=st.sampled_from([None, 0.5]),
    stop=st.sampled_from([(), ("END",), (" ", "half \ud83d")]),
    tool_choice=st.sampled_from([None, "auto", "none", "required", "bash", "my.tool", "nobody"]),
    reasoning=st.sampled_from([None, "off", "minimal", "low", "medium", "high", "xhigh", "max"]),
    cache=st.sampled_from([None, "none", "short", "long"]),
    stream=st.booleans(),
    metadata=st.sampled_from([{}, {"user_id": "u \ud83d"}, {"user_id": "u", "team": "a"}]),
)
counts = settings(max_examples=200 if SOAK else 120)


def judged(body: dict[str, Any], model: Model) -> None:
    assert run(RULES, body, model) == []
    assert faults(body) == []


@pytest.mark.parametrize("name", TARGETS)
def test_histories_of_every_origin_pass_the_judges(name: str) -> None:
    for context in CONVERSATIONS.values():
        judged(encode(context, TARGETS[name]).body, TARGETS[name])


def test_no_message_has_the_role_system() -> None:
    """ "role 'system' must precede an 'assistant' message or end the array" (claude-code#73821, 2026-07): none is sent,
    also to models that take one inside messages."""
    for model in TARGETS.values():
        for context in CONVERSATIONS.values():
            roles = {turn["role"] for turn in encode(context, model).body["messages"]}
            assert roles <= {"user", "assistant"}


@counts
@given(st.data(), models, options, policies)
def test_torn_histories_with_any_options_pass_the_judges(
    data: st.DataObject, model: Model, options: Options, policy: str
) -> None:
    context = data.draw(torn.torn_contexts(model))
    request = encode(context, model, options, policy)
    judged(request.body, model)
    assert json.loads(request.json()) == request.body
    assert encode(context, model, options, policy).json() == request.json(), "not the same twice"
    plain = encode(context, model, None, policy).body
    assert bare(request.body) == bare(plain), "messages depend on options"


def test_the_judge_refuses_what_is_wrong() -> None:
    """A judge that accepts everything would prove nothing."""
    model = TARGETS["anthropic/claude-opus-5-5"]
    good = encode(CONVERSATIONS["all in a row"], model).body

    def broken(change: Any) -> list[str]:
        body = json.loads(json.dumps(good))
        change(body)
        return faults(body)

    assert broken(lambda body: None) == []
    assert broken(lambda body: body.update(temperature=1.0))
    assert broken(lambda body: body.update(max_tokens="many"))
    assert broken(lambda body: body["messages"][0].update(id="x"))
    assert broken(lambda body: body["messages"][0]["content"][0].update(index=0))
    assert broken(lambda body: body["messages"][0]["content"][1]["source"].update(media_type="image/bmp"))
    assert broken(lambda body: body["messages"][1]["content"][-1].update(input=None))
    assert broken(lambda body: body["messages"][2]["content"].reverse())
    assert broken(lambda body: body["messages"][2]["content"][0].pop("tool_use_id"))
    assert broken(lambda body: body["tools"][0]["input_schema"].update(type="array"))


# -- growing ---------------------------------------------------------------------------------------------------------

Piece = tuple[str, Any]


def bare(body: dict[str, Any]) -> list[Piece]:
    """Roles and blocks, adjacent texts of one role joined, without cache markers."""
    pieces: list[Piece] = []
    for turn in body["messages"]:
        for block in turn["content"]:
            plain = {key: value for key, value in block.items() if key != "cache_control"}
            if plain["type"] == "text" and pieces and pieces[-1][0] == turn["role"] and isinstance(pieces[-1][1], str):
                pieces[-1] = (turn["role"], pieces[-1][1] + "\n" + plain["text"])
            else:
                pieces.append((turn["role"], plain["text"] if plain["type"] == "text" else plain))
    return pieces


def starts_with(later: list[Piece], earlier: list[Piece]) -> bool:
    """Whether ``later`` begins with all of ``earlier``; its last text may have grown."""
    if earlier and earlier[-1] == ("user", "Continue.") and later[: len(earlier)] != earlier:
        earlier = earlier[:-1]
    if not earlier:
        return True
    *head, last = earlier
    same = later[: len(head)] == head and len(later) >= len(earlier)
    if not same or not isinstance(last[1], str):
        return same and later[len(head)] == last
    role, text = later[len(head)]
    return role == last[0] and isinstance(text, str) and (text + "\n").startswith(last[1] + "\n")


def only_grows(context: Context, model: Model) -> None:
    whole = bare(encode(context, model).body)
    for end in ends(context):
        part = Context(system_prompt=context.system_prompt, messages=context.messages[:end], tools=context.tools)
        assert starts_with(whole, bare(encode(part, model).body))


@counts
@given(st.data(), models)
def test_a_clean_conversation_only_grows(data: st.DataObject, model: Model) -> None:
    only_grows(data.draw(clean_contexts(model)), model)


@counts
@given(st.data(), models)
def test_a_torn_conversation_that_was_projected_only_grows(data: st.DataObject, model: Model) -> None:
    only_grows(project(data.draw(torn.torn_contexts(model)), model).context, model)


@pytest.mark.parametrize("name", TARGETS)
def test_a_journey_through_all_origins_only_grows(name: str) -> None:
    only_grows(CONVERSATIONS["all in a row"], TARGETS[name])


def ends(context: Context) -> list[int]:
    """The positions at which every call has its result."""
    found, waiting = [], 0
    for index, message in enumerate(context.messages):
        match message:
            case AssistantMessage():
                waiting = len(message.tool_calls)
            case ToolResultMessage():
                waiting -= 1
            case UserMessage():
                waiting = 0
        if waiting == 0:
            found.append(index + 1)
    return found
