"""A watch over every test that talks: no log line, no error and no stored message may tell a key."""

import logging
import traceback
from collections.abc import Iterator

import msgspec
import pytest

from segue.client.stream import Stream

KEYS = ("standin-key", "sk-secret-of-the-tests-0123456789", "another-key-of-the-tests")
"""The keys that tests use; a new one belongs here."""


class Lines(logging.Handler):
    """Everything that is logged, by anyone, at any level."""

    def __init__(self) -> None:
        super().__init__(level=0)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage() + (record.exc_text or ""))


@pytest.fixture(autouse=True)
def nothing_tells_a_key(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    told: list[str] = []
    settle = Stream._queue_events

    def watched(self: Stream, *args: object) -> None:
        settle(self, *args)  # type: ignore[arg-type]
        if self.message is not None:
            told.append(msgspec.json.encode(self.message).decode() + repr(self.message))
            told.append(f"{self.error} {self.error!r} {vars(self.error) if self.error else ''}")
        told.append(repr(self) + repr(self.request) + repr(self._reach) + repr(self._connection))

    monkeypatch.setattr(Stream, "_queue_events", watched)
    root, handler = logging.getLogger(), Lines()
    level = root.level
    root.addHandler(handler)
    root.setLevel(1)
    try:
        yield
    except Exception as error:
        told.append("".join(traceback.format_exception(error)))
        raise
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
    for text in [*handler.lines, *told]:
        for key in KEYS:
            assert key not in text, f"the key {key} is told: {text[:500]}"
