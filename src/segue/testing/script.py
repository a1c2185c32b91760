"""What a stand-in says: replies, and faults on demand."""

from collections.abc import Callable, Iterable
from typing import Literal

from msgspec import Struct

from ..types import AssistantContent, Context, StopReason, TextContent, Usage

FaultKind = Literal[
    "rate-limit",
    "server-error",
    "unavailable",
    "overloaded",
    "wrong-key",
    "overflow",
    "cut",
    "error-event",
    "silence",
    "broken-json",
]
"""The first six are answers with a status; the others happen after half of the reply has been sent."""


class Reply(Struct, frozen=True):
    """An answer, as canonical blocks. What is empty is made by the stand-in, as the provider would: signatures of
    thinking and calls, the payload of redacted thinking, ids of calls."""

    content: list[AssistantContent]
    # Without a word: `toolUse` if there are calls, else `stop`. `error` is a refusal.
    stop: StopReason | None = None
    usage: Usage = Usage(input=20, output=10, total_tokens=30)
    # Seconds between two events of a stream.
    pause: float = 0.0


class Fault(Struct, frozen=True):
    """A failure instead of an answer, or in the middle of one."""

    kind: FaultKind
    # The answer that is broken off, for faults in mid-stream.
    reply: Reply | None = None
    # Seconds, in the header of that name.
    retry_after: float | None = None


Scripted = Reply | Fault | str
"""One answer; a text stands for a reply that says it."""

Script = Iterable[Scripted | Callable[[Context], Scripted]]
"""Answers in their order. A function is given the conversation that the request holds."""


def said(text: str) -> Reply:
    """A reply of one text."""
    return Reply([TextContent(text)])
