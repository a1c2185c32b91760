"""A ledger of the answers that passed by: it finds the maker of an answer in a request body.

An answer is recognised by its traces: digests of its signatures and encrypted content, of its calls (id, name and
arguments), and of its text. A signature has one maker. Calls and texts recur ("Done." occurs in every conversation), so
one that several origins have used identifies none of them.
"""

import json
from collections.abc import MutableMapping
from hashlib import blake2b
from itertools import islice

import msgspec

from ..types import AssistantMessage, Origin, ToolCall
from ..wire import PROTOCOLS, protocol_of, signature_of

MOST = 100_000
"""Traces that a ledger in memory keeps; the oldest are forgotten first."""
_SIGNATURE = "s"
"""The first letter of a trace of a signature."""
_SEVERAL = Origin("", "", "")
"""In place of the origin of a call or a text that several origins have used."""
_encode = msgspec.json.Encoder(order="deterministic").encode


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
            for trace in list(islice(self._entries, len(self._entries) - MOST * 9 // 10)):
                self._entries.pop(trace, None)

    def origin_of(self, message: AssistantMessage) -> Origin | None:
        """The origin of an answer in a request body; ``None`` if it is unknown, or if its signatures have several."""
        for traces in (_signed, _visible):
            found: Origin | None = None
            for trace in traces(message):
                known = self._entries.get(trace)
                if known is None or known == _SEVERAL:
                    continue
                if found is not None and known != found:
                    return None
                found = known
            if found is not None:
                return found
        return None

    def __len__(self) -> int:
        return len(self._entries)


def _signed(message: AssistantMessage) -> list[str]:
    """The traces of signatures and encrypted content."""
    signed = [block for block in message.content if signature_of(block) is not None]
    if not signed or message.protocol not in PROTOCOLS:
        return []
    seals = protocol_of(message.protocol).seals
    return [_trace(_SIGNATURE, _bytes(seal)) for block in signed for seal in seals(block)]


def _visible(message: AssistantMessage) -> list[str]:
    """The traces of calls, or of the text if there are no calls."""
    calls = [_trace("c", _written(block)) for block in message.content if type(block) is ToolCall]
    if calls:
        return calls
    text = message.text.strip()
    return [_trace("t", _bytes(text))] if text else []


def _written(call: ToolCall) -> bytes:
    """A call as JSON text, in the same order of keys whoever wrote it."""
    parts = [call.id, call.name, call.arguments]
    try:
        return _encode(parts)
    except (TypeError, ValueError, OverflowError, RecursionError):  # half characters, for example
        return _bytes(json.dumps(parts, sort_keys=True, default=str))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _is_signature(trace: str) -> bool:
    return trace.startswith(_SIGNATURE)


def _trace(kind: str, data: bytes) -> str:
    return kind + blake2b(data, digest_size=16).hexdigest()
