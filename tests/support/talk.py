"""Conversations with a stand-in, through segue's client or a provider's SDK."""

import operator
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import msgspec
import pytest
from hypothesis import strategies as st

import segue
from segue.testing import Reply, StandIn
from segue.types import (
    AssistantContent,
    AssistantMessage,
    Context,
    ImageContent,
    Message,
    Model,
    Options,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from support.facts import ANY, FACTS
from support.providers import CONTEXT, reach

E = TypeVar("E", bound=Exception)


def continued(context: Context, answer: AssistantMessage, *images: ImageContent) -> Context:
    """The conversation with ``answer``, and with the results of its calls or another question."""
    results: list[Message] = [
        ToolResultMessage(call.id, call.name, [TextContent("18 C"), *images]) for call in answer.tool_calls
    ]
    return Context(
        system_prompt=context.system_prompt,
        messages=[*context.messages, answer, *(results or [UserMessage("And tomorrow?")])],
        tools=context.tools,
    )


def answer_of(
    model: Model | str,
    context: Context,
    server: StandIn,
    streams: bool,
    options: Options | None = None,
    **settings: Any,
) -> AssistantMessage:
    """The answer of a stand-in; ``settings`` are settings of the connection."""
    if streams:
        return segue.stream_sync(context, model, options, connection=reach(server, **settings)).finished()
    return segue.complete_sync(context, model, options, connection=reach(server, **settings), check=False)


def read_back(
    standin: StandIn, reply: Reply, model: Model, context: Context, streams: bool
) -> tuple[list[AssistantContent], AssistantMessage]:
    """The blocks that a voice sends, and the message that the decoder reads, without a server between them."""
    answer = standin.complete(reply, model)
    request = segue.encode(context, model, Options(stream=streams))
    decoder = segue.Decoder(request)
    data = standin.voice.events(answer) if streams else [msgspec.json.encode(standin.voice.whole(answer))]
    for piece in data:
        decoder.feed(piece)
    decoder.close()
    assert decoder.message is not None
    return answer.content, decoder.message


def contents(texts: st.SearchStrategy[str] = ANY) -> st.SearchStrategy[list[AssistantContent]]:
    """Blocks of any answer."""
    blocks: st.SearchStrategy[AssistantContent] = st.one_of(
        st.builds(TextContent, texts),
        st.builds(ThinkingContent, texts, redacted=st.booleans()),
        st.builds(ToolCall, st.just(""), st.just("weather"), st.dictionaries(texts, texts, max_size=2)),
    )
    return st.lists(blocks, min_size=1, max_size=5)


# -- SDKs ------------------------------------------------------------------------------------------------------------


def exchange_through_sdk(
    model: Model,
    server: StandIn,
    whole: Callable[[segue.Request], bytes],
    pieces: Callable[[segue.Request], Iterable[bytes]],
    *,
    context: Context = CONTEXT,
    same: Callable[[dict[str, Any], dict[str, Any]], bool] = operator.eq,
) -> tuple[Context, AssistantMessage, list[str]]:
    """Run two turns with the script of the protocol through an SDK: the first answer whole, the second as a stream. The
    SDK sends what segue encodes, and segue reads what the SDK received.

    Return the conversation before the second answer, that answer, and the types of its events.
    """
    facts = FACTS[model.protocol]
    first, second = (facts.compared(reply.content, model) for reply in facts.script)
    request = segue.encode(context, model, facts.options)
    answer = segue.decode(whole(request), request)
    assert same(server.requests[-1], request.body)
    assert facts.compared(answer.content, model) == first and answer.stop_reason == "toolUse"

    context = continued(context, answer)
    request = segue.encode(context, model, msgspec.structs.replace(facts.options, stream=True))
    decoder = segue.Decoder(request)
    events: list[str] = [event.type for data in pieces(request) for event in decoder.feed(data)]
    events += [event.type for event in decoder.close()]
    assert same(server.requests[-1], request.body) and not server.refused
    assert decoder.message is not None and decoder.message.stop_reason == "stop"
    assert facts.compared(decoder.message.content, model) == second
    assert [kind for kind in events if kind in ("start", "done")] == ["start", "done"]
    return context, decoder.message, events


def failure_of(standin: StandIn, error: type[E], ask: Callable[[StandIn], Iterable[Any]]) -> tuple[list[Any], E]:
    """The pieces of an answer that an SDK returned before it raised ``error``, and that error."""
    seen: list[Any] = []
    with standin as server, pytest.raises(error) as found:
        seen.extend(ask(server))
    return seen, found.value
