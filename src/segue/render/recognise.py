"""Which form a JSON document has: a conversation of segue, a request body, or a bare list of messages.

All readers of conversations use ``recognise``, in Python and on the command line.
"""

from typing import Any

from msgspec import Struct

from ..errors import FormatError
from ..rules.shape import kind_name
from ..wire import PROTOCOLS, protocol_of

Object = dict[str, Any]

_FIELDS = frozenset({"version", "systemPrompt"})
"""Fields of a conversation that no request body has."""
_ORIGIN = frozenset({"protocol", "api", "provider", "stopReason"})
"""Fields of an answer that no message of a protocol has."""


_ANSWERS = frozenset({"choices", "candidates", "stop_reason", "output"})
"""Fields that only the answers of providers have."""

UNKNOWN = (
    "this is not a conversation in a known form: segue's own, or a request body or list of messages of "
    f"{', '.join(PROTOCOLS)}"
)
ANSWER = "this is an answer of a provider, not a conversation or a request body"


class Recognised(Struct, frozen=True):
    """The form of a document."""

    # The protocol; None for segue's own form.
    protocol: str | None
    # Whether the document is a bare list of messages.
    is_list: bool
    # The document as an object: a list is in the field that holds the messages.
    body: Object

    @property
    def name(self) -> str:
        """The form in a few words."""
        if self.protocol is None:
            return "a list of segue's messages" if self.is_list else "a conversation of segue"
        return f"{'a list of messages' if self.is_list else 'a request body'} of {self.protocol}"


def recognise(document: Any) -> Recognised:
    """The form of a JSON document. A ``FormatError`` if it is not a conversation in any known form."""
    if isinstance(document, list):
        return _recognise_list(document)
    if not isinstance(document, dict):
        raise FormatError(f"a request body is a JSON object or a list of messages, not {kind_name(document)}")
    if _is_canonical(document):
        return Recognised(None, False, document)
    best = _best({name: protocol_of(name).recognise(document) for name in PROTOCOLS})
    if best is None and _may_be_canonical(document):
        return Recognised(None, False, document)  # reading it says what is wrong, and where
    if best is None:
        one = "this is one message, not a conversation; put it in a list" if "role" in document else UNKNOWN
        raise FormatError(one if _ANSWERS.isdisjoint(document) else ANSWER)
    return Recognised(best, False, document)


def as_body(document: Any, protocol: str) -> Object:
    """A document of a protocol as a request body: a bare list of messages is put into its field."""
    if isinstance(document, list) and all(isinstance(item, dict) for item in document):
        return {protocol_of(protocol).history: document}
    if not isinstance(document, dict):
        raise FormatError(f"a request body is a JSON object or a list of messages, not {kind_name(document)}")
    return document


def _recognise_list(items: list[Any]) -> Recognised:
    if not all(isinstance(item, dict) for item in items):
        at, item = next((at, item) for at, item in enumerate(items) if not isinstance(item, dict))
        raise FormatError(f"a list of messages contains objects; item {at} is a {type(item).__name__}")
    if any(map(_is_canonical_message, items)):
        return Recognised(None, True, {"messages": items})
    certain = [name for name in PROTOCOLS if (own := protocol_of(name).is_own_list) is not None and own(items)]
    likely = [name for name in PROTOCOLS if protocol_of(name).is_own_list is None]
    best = _best({name: protocol_of(name).recognise(as_body(items, name)) for name in certain or likely})
    if best is None:
        raise FormatError(UNKNOWN)
    return Recognised(best, True, as_body(items, best))


def _best(scores: dict[str, int]) -> str | None:
    best = max(scores, key=lambda name: scores[name])
    return best if scores[best] else None


def _is_canonical(document: Object) -> bool:
    if not isinstance(document.get("messages"), list):
        return False
    return not _FIELDS.isdisjoint(document) or any(map(_is_canonical_message, document["messages"]))


def _may_be_canonical(document: Object) -> bool:
    """Whether a document of no known form is a conversation of segue with a fault."""
    messages = document.get("messages")
    if not isinstance(messages, list):
        return False
    roles = [message.get("role") for message in messages if isinstance(message, dict)]
    return not any(role in ("system", "developer", "tool", "function") for role in roles)


def _is_canonical_message(message: Any) -> bool:
    if not isinstance(message, dict):
        return False
    role, content = message.get("role"), message.get("content")
    if role == "toolResult" or (role == "assistant" and not _ORIGIN.isdisjoint(message)):
        return True
    return isinstance(content, list) and any(map(_is_canonical_block, content))


def _is_canonical_block(block: Any) -> bool:
    return isinstance(block, dict) and (block.get("type") == "toolCall" or "mimeType" in block)
