"""Interface of a protocol's decoder: it reads events or whole bodies and writes to an ``Answer``."""

from collections.abc import Mapping
from typing import Any, Protocol

from .answer import Answer


class Reader(Protocol):
    """Reads one answer. Ignored events are listed in the code; malformed input may raise one of ``MALFORMED``."""

    def __init__(self, answer: Answer) -> None: ...

    def event(self, name: bytes, data: Any) -> None:
        """Read one event of a stream: its name, which may be empty, and its JSON."""

    def whole(self, body: Mapping[str, Any]) -> None:
        """Read a whole answer, or the body of an error."""

    def end(self, marked: bool) -> None:
        """End the stream; ``marked``: with ``[DONE]``. After this the answer is finished or failed, unless the mark has
        no meaning in this protocol."""


MALFORMED = (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, RecursionError)
"""Exceptions from reading an event of an unexpected shape. The decoder turns them into an ``error`` event."""


def error_text(error: Any) -> str:
    """Kind and message of a provider's error object, on one line. These objects have many shapes."""
    while isinstance(error, dict) and isinstance(error.get("error"), (dict, str)) and error["error"]:
        error = error["error"]
    if not isinstance(error, dict):
        return _plain(error) or "an error without a message"
    message = error.get("message") or error.get("Message") or error.get("detail") or error.get("msg") or ""
    text = _plain(message)
    metadata = error.get("metadata")
    if isinstance(metadata, dict) and metadata.get("raw"):  # OpenRouter: "Provider returned error", and this (ORT-04)
        text = f"{text}: {_plain(metadata['raw'])}"
    kinds = (error.get("type"), error.get("code"), error.get("status"))
    kind = next((_plain(kind) for kind in kinds if kind and kind != "error"), "")
    return ": ".join(part for part in (kind, text) if part) or "an error without a message"


def _plain(value: Any) -> str:
    """Any JSON as text. JSON that is nested too deeply for Python is not shown."""
    try:
        return value if isinstance(value, str) else str(value) if value else ""
    except RecursionError:
        return "an error that is nested too deeply"
