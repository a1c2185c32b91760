"""Canonical ids of calls: a call without an id, or with one that the session already uses, gets a new id.

The id is derived from position and content, in the form of the origin's dialect. It never changes afterwards.
"""

from msgspec.structs import replace

from ..dialects import ID_SHAPES, fresh_id
from ..types import AssistantMessage, Model, ToolCall
from ..types.codec import encode
from .state import State


def with_identity(message: AssistantMessage, model: Model, state: State) -> AssistantMessage:
    """``message`` with a unique id for every call."""
    taken: set[str] = set()
    content = list(message.content)
    calls = state.calls
    for at, block in enumerate(content):
        if not isinstance(block, ToolCall):
            continue
        if not block.id or block.id in state.ids or block.id in taken:
            fresh = _fresh(block, model, state, taken, at, calls)
            content[at] = ToolCall(fresh, block.name, block.arguments, block.thought_signature)
            taken.add(fresh)
        else:
            taken.add(block.id)
        calls += 1
    return message if content == message.content else replace(message, content=content)


def _fresh(call: ToolCall, model: Model, state: State, taken: set[str], at: int, calls: int) -> str:
    form, attempt = model.dialect.id_form, 0
    shape = ID_SHAPES[form]
    seed = f"{len(state.messages)}:{at}:{call.name}:{encode(call.arguments).decode()}"
    while True:
        number = calls + attempt
        fresh = shape.counted_id(call.name, number) if shape.counted else fresh_id(seed, form, attempt)
        if fresh not in state.ids and fresh not in taken:
            return fresh
        attempt += 1
