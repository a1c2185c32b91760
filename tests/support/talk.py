"""A conversation with a stand-in, by segue's client: what was said, what follows, and what can be compared."""

from typing import Any

import msgspec

import segue
from segue.testing import Reply, StandIn
from segue.types import (
    AssistantContent,
    AssistantMessage,
    Context,
    Message,
    Model,
    Options,
    TextContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from support.providers import reach


def answered(context: Context, answer: AssistantMessage) -> Context:
    """The conversation with ``answer``, and with results of its calls or another question."""
    results: list[Message] = [
        ToolResultMessage(call.id, call.name, [TextContent("18 C")]) for call in answer.tool_calls
    ]
    return Context(
        system_prompt=context.system_prompt,
        messages=[*context.messages, answer, *(results or [UserMessage("And tomorrow?")])],
        tools=context.tools,
    )


def bare(content: list[AssistantContent]) -> list[Any]:
    """Blocks without what the provider made."""
    return [
        (block.name, block.arguments)
        if isinstance(block, ToolCall)
        else (type(block), block.text if isinstance(block, TextContent) else block.thinking)
        for block in content
    ]


def told(
    model: Model | str, context: Context, server: StandIn, streams: bool, options: Options | None = None
) -> AssistantMessage:
    """The answer of a stand-in."""
    if streams:
        return segue.stream_sync(model, context, options, connection=reach(server)).finished()
    return segue.complete_sync(model, context, options, connection=reach(server))


def read_back(
    standin: StandIn, reply: Reply, model: Model, context: Context, streams: bool
) -> tuple[list[AssistantContent], AssistantMessage]:
    """The blocks that a voice speaks, and what the decoder makes of it, without a server between them."""
    spoken = standin.spoken(reply, model)
    request = segue.encode(context, model, Options(stream=streams))
    decoder = segue.Decoder(request)
    data = standin.voice.events(spoken) if streams else [msgspec.json.encode(standin.voice.whole(spoken))]
    for piece in data:
        decoder.feed(piece)
    decoder.close()
    assert decoder.message is not None
    return spoken.content, decoder.message
