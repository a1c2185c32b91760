"""A fixture that checks that no log line, error or stored message contains a key."""

import logging
import traceback
from collections.abc import Iterator

import msgspec
import pytest

from segue.client.stream import Stream

KEYS = ("standin-key", "sk-secret-of-the-tests-0123456789", "another-key-of-the-tests")
"""The keys that tests use; a new one belongs here."""


class Lines(logging.Handler):
    """All log lines of all loggers and levels."""

    def __init__(self) -> None:
        super().__init__(level=0)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage() + (record.exc_text or ""))


@pytest.fixture(autouse=True)
def no_key_is_shown(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    seen: list[str] = []
    queue_events = Stream._queue_events

    def watched(self: Stream, *args: object) -> None:
        queue_events(self, *args)  # type: ignore[arg-type]
        if self.message is not None:
            seen.append(msgspec.json.encode(self.message).decode() + repr(self.message))
            seen.append(f"{self.error} {self.error!r} {vars(self.error) if self.error else ''}")
        seen.append(repr(self) + repr(self.request) + repr(self._reach) + repr(self._connection))

    monkeypatch.setattr(Stream, "_queue_events", watched)
    root, handler = logging.getLogger(), Lines()
    level = root.level
    root.addHandler(handler)
    root.setLevel(1)
    try:
        yield
    except Exception as error:
        seen.append("".join(traceback.format_exception(error)))
        raise
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
    for text in [*handler.lines, *seen]:
        for key in KEYS:
            assert key not in text, f"the key {key} is leaked: {text[:500]}"
