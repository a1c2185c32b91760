"""The laws of projection, as properties over torn conversations, for every distinct dialect of the catalog."""

import json
import os
import subprocess
import sys
from collections import Counter
from copy import deepcopy
from typing import Any

import pytest
from conftest import SOAK
from hypothesis import given, settings, strategies as st
from support import torn
from support.clean import clean_contexts
from support.structure import faults
from support.targets import distinct, spread

import segue
from segue.projection.pairing import Pairing
from segue.projection.policy import PRESETS
from segue.types import (
    AssistantMessage,
    Context,
    FileContent,
    ImageContent,
    Message,
    Model,
    ProviderContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)

TARGETS = distinct()
POLICIES = [name for name in PRESETS if name != "off"]
counts = settings(max_examples=spread(50 if SOAK else 20))


@pytest.fixture(params=TARGETS, scope="module")
def model(request: pytest.FixtureRequest) -> Model:
    return TARGETS[request.param]


policies = st.sampled_from(POLICIES)


@counts
@given(st.data(), policies)
def test_laws_1_to_6_and_8_hold_for_torn_conversations(model: Model, data: st.DataObject, policy: str) -> None:
    context = data.draw(torn.torn_contexts(model))
    before = deepcopy(context)
    rendered = segue.project(context, model, policy)
    assert context == before, "1: the input was changed"
    valid(rendered, model, policy)
    deterministic(rendered, context, policy)
    prefix_stable(rendered, context, policy)
    idempotent(rendered, policy)
    honest(rendered, context)


@counts
@given(st.data(), policies)
def test_law_7_holds_for_clean_conversations(model: Model, data: st.DataObject, policy: str) -> None:
    context = data.draw(clean_contexts(model))
    rendered = segue.project(context, model, policy)
    assert rendered.changes == []
    assert rendered.context.to_json() == context.to_json()


def valid(rendered: segue.Projection, model: Model, policy: str) -> None:
    """3: what is rendered breaks no structural rule of the target."""
    keeps_siblings = policy == "phi-core" and bool(model.dialect.reads_thinking_of)
    found = [fault for fault in faults(rendered.context, model) if not keeps_siblings or "foreign" not in fault]
    assert found == []
    assert json.loads(rendered.context.to_json())


def deterministic(rendered: segue.Projection, context: Context, policy: str) -> None:
    """4: the same input gives the same bytes."""
    again = segue.project(deepcopy(context), rendered.model, policy)
    assert again.context.to_json() == rendered.context.to_json()
    assert again.changes == rendered.changes


def prefix_stable(rendered: segue.Projection, context: Context, policy: str) -> None:
    """5: what is rendered up to a point at which no call waits is a prefix of what is rendered later."""
    whole = flat(rendered.context.messages)
    for cut in stable_cuts(context.messages):
        part = rendered_or_none(context, cut, rendered.model, policy)
        if part is not None:
            assert is_prefix(part, whole), f"the first {cut} messages are rendered otherwise"


def idempotent(rendered: segue.Projection, policy: str) -> None:
    """6: projecting a projection for the same target changes nothing and reports nothing."""
    twice = segue.project(rendered.context, rendered.model, policy)
    assert twice.changes == []
    assert twice.context == rendered.context


def honest(rendered: segue.Projection, context: Context) -> None:
    """8: nothing readable is lost, moved or invented without an entry in the report."""
    reported = {change.message for change in rendered.changes}
    for index in changed(context.messages, rendered):
        assert index in reported, f"message {index} was changed without a word"
    for one, other in swapped(rendered.sources):
        assert reported & {one, other}, f"messages {one} and {other} were swapped without a word"


def flat(messages: list[Message]) -> list[Any]:
    """Roles and blocks in order, adjacent texts of one role joined."""
    sequence: list[Any] = []
    for message in messages:
        role = type(message).__name__
        for block in message.content:
            match block:
                case TextContent():
                    if sequence and sequence[-1][:2] == (role, "text") and not isinstance(message, ToolResultMessage):
                        sequence[-1] = (role, "text", sequence[-1][2] + block.text)
                    else:
                        sequence.append((role, "text", block.text))
                case ToolCall():
                    sequence.append((role, "call", block.id, block.name, block.arguments))
                case ThinkingContent():
                    sequence.append((role, "thinking", block.thinking, block.thinking_signature))
                case ImageContent():
                    sequence.append((role, "image", block.data, block.url))
                case FileContent():
                    sequence.append((role, "file", block.data, block.url, block.mime_type))
                case ProviderContent():
                    sequence.append((role, "provider", bytes(block.raw)))
        if isinstance(message, ToolResultMessage):
            sequence.append((role, "end", message.tool_call_id, message.is_error))
    return sequence


def is_prefix(part: list[Any], whole: list[Any]) -> bool:
    """The last text of the part may go on in the whole."""
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
    """Positions where no call waits for its result, and no call is matched to a result on the other side."""
    pairing = Pairing(messages)
    cuts = []
    for cut in range(1, len(messages)):
        so_far = Pairing(messages[:cut])
        last_turn = max((at for at in range(cut) if not isinstance(messages[at], ToolResultMessage)), default=-1)
        waits = any(batch.index == last_turn and -1 in batch.answers for batch in so_far.batches.values())
        crossed = any(
            answer >= 0 and (batch.index < cut) != (answer < cut)
            for batch in pairing.batches.values()
            for answer in batch.answers
        )
        taken_early = any(
            fate == "orphan" and pairing.strays.get(index) != "orphan" for index, fate in so_far.strays.items()
        )
        if not waits and not crossed and not taken_early:
            cuts.append(cut)
    return cuts


