"""Entries of every kind, for tests of stores."""

from typing import Any

from hypothesis import strategies as st

from segue.session import (
    AnyEntry,
    AttemptFailed,
    CallStarted,
    Compacted,
    MessageAdded,
    ModelChosen,
    SystemPromptSet,
    TurnBegun,
    TurnEnded,
    TurnRenewed,
)
from segue.types import TextContent, UserMessage

from . import values


def message_entry(key: str, text: str = "hello", time: int = 1_700_000_000_000) -> MessageAdded:
    return MessageAdded(key=key, time=time, message=UserMessage(text))


def text_of(entry: AnyEntry) -> str:
    assert isinstance(entry, MessageAdded) and isinstance(entry.message, UserMessage)
    (block,) = entry.message.content
    assert isinstance(block, TextContent)
    return block.text


times = st.integers(0, 2**53)
keys = st.text(min_size=1, max_size=300)


_NAME = {"model": values.texts, "protocol": values.texts}
FIELDS: dict[type[AnyEntry], dict[str, st.SearchStrategy[Any]]] = {
    MessageAdded: {"message": values.messages, "attempts": st.lists(values.texts, max_size=2).map(tuple)},
    SystemPromptSet: {"system_prompt": values.optional_texts},
    TurnBegun: {**_NAME, "owner": values.texts},
    TurnRenewed: {},
    TurnEnded: {"how": values.texts, "reason": values.optional_texts},
    ModelChosen: _NAME,
    CallStarted: {"call": values.texts},
    AttemptFailed: {
        **_NAME,
        "kind": values.texts,
        "text": values.texts,
        "then": values.texts,
        "status": st.none() | st.integers(100, 599),
        "request_id": values.optional_texts,
    },
    Compacted: {
        "summary": values.user_messages,
        "first": values.texts,
        "model": values.texts,
        "details": values.json_objects,
    },
}
"""The fields of each kind of entry, besides those of all."""


def entries(key: st.SearchStrategy[str] = keys) -> st.SearchStrategy[AnyEntry]:
    """Any entry, including empty and missing values."""
    return st.one_of(*(st.builds(kind, key=key, time=times, **fields) for kind, fields in FIELDS.items()))
