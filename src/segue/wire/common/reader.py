"""What each protocol's decoder is: it reads events or whole bodies and writes to an ``Answer``. No I/O, no framing."""

from collections.abc import Mapping
from typing import Any, Protocol

from .answer import Answer


class Reader(Protocol):
    """One answer of one protocol. Ignoring an event is written down, too; what is malformed may raise ``MALFORMED``."""

    def __init__(self, answer: Answer) -> None: ...

    def event(self, name: str, data: Any) -> None:
        """One event of a stream: its name, where the framing has one, and its JSON."""

    def whole(self, body: Mapping[str, Any]) -> None:
        """A whole answer, or the body of an error."""

    def end(self, marked: bool) -> None:
        """The stream is over: with ``[DONE]`` (marked), or just so. The answer is finished or failed after this,
        unless the mark means nothing in this protocol."""


MALFORMED = (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, RecursionError)
"""What reading an event of an impossible shape raises; the decoder makes an ``error`` event of it."""


def error_text(error: Any) -> str:
    """What a provider says went wrong, from the many shapes of its error objects: kind and message, on one line."""
    while isinstance(error, dict) and isinstance(error.get("error"), (dict, str)) and error["error"]:
        error = error["error"]
    if not isinstance(error, dict):
        return _words(error) or "an error without a word"
    message = error.get("message") or error.get("Message") or error.get("detail") or error.get("msg") or ""
    text = _words(message)
    metadata = error.get("metadata")
    if isinstance(metadata, dict) and metadata.get("raw"):  # OpenRouter: "Provider returned error", and this (ORT-04)
        text = f"{text}: {_words(metadata['raw'])}"
    kinds = (error.get("type"), error.get("code"), error.get("status"))
    kind = next((_words(kind) for kind in kinds if kind and kind != "error"), "")
    return ": ".join(part for part in (kind, text) if part) or "an error without a word"


def _words(value: Any) -> str:
    """Any JSON as text; what is nested too deep for Python is named, not shown."""
    try:
        return value if isinstance(value, str) else str(value) if value else ""
    except RecursionError:
        return "an error that is nested too deep"
