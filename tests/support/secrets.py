"""A fixture that searches the logs, errors and stored messages of a test for keys."""

import logging
import traceback
from collections.abc import Iterator

import msgspec
import pytest

from segue.client.stream import Stream

KEYS = ("standin-key", "sk-secret-of-the-tests-0123456789", "another-key-of-the-tests")
"""All keys that tests use; add new ones here."""


class Lines(logging.Handler):
    """All log records, of every logger and level."""

    def __init__(self) -> None:
        super().__init__(level=0)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage() + (record.exc_text or ""))


@pytest.fixture(autouse=True)
def no_key_is_shown(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    shown: list[str] = []
    queue_events = Stream._queue_events

    def watched(self: Stream, *args: object) -> None:
        queue_events(self, *args)  # type: ignore[arg-type]
        if self.message is not None:
            shown.append(msgspec.json.encode(self.message).decode() + repr(self.message))
            shown.append(f"{self.error} {self.error!r} {vars(self.error) if self.error else ''}")
        shown.append(repr(self) + repr(self.request) + repr(self._reach) + repr(self._connection))

    monkeypatch.setattr(Stream, "_queue_events", watched)
    root, handler = logging.getLogger(), Lines()
    level = root.level
    root.addHandler(handler)
    root.setLevel(1)
    try:
        yield
    except Exception as error:
        shown.append("".join(traceback.format_exception(error)))
        raise
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
    for text in [*handler.lines, *shown]:
        for key in KEYS:
            assert key not in text, f"the key {key} is shown: {text[:500]}"
