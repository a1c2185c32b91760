"""Histories as if a certain model had made them, so that nothing in them has to change for that model."""

from msgspec.structs import replace

import segue
from segue.dialects import fresh_id
from segue.types import (
    AssistantContent,
    AssistantMessage,
    Context,
    Message,
    Model,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
)


def own_history(context: Context, model: Model) -> Context:
    """The same history as if ``model`` had made it: nothing in it has to change for this model. It has thinking only
    where the model accepts thinking like this."""
    messages: list[Message] = []
    for message in context.messages:
        if isinstance(message, AssistantMessage):
            content = [_own_block(block, model) for block in message.content]
            message = replace(
                message, content=content, protocol=model.protocol, provider=model.provider, model=model.id
            )
        elif isinstance(message, ToolResultMessage):
            message = replace(message, tool_call_id=_own_id(message.tool_call_id, model))
        messages.append(message)
    own = replace(context, messages=messages)
    return without_thinking(own) if segue.encode(own, model).changes else own


def _own_block(block: AssistantContent, model: Model) -> AssistantContent:
    return replace(block, id=_own_id(block.id, model)) if isinstance(block, ToolCall) else block


def _own_id(stored: str, model: Model) -> str:
    return fresh_id(stored, model.dialect.id_form)


def without_thinking(context: Context) -> Context:
    """The same history with answers that hold no thinking."""
    messages: list[Message] = []
    for message in context.messages:
        if isinstance(message, AssistantMessage):
            content = [block for block in message.content if not isinstance(block, ThinkingContent)]
            message = replace(message, content=content)
        messages.append(message)
    return replace(context, messages=messages)
