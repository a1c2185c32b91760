"""A ledger of the answers that passed by: it finds the maker of an answer in a request body.

An answer is recognised by its traces: digests of its signatures and encrypted content, of its calls (id, name and
arguments), and of its text. A signature has one maker. Calls and texts recur ("Done." occurs in every conversation), so
one that several origins have used identifies none of them.
"""

import json
from collections.abc import Iterator, MutableMapping
from hashlib import blake2b
from typing import Any

import msgspec

from ..types import AssistantMessage, Origin, ToolCall
from ..wire import PROTOCOLS, protocol_of

MOST = 100_000
"""Traces that a ledger in memory keeps; the oldest are forgotten first."""
_SIGNATURE = "s"
"""The first letter of a trace of a signature."""
_SEVERAL = Origin("", "", "")
"""In place of the origin of a call or a text that several origins have used."""


class Ledger:
    """Remembers who made which answer. Threads may share it: each step is one operation of a dict.

    ``entries`` maps traces to origins: a dict in memory by default, or any mutable mapping, such as one in a database.
    """

    def __init__(self, entries: MutableMapping[str, Origin] | None = None) -> None:
        self._bounded = entries is None
        self._entries: MutableMapping[str, Origin] = {} if entries is None else entries

    def remember(self, message: AssistantMessage) -> None:
        """Add an answer. It must have its origin, as decoding it returns it."""
        origin = Origin.of(message)
        for trace in (*_signed(message), *_visible(message)):
            known = self._entries.get(trace, origin)
            self._entries[trace] = origin if known == origin or _is_signature(trace) else _SEVERAL
        if self._bounded and len(self._entries) > MOST:
            for trace in list(self._entries)[: len(self._entries) - MOST * 9 // 10]:
                self._entries.pop(trace, None)

    def origin_of(self, message: AssistantMessage) -> Origin | None:
        """The origin of an answer in a request body; ``None`` if it is unknown, or if its signatures have several."""
        for traces in (_signed(message), _visible(message)):
            found = {self._entries.get(trace) for trace in traces} - {None, _SEVERAL}
            if found:
                return found.pop() if len(found) == 1 else None
        return None

    def __len__(self) -> int:
        return len(self._entries)


def _signed(message: AssistantMessage) -> Iterator[str]:
    """The traces of signatures and encrypted content."""
    if message.protocol in PROTOCOLS:
        seals = protocol_of(message.protocol).seals
        for block in message.content:
            for seal in seals(block):
                yield _trace(_SIGNATURE, seal)


def _visible(message: AssistantMessage) -> Iterator[str]:
    """The traces of calls, or of the text if there are no calls."""
    calls = [block for block in message.content if type(block) is ToolCall]
    for call in calls:
        yield _trace("c", _written([call.id, call.name, call.arguments]))
    text = message.text.strip()
    if text and not calls:
        yield _trace("t", text)


def _written(call: list[Any]) -> str:
    """A call as JSON text, in the same order of keys whoever wrote it."""
    try:
        return msgspec.json.encode(call, order="deterministic").decode()
    except (TypeError, ValueError, OverflowError, RecursionError):  # half characters, for example
        return json.dumps(call, sort_keys=True, default=str)


def _is_signature(trace: str) -> bool:
    return trace.startswith(_SIGNATURE)


def _trace(kind: str, text: str) -> str:
    return kind + blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
