"""What voices share: text in pieces, server-sent events, ids."""

from collections.abc import Iterator
from typing import Any

import msgspec

from ...types import AssistantContent, ToolCall
from ..signatures import Signer

SIZE = 12
"""Characters of one delta: small, so that deltas cut words, numbers and escapes as real ones do."""


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
    """The same blocks; calls without an id have one in the provider's form."""
    return [
        ToolCall(fresh_id(prefix, length, signer), block.name, block.arguments, block.thought_signature)
        if isinstance(block, ToolCall) and not block.id
        else block
        for block in content
    ]


def fresh_id(prefix: str, length: int, signer: Signer) -> str:
    """An id of letters and digits, never the same twice."""
    letters = [letter for letter in signer.issue(prefix)[::-1] if letter.isalnum()]
    return prefix + "".join(letters[:length])
