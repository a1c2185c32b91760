"""There is one road through projection: a pass in the tuple sees every step that concerns it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import get_args

import pytest
from hypothesis import given, strategies as st
from support import torn
from support.clean import clean_contexts
from support.targets import distinct

import segue
from segue.projection import pipeline
from segue.projection.passes.text import _CLEANERS
from segue.projection.scan import CALLS, FAILED, IMAGES, ODD, OPAQUE
from segue.projection.step import Pass, Step
from segue.types import (
    PLACEMENT,
    AssistantMessage,
    Block,
    Context,
    ImageContent,
    Message,
    Model,
    TextContent,
    ThinkingContent,
    ToolCall,
    UserMessage,
)

TARGETS = distinct()
BITS = {"calls": CALLS, "images": IMAGES, "opaque": OPAQUE, "failed": FAILED, "odd": ODD}


class Witness(Pass):
    """Changes nothing, and remembers the steps that it saw."""

    seen: list[int] = []

    def user(self, step: Step, message: UserMessage) -> None:
        self.seen.append(step.index)

    def answer(self, step: Step, message: AssistantMessage) -> None:
        self.seen.append(step.index)


@contextmanager
def witnessed(bit: str) -> Iterator[list[int]]:
    """The steps that a pass with this bit sees, if it is the first in the tuple."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Witness, "concerns", BITS[bit], raising=False)
        patch.setattr(Witness, "seen", seen := [])
        patch.setattr(pipeline, "PASSES", (Witness, *pipeline.PASSES))
        yield seen


def concerned(messages: list[Message], bit: str) -> set[int]:
    """The messages that certainly concern a pass with this bit, found without the code under test."""
    return {
        at
        for at, message in enumerate(messages)
        if type(message) in (UserMessage, AssistantMessage) and any_of(message, bit)
    }


def any_of(message: Message, bit: str) -> bool:
    if bit == "failed":
        return isinstance(message, AssistantMessage) and message.failed
    if bit == "odd":
        return not message.content or any(map(is_odd, message.content))
    return any(
        isinstance(block, {"calls": ToolCall, "images": ImageContent, "opaque": ThinkingContent}[bit])
        or (bit == "opaque" and is_signed(block))
        for block in message.content
    )


def is_signed(block: Block) -> bool:
    return bool(getattr(block, "text_signature", None) or getattr(block, "thought_signature", None))


def is_odd(block: Block) -> bool:
    """Blank, or with half a character."""
    if isinstance(block, TextContent) and not block.text_signature:
        return not block.text.strip() or half(block.text)
    return isinstance(block, ToolCall) and half(json.dumps(block.arguments, ensure_ascii=False))


def half(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)


@pytest.mark.parametrize("bit", BITS)
@given(st.data())
def test_a_pass_sees_every_step_that_concerns_it_from_scratch_and_incrementally(bit: str, data: st.DataObject) -> None:
    model: Model = TARGETS[data.draw(st.sampled_from(list(TARGETS)))]
    origin = data.draw(st.sampled_from([model, TARGETS[data.draw(st.sampled_from(list(TARGETS)))]]))
    context = data.draw(clean_contexts(origin) | torn.torn_contexts(origin))
    with witnessed(bit) as seen:
        segue.project(context, model)
        assert concerned(context.messages, bit) <= set(seen)
        assert len(seen) == len(set(seen)), "a step went through a pass twice"
    with witnessed(bit) as seen:
        renderer = segue.Renderer(model)
        for cut in sorted(data.draw(st.sets(st.integers(1, len(context.messages)), min_size=1, max_size=4))):
            part = context.messages[:cut]
            try:
                renderer.request(Context(system_prompt=context.system_prompt, messages=part, tools=context.tools))
            except segue.ProjectionError:  # there is nothing to send yet
                continue
            assert concerned(part, bit) <= set(seen)


def test_tables_by_kind_of_block_have_a_row_for_every_kind() -> None:
    assert set(_CLEANERS) == set(get_args(Block))
    assert set().union(*PLACEMENT.values()) == set(get_args(Block))
    assert set(PLACEMENT) == set(get_args(Message))
