"""Functions that voices share: paths, deltas, server-sent events, ids, and the errors of OpenAI's two protocols."""

import re
from collections.abc import Callable, Iterator, Mapping
from hashlib import blake2b
from typing import Any

import msgspec

from ...types import AssistantContent, ToolCall
from ..signatures import Signer
from ..voice import Answer, Body, Refusal, Route

SIZE = 12
"""Characters of one delta: few, so that deltas cut words, numbers and escapes like real ones."""


def route_to(ending: str) -> Callable[[str], Route | None]:
    """The route of a protocol with one path, which contains neither the model nor whether to stream."""
    return lambda path: Route() if path.endswith(ending) else None


def pieces(text: str) -> Iterator[str]:
    """``text`` as deltas."""
    for at in range(0, len(text), SIZE):
        yield text[at : at + SIZE]


def sse(data: Any, name: str = "") -> bytes:
    """One server-sent event."""
    head = f"event: {name}\n".encode() if name else b""
    return head + b"data: " + msgspec.json.encode(data) + b"\n\n"


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
    return ToolCall(fresh_id(prefix, length, signer), call.name, call.arguments, call.thought_signature)


def fresh_id(prefix: str, length: int, signer: Signer) -> str:
    """A unique id of letters and digits."""
    letters = [letter for letter in signer.issue(prefix)[::-1] if letter.isalnum()]
    return prefix + "".join(letters[:length])


def answer_id(answer: Answer, size: int) -> str:
    """The id of an answer, without the provider's prefix: ``size`` bytes in hex."""
    return blake2b(answer.id.encode(), digest_size=size).hexdigest()


_path_of = re.compile(r"([a-z_]+(?:\[\d+\])?(?:\.[a-z_]+(?:\[\d+\])?)*): ").match


def openai_error(refusal: Refusal, types: Mapping[str, str]) -> Body:
    """An error in OpenAI's form. ``types`` maps the codes of errors to their types; a kind that is not in it is a type,
    and its code is null."""
    param = _path_of(refusal.text)
    return {
        "error": {
            "message": refusal.text,
            "type": types.get(refusal.kind, refusal.kind),
            "param": param[1] if param is not None else None,
            "code": refusal.kind if refusal.kind in types else None,
        }
    }
