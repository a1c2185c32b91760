"""Histories of answers with complete, broken, missing or repeated items; and positions to cut them."""

import json
from typing import Any

from hypothesis import strategies as st

from segue.projection.pairing import Pairing
from segue.types import (
    AssistantMessage,
    Context,
    Message,
    Model,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)

pick = st.sampled_from


def reasoning(number: int, **more: Any) -> str:
    """A complete reasoning item, as it is stored."""
    return json.dumps({"id": f"rs_{number}", "type": "reasoning", "summary": [], "encrypted_content": "gAAAA", **more})


_numbers = st.integers(0, 6)
_broken = pick([None, "{", "[]", "null", "c2ln", '{"id":1}', '{"id":"rs_1"}', '{"phase":"commentary"}', "x" * 400])
_reasoning = st.one_of(
    _numbers.map(reasoning),
    _numbers.map(reasoning),
    _numbers.map(lambda number: reasoning(number, encrypted_content=None)),
    _numbers.map(lambda number: reasoning(number, status=None, content=None, created_by="me")),
    _numbers.map(lambda number: reasoning(number, content=[{"type": "reasoning_text", "text": "hm"}])),
    _numbers.map(lambda number: reasoning(number, summary=[{"type": "summary_text", "text": "hm"}])),
    _numbers.map(lambda number: reasoning(number, summary="hm")),
    _numbers.map(lambda number: reasoning(number, status=["completed"])),
    _broken,
)
_message = st.one_of(
    _numbers.map(lambda number: json.dumps({"id": f"msg_{number}"})),
    _numbers.map(lambda number: json.dumps({"v": 1, "id": f"msg_{number}", "phase": "final_answer"})),
    _numbers.map(lambda number: f"msg_{number}"),
    _broken,
)
_call = st.one_of(_numbers.map(lambda number: f"fc_{number}"), _numbers.map(lambda number: f"fc_{number}"), _broken)
_blocks = st.one_of(
    st.builds(ThinkingContent, pick(["", "let me see"]), _reasoning),
    st.builds(TextContent, pick(["", "hello", " "]), _message),
    st.builds(ToolCall, _numbers.map(lambda number: f"call_{number}"), st.just("bash"), st.just({"n": 1}), _call),
)


def histories(model: Model) -> st.SearchStrategy[Context]:
    """Turns of ``model`` itself, with or without the results of their calls."""

    def turn(content: list[Any], answered: bool, asked: bool) -> list[Message]:
        answer = AssistantMessage(
            content=content, protocol=model.protocol, provider=model.provider, model=model.id, stop_reason="stop"
        )
        results: list[Message] = [
            ToolResultMessage(block.id, block.name, [TextContent("done")])
            for block in content
            if isinstance(block, ToolCall)
        ]
        question: list[Message] = [UserMessage("and now?")]
        return [answer, *(results if answered else []), *(question if asked else [])]

    turns = st.lists(
        st.builds(turn, st.lists(_blocks, min_size=1, max_size=4), st.booleans(), st.booleans()), max_size=4
    )
    return turns.map(
        lambda drawn: Context(messages=[UserMessage("go on"), *(message for turn in drawn for message in turn)])
    )


def stable_cuts(messages: list[Message]) -> list[int]:
    """Positions where no call waits for its result, and no result belongs to a call on the other side."""
    pairing = Pairing(messages)
    cuts = []
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
