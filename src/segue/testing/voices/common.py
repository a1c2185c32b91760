"""Functions that voices share: paths, deltas, events, ids."""

from collections.abc import Callable, Iterator
from hashlib import blake2b
from typing import Any
from urllib.parse import unquote

import msgspec
from msgspec.structs import replace

from ...errors import RefusedError
from ...render import events_of
from ...types import AssistantContent, AssistantMessage, ToolCall
from ...wire.common.vertex import RAW_PATH, STREAMED
from ...wire.common.writing import Frame, Head, StreamWriter, sse as event_bytes
from ..signatures import Signer
from ..voice import Answer, Route

SIZE = 12
"""Characters of one delta: few, so that deltas cut words, numbers and escapes like real ones."""


def route_to(ending: str) -> Callable[[str], Route | None]:
    """The route of a protocol with one path, which contains neither the model nor whether to stream."""
    return lambda path: Route() if path.endswith(ending) else None


def route_to_both(ending: str) -> Callable[[str], Route | None]:
    """The same for a protocol that Vertex also serves, where the path has both."""
    plain = route_to(ending)

    def route(path: str) -> Route | None:
        found = RAW_PATH.search(path)
        if found is None:
            return plain(path)
        return Route(model=unquote(found["model"]), stream=found["method"] == STREAMED)

    return route


def pieces(text: str) -> Iterator[str]:
    """``text`` as deltas."""
    for at in range(0, len(text), SIZE):
        yield text[at : at + SIZE]


def sse(data: Any, name: str = "") -> bytes:
    """One server-sent event."""
    return event_bytes(name, data)


def message_of(answer: Answer, content: list[AssistantContent], refusal: str = "") -> AssistantMessage:
    """The answer as a message. ``refusal`` is the text of a refusal that is not in the content."""
    return AssistantMessage(
        content=content,
        protocol=answer.model.protocol,
        provider=answer.model.provider,
        model=answer.model.id,
        usage=answer.usage,
        stop_reason="stop" if answer.stop == "aborted" else answer.stop,
        error_message=f"refusal: {refusal}" if answer.stop == "error" else None,
    )


def refusal_in(message: AssistantMessage) -> str | None:
    """The text of a refusal; ``None`` if the answer is not one."""
    return None if message.error_message is None else message.error_message.removeprefix("refusal: ")


def head_of(answer: Answer, response_id: str) -> Head:
    """What the answer says besides its content."""
    return Head(id=response_id, model=answer.model.id, created=answer.created, own=True, request=answer.request)


def frames_of(message: AssistantMessage, writer: StreamWriter) -> Iterator[Frame]:
    """The frames of a message that is streamed in small pieces."""
    error = RefusedError(message.error_message or "") if message.failed else None
    for event in events_of(message, error, SIZE):
        yield from writer.write(event)


def arguments_of(call: ToolCall) -> str:
    """The arguments of a call as JSON text."""
    return msgspec.json.encode(call.arguments).decode()


def with_ids(content: list[AssistantContent], prefix: str, length: int, signer: Signer) -> list[AssistantContent]:
    """The same blocks; calls without an id get one in the provider's form."""
    return [with_id(block, prefix, length, signer) if isinstance(block, ToolCall) else block for block in content]


def with_id(call: ToolCall, prefix: str, length: int, signer: Signer) -> ToolCall:
    """The call, with an id in the provider's form if it has none."""
    if call.id:
        return call
    return replace(call, id=fresh_id(prefix, length, signer))


def fresh_id(prefix: str, length: int, signer: Signer) -> str:
    """A unique id of letters and digits."""
    letters = [letter for letter in signer.issue(prefix)[::-1] if letter.isalnum()]
    return prefix + "".join(letters[:length])


def answer_id(answer: Answer, size: int) -> str:
    """The id of an answer, without the provider's prefix: ``size`` bytes in hex."""
    return blake2b(answer.id.encode(), digest_size=size).hexdigest()
