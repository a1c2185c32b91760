"""A conversation of the corpus as users of a library hold it, and the request that the library makes of it."""

import json
from copy import deepcopy
from functools import cache
from itertools import count
from typing import Any, NamedTuple

from msgspec.structs import replace

from segue.catalog import Catalog, get_provider
from segue.testing import Reply, StandIn
from segue.testing.voice import Answer
from segue.testing.voices import voice_of
from segue.types import (
    AssistantContent,
    AssistantMessage,
    Context,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserMessage,
)

from .corpus import Conversation
from .peers.encoders import Target
from .provider import Recorder, short_answer
from .users.library import Conversation as Native, Library


class Sent(NamedTuple):
    """What a library did with a conversation: the path and body of its request, or what it raised."""

    path: str = ""
    body: bytes = b""
    raised: str = ""


def send_all(library: Library, conversation: Conversation, server: Recorder) -> dict[Target, Sent]:
    """Send a conversation to all targets of a library."""
    context = conversation.context
    try:
        messages = history(library, context, server)
    except Exception as error:  # noqa: BLE001, whatever a library raises is a result
        return {target: Sent(raised=described(error)) for target in library.targets}
    return {target: _send(library, target, context, messages, server) for target in library.targets}


def _send(library: Library, target: Target, context: Context, messages: list[Any], server: Recorder) -> Sent:
    server.answer, server.last, raised = short_answer(target), b"", "no request was sent"
    native = Native(context.system_prompt or "", deepcopy(messages), context.tools)
    try:
        library.send(target, server.url, native)
    except Exception as error:  # noqa: BLE001, whatever a library raises is a result
        raised = described(error)
    return Sent(server.path, server.last) if server.last else Sent(raised=raised)


def described(error: Exception) -> str:
    """An error in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


# -- histories --------------------------------------------------------------------------------------------------------


def history(library: Library, context: Context, server: Recorder) -> list[Any]:
    """The messages in the library's own form. Each answer is read by the library from its provider."""
    messages: list[Any] = []
    ids: dict[tuple[str, str], str] = {}
    for message in context.messages:
        if isinstance(message, UserMessage):
            messages.append(library.user(message))
        elif isinstance(message, ToolResultMessage):
            messages.append(library.result(replace(message, tool_call_id=_native_id(message, ids))))
        else:
            try:
                answer = asked(library, message, context, server)
            except Exception:
                if message.stop_reason in ("error", "aborted"):
                    continue  # a failed answer that the library cannot read is not in its history
                raise
            ids |= _renamed(message, library.call_ids(answer))
            messages.append(answer)
    return messages


def asked(library: Library, stored: AssistantMessage, context: Context, server: Recorder) -> Any:
    """An answer of the conversation as the library returns it."""
    origin = Target("", stored.protocol, stored.provider, stored.model)
    server.answer = on_the_wire(stored, library.speaks(origin))
    return library.interrupted(library.ask(origin, server.url, context.tools), stored)


def on_the_wire(stored: AssistantMessage, protocol: str) -> bytes:
    """The answer as its provider sends it. What is torn stays torn, so it is not written by msgspec."""
    spoken = protocol if protocol in get_provider(stored.provider).protocols else None
    model = Catalog.default().resolve(f"{stored.provider}/{stored.model}", spoken)
    calls = any(isinstance(block, ToolCall) for block in stored.content)
    stop = "length" if stored.stop_reason == "length" else "toolUse" if calls else "stop"
    content = [replace(block, thinking_signature="") if _is_unsigned(block) else block for block in stored.content]
    answer = Answer(f"corpus-{next(_COUNT)}", model, content, stop, Usage(input=9, output=9))
    if protocol == "openai-responses":  # every item has an id
        answer = _speaker(stored.provider).complete(Reply(stored.content, stop=stop), model)
    return json.dumps(voice_of(protocol, stored.provider).whole(answer)).encode()


_COUNT = count()


@cache
def _speaker(provider: str) -> StandIn:
    """It gives every item another id."""
    return StandIn(provider, protocol="openai-responses")


def _is_unsigned(block: AssistantContent) -> bool:
    return isinstance(block, ThinkingContent) and block.thinking_signature is None


def _renamed(stored: AssistantMessage, native: list[str]) -> dict[tuple[str, str], str]:
    calls = [block for block in stored.content if isinstance(block, ToolCall)]
    named = list(zip(calls, native, strict=False))
    return {(call.id, ""): each for call, each in named} | {(call.id, call.name): each for call, each in named}


def _native_id(result: ToolResultMessage, ids: dict[tuple[str, str], str]) -> str:
    """The id that the library gave to the call of a result."""
    stored = result.tool_call_id
    return ids.get((stored, result.tool_name)) or ids.get((stored, "")) or stored