def rendered_or_none(context: Context, cut: int, model: Model, policy: str) -> list[Any] | None:
    part = Context(system_prompt=context.system_prompt, messages=context.messages[:cut], tools=context.tools)
    try:
        return flat(segue.project(part, model, policy).context.messages)
    except segue.ProjectionError:
        return None  # nothing to send yet


def changed(messages: list[Message], rendered: segue.Projection) -> list[int]:
    """The stored messages whose readable content is not what was rendered from them."""
    made: dict[int, list[Any]] = {}
    for source, message in zip(rendered.sources, rendered.context.messages, strict=True):
        made.setdefault(source, []).append(readable(message))
    return [index for index, message in enumerate(messages) if made.get(index) != [readable(message)]]


def swapped(sources: list[int]) -> list[tuple[int, int]]:
    """Pairs of stored messages that are rendered in the other order."""
    return [(one, other) for at, one in enumerate(sources) for other in sources[at + 1 :] if other < one]


def readable(message: Message) -> Any:
    blocks: list[Any] = []
    for block in message.content:
        match block:
            case TextContent():
                blocks.append(("text", block.text))
            case ThinkingContent():
                blocks.append(("thinking", block.thinking))
            case ToolCall():
                blocks.append(("call", block.name, block.arguments, block.kind, block.namespace))
            case ImageContent():
                blocks.append(("image", block.data, block.url))
            case FileContent():
                blocks.append(("file", block.data, block.url, block.mime_type, block.name))
            case ProviderContent():
                blocks.append(("provider", block.kind, bytes(block.raw)))
    flag = message.is_error if isinstance(message, ToolResultMessage) else None
    return type(message).__name__, blocks, flag


class TestTotal:
    @pytest.mark.parametrize("policy", POLICIES)
    @pytest.mark.parametrize(
        "context",
        [
            Context(messages=[]),
            Context(system_prompt="Be brief.", messages=[]),
            Context(messages=[UserMessage(" \n")]),
            Context(
                messages=[
                    AssistantMessage(
                        content=[ThinkingContent("", redacted=True)],
                        protocol="",
                        provider="",
                        model="",
                        stop_reason="stop",
                    )
                ]
            ),
        ],
    )
    def test_a_conversation_with_nothing_to_send_is_refused(self, context: Context, policy: str) -> None:
        with pytest.raises(segue.ProjectionError, match="there is nothing to send"):
            segue.project(context, segue.get_model("anthropic/claude-sonnet-4-5"), policy)

    @pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), {1, 2}.__iter__()])
    def test_what_json_cannot_hold_is_refused_with_its_place(self, value: Any) -> None:
        call = ToolCall("1", "a", {"x": [value]})
        answer = AssistantMessage(
            content=[TextContent("x"), call], protocol="", provider="", model="", stop_reason="stop"
        )
        with pytest.raises(segue.FormatError, match=r"messages\[1\]\.content\[1\]\.arguments"):
            segue.project(Context(messages=[UserMessage("x"), answer]), segue.get_model("anthropic/claude-sonnet-4-5"))

    def test_nested_values_do_not_fail(self) -> None:
        arguments: dict[str, Any] = {"text": torn.HALF}
        for _ in range(300):
            arguments = {"x": [arguments]}
        answer = AssistantMessage(
            content=[ToolCall("1", "a", arguments)], protocol="", provider="", model="", stop_reason="toolUse"
        )
        for model in TARGETS.values():
            rendered = segue.project(Context(messages=[UserMessage("x"), answer]), model)
            assert b"half \xef\xbf\xbd character" in rendered.context.to_json()


SCRIPT = """
import sys, segue
context = segue.Context.from_json(sys.stdin.buffer.read())
for name in {names!r}:
    sys.stdout.buffer.write(segue.project(context, segue.get_model(name)).context.to_json() + b"\\n")
"""


def test_4_the_same_bytes_in_every_process() -> None:
    """No clock, no chance, no hash order."""
    names = ["anthropic/claude-sonnet-4-5", "mistral/mistral-large-latest", "moonshot/kimi-k2-thinking"]
    context = Context(
        messages=[
            UserMessage("go"),
            AssistantMessage(
                content=[ToolCall("a", "my.tool", {"z": 1, "a": 2}), ToolCall("a", "1st", {}), ToolCall("", "x", {})],
                protocol="",
                provider="",
                model="",
                stop_reason="toolUse",
            ),
            ToolResultMessage("a", "my.tool", [TextContent("x")]),
        ]
    )
    seen = Counter(
        subprocess.run(
            [sys.executable, "-c", SCRIPT.format(names=names)],
            input=context.to_json(),
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "4711")
    )
    assert len(seen) == 1
    assert next(iter(seen)).count(b"\n") == len(names)
