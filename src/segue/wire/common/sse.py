"""Server-sent events: bytes in, events out.

An event ends with an empty line; lines end with LF, CRLF or CR (https://html.spec.whatwg.org/multipage/
server-sent-events.html, 2026-11). Two departures from that page: an event without its empty line is returned at the end
of the stream, because some servers forget that line and the last event must not be lost; and a bare JSON object is an
event, because Google ends a failed stream with one ("When API returns an error message,
it comes line by line", google-genai 3.1.0, _api_client.py; vercel/ai#5217, 2025-03).
"""

import re

from .frame import MAX_FRAME, BrokenStream, Frame

_NAMED = re.compile(rb"(?m)^event: (.*)\ndata: (.*)\n\n")
_UNNAMED = re.compile(rb"(?m)^()data: (.*)\n\n")
"""Events as nearly all streams have them: a name and one line of data, or one line of data."""


class ServerSentEvents:
    """A parser that accepts pieces of any size and reads each byte once."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._seen = 0  # no event ends before here
        self._after_cr = False
        self._begun = False

    def feed(self, data: bytes) -> list[Frame]:
        """Add bytes and return the events that are now complete."""
        if self._after_cr or b"\r" in data:
            data = self._newlines(data)
        buffer = self._buffer
        buffer += data
        if not self._begun and len(buffer) >= 3:
            self._begun = True
            if buffer.startswith(b"\xef\xbb\xbf"):
                del buffer[:3]
        if buffer.find(b"\n\n", self._seen) < 0:
            self._seen = max(len(buffer) - 1, 0)
            if len(buffer) > MAX_FRAME:
                raise BrokenStream(f"an event of more than {MAX_FRAME:,} bytes")
            return []
        end = buffer.rfind(b"\n\n") + 2
        done = bytes(buffer[:end])
        del buffer[:end]
        self._seen = max(len(buffer) - 1, 0)
        return _frames(done)

    def close(self) -> list[Frame]:
        """Return the last event, if its empty line is missing."""
        rest = _frame(bytes(self._buffer))
        self._buffer.clear()
        return [] if rest is None else [rest]

    def _newlines(self, data: bytes) -> bytes:
        if not data:
            return data
        if self._after_cr and data.startswith(b"\n"):
            data = data[1:]
        self._after_cr = data.endswith(b"\r")
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _frames(done: bytes) -> list[Frame]:
    """The events in ``done``, which ends with an empty line."""
    plain, lines = (_NAMED, 3) if done.startswith(b"event") else (_UNNAMED, 2)
    frames: list[Frame] = plain.findall(done)
    if done.count(b"\n") == lines * len(frames):  # all lines belong to events of this form
        return frames
    return [frame for block in done[:-2].split(b"\n\n") if (frame := _frame(block)) is not None]


def _frame(block: bytes) -> Frame | None:
    if block.lstrip().startswith(b"{"):
        return b"", block
    name = b""
    data: list[bytes] = []
    for line in block.split(b"\n"):
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            data.append(value)
        elif field == b"event":
            name = value
        # `id`, `retry`, comments (no field name) and heartbeats are ignored.
    return (name, b"\n".join(data)) if data or name else None
