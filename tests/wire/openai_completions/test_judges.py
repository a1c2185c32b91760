"""Check every request independently, with the SDKs' own types, the careful form and lint; and check that bodies are
deterministic and grow only at the end."""

import inspect
from typing import Any

import pytest
from cerebras.cloud.sdk import Cerebras
from conftest import SOAK
from groq import Groq
from hypothesis import given, settings, strategies as st
from openai import OpenAI
from support.journeys import CONVERSATIONS
from support.targets import distinct_on_the_wire
from support.torn import torn_contexts
from wire.openai_completions.judge import faults

from segue.errors import ProjectionError
from segue.projection.pairing import Pairing
from segue.render import encode, lint
from segue.types import Context, Message, Model, Options, ToolResultMessage

NAME = "openai-completions"
TARGETS = distinct_on_the_wire(NAME)
names = st.sampled_from(sorted(TARGETS))
options = st.builds(
    Options,
    max_tokens=st.sampled_from([None, 100, 10_000_000]),
    temperature=st.sampled_from([None, 0.0, 0.7]),
    stop=st.sampled_from([(), ("END",), ("", " ", "a", "b", "c", "d")]),
    tool_choice=st.sampled_from([None, "auto", "none", "required", "bash", "my.tool", "no such tool"]),
    reasoning=st.sampled_from([None, "off", "minimal", "low", "medium", "high", "xhigh", "max"]),
    cache=st.sampled_from([None, "none", "short", "long"]),
    stream=st.booleans(),
    metadata=st.sampled_from([{}, {"user_id": "u1"}, {"team": "a", "user_id": "u1"}]),
)


@pytest.mark.parametrize("name", TARGETS)
def test_requests_for_histories_of_any_origin_have_no_faults(name: str) -> None:
    model = TARGETS[name]
    for title, context in CONVERSATIONS.items():
        request = encode(context, model)
        assert lint(request.body, NAME, model) == [], title
        assert faults(request) == [], title


@settings(max_examples=200 if SOAK else 150)
@given(st.data(), names, options)
def test_requests_for_torn_histories_with_any_options_have_no_faults(
    data: st.DataObject, name: str, chosen: Options
) -> None:
    model = TARGETS[name]
    request = encode(data.draw(torn_contexts(model)), model, chosen)
    assert lint(request.body, NAME, model) == []
    assert faults(request) == []


@settings(max_examples=200 if SOAK else 60)
@given(st.data(), names, options)
def test_bodies_are_deterministic_and_messages_do_not_depend_on_options(
    data: st.DataObject, name: str, chosen: Options
) -> None:
    model = TARGETS[name]
    context = data.draw(torn_contexts(model))
    body = encode(context, model).body
    assert encode(context, model).json() == encode(context, model).json()
    assert flat(encode(context, model, chosen).body) == flat(body)


@settings(max_examples=200 if SOAK else 120)
@given(st.data(), names)
def test_a_growing_conversation_only_adds_to_the_end_of_the_body(data: st.DataObject, name: str) -> None:
    model = TARGETS[name]
    context = data.draw(torn_contexts(model))
    whole = flat(encode(context, model).body)
    for cut in stable_cuts(context.messages):
        part = rendered(context, cut, model)
        assert is_prefix(part, whole), f"the first {cut} messages are rendered differently: {part}, {whole}"


CLIENTS: dict[str, Any] = {
    "openai": OpenAI(api_key="none").chat.completions.create,
    "groq": Groq(api_key="none").chat.completions.create,
    "cerebras": Cerebras(api_key="none", warm_tcp_connection=False).chat.completions.create,
}


@settings(max_examples=200 if SOAK else 100)
@given(names, options, st.sampled_from(sorted(CONVERSATIONS)))
def test_sdk_kwargs_match_the_signature_of_the_sdk_and_contain_the_whole_body(
    name: str, chosen: Options, title: str
) -> None:
    model = TARGETS[name]
    request = encode(CONVERSATIONS[title], model, chosen)
    kwargs = request.sdk_kwargs()
    inspect.signature(CLIENTS[model.dialect.sdk]).bind(**kwargs)  # type: ignore[attr-defined]
    extra = kwargs.pop("extra_body", {})
    assert kwargs | extra == request.body
    assert not set(kwargs) & set(extra)


# -- a body as roles and blocks ---------------------------------------------------------------------------------------

FIELDS = ("reasoning_content", "reasoning", "reasoning_details")


def flat(body: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Roles and blocks in order, adjacent texts of one role joined, without cache markers."""
    sequence: list[tuple[Any, ...]] = []
    for message in body["messages"]:
        role = message["role"]
        sequence += [(role, field, message[field]) for field in FIELDS if field in message]
        content = message.get("content") or []
        for part in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            if part["type"] != "text":
                sequence.append((role, "image", part["image_url"]["url"]))
            elif role != "tool" and sequence and sequence[-1][:2] == (role, "text"):
                sequence[-1] = (role, "text", f"{sequence[-1][2]}\n\n{part['text']}")
            else:
                sequence.append((role, "text", part["text"]))
        sequence += [(role, "call", call["id"], call[call["type"]]) for call in message.get("tool_calls", [])]
        if role == "tool":
            sequence.append((role, "end", message["tool_call_id"]))
    return sequence


def rendered(context: Context, cut: int, model: Model) -> list[tuple[Any, ...]]:
    """The rendering of the first ``cut`` messages, without a closing filler."""
    part = Context(system_prompt=context.system_prompt, messages=context.messages[:cut], tools=context.tools)
    try:
        request = encode(part, model)
    except ProjectionError:
        return []  # nothing to send yet
    sequence = flat(request.body)
    closed = [change for change in request.changes if change.code == "filler-inserted" and "ends with" in change.detail]
    return sequence[:-1] if closed and sequence[-1] == ("user", "text", "Continue.") else sequence


def is_prefix(part: list[tuple[Any, ...]], whole: list[tuple[Any, ...]]) -> bool:
    """Whether ``whole`` begins with ``part``, whose last text may be longer in ``whole``."""
    if not part:
        return True
    *head, last = part
    if whole[: len(head)] != head or len(whole) < len(part):
        return False
    other = whole[len(head)]
    return other == last or (last[1] == "text" and other[:2] == last[:2] and bool(other[2].startswith(last[2])))


def stable_cuts(messages: list[Message]) -> list[int]:
    """Positions where no call waits for its result, and no result belongs to a call on the other side."""
    pairing, cuts = Pairing(messages), []
    for cut in range(1, len(messages)):
        so_far = Pairing(messages[:cut])
        last_turn = max((at for at in range(cut) if not isinstance(messages[at], ToolResultMessage)), default=-1)
        waits = any(batch.index == last_turn and -1 in batch.answers for batch in so_far.batches.values())
        crossed = any(
            answer >= 0 and (batch.index < cut) != (answer < cut)
            for batch in pairing.batches.values()
            for answer in batch.answers
        )
        early = any(fate == "orphan" and pairing.strays.get(at) != "orphan" for at, fate in so_far.strays.items())
        if not (waits or crossed or early):
            cuts.append(cut)
    return cuts
