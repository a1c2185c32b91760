"""Read a conversation in whatever form the caller has it. All public functions that need one call ``as_context``."""

from collections.abc import Iterable, Mapping
from typing import Any

from ..types import Context, Message, UserMessage
from .bodies import ingest

ConversationLike = Context | str | Iterable[Message | Mapping[str, Any] | Any] | Mapping[str, Any] | bytes
"""A conversation as callers have it: a ``Context``; a text, which is one message of the user; a list of messages, of
segue or as dicts in the form of a protocol; or a request body of a protocol, as a dict or as JSON in bytes."""


def as_context(conversation: ConversationLike) -> Context:
    """The conversation as a ``Context``. Of a request body only the conversation is read, not its options."""
    if isinstance(conversation, Context):
        return conversation
    if isinstance(conversation, str):
        return Context([UserMessage(conversation)])
    if isinstance(conversation, Mapping | bytes):
        return ingest(conversation, now=0)  # without a clock, the same input gives the same conversation
    if isinstance(conversation, Iterable) and not isinstance(conversation, Message):
        return ingest(list(conversation), now=0)
    hint = "; put one message in a list" if isinstance(conversation, Message) else ""
    raise TypeError(
        "a conversation is a segue.Context, a text, a list of messages, or a request body as a dict; "
        f"not a {type(conversation).__name__}{hint}"
    )
