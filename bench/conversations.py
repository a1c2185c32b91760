"""Histories to measure with: made of nothing but a number of messages, so that every run has the same ones."""

from msgspec.structs import replace

import segue
from segue.dialects import fresh_id
from segue.types import (
    AssistantContent,
    AssistantMessage,
    Context,
    Message,
    Model,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
    Usage,
    UsageCost,
    UserMessage,
)

WORDS = "the quick brown fox jumps over the lazy dog and reads another file before it answers".split()  # noqa: SIM905


def prose(length: int, seed: int) -> str:
    """About ``length`` characters of text."""
    words = [WORDS[(seed * 7 + at * 3) % len(WORDS)] for at in range(length // 5)]
    return " ".join(words)


def tool_history(count: int) -> Context:
    """A history of ``count`` messages as a coding agent makes it, about 1.2 KB a message: question, thinking and a
    call, its result, answer."""
    messages: list[Message] = []
    turn = 0
    while len(messages) < count:
        usage = Usage(1200, 300, 20_000, 400, 21_900, cost=UsageCost(0.0036, 0.0045, 0.006, 0.0015, 0.0156))
        call = ToolCall(
            f"toolu_{turn:024d}", "read_file", {"path": f"src/module_{turn}.py", "offset": turn, "limit": 200}
        )
        messages += [
            UserMessage(prose(300, turn)),
            AssistantMessage(
                content=[ThinkingContent(prose(600, turn), "c2lnbmF0dXJl" * 20), TextContent(prose(200, turn)), call],
                usage=usage,
                stop_reason="toolUse",
                timestamp=1_700_000_000_000 + turn,
                protocol="anthropic-messages",
                provider="anthropic",
                model="claude-sonnet-4-5",
            ),
            ToolResultMessage(call.id, call.name, [TextContent(prose(2200, turn))]),
            AssistantMessage(
                content=[TextContent(prose(700, turn))],
                usage=usage,
                stop_reason="stop",
                timestamp=1_700_000_000_500 + turn,
                protocol="anthropic-messages",
                provider="anthropic",
                model="claude-sonnet-4-5",
            ),
        ]
        turn += 1
    schema = {"type": "object", "properties": {"path": {"type": "string"}, "offset": {"type": "integer"}}}
    return Context(
        system_prompt=prose(800, 1),
        messages=messages[:count],
        tools=[ToolDefinition("read_file", "Read a file", schema)],
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
