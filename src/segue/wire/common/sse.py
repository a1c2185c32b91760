"""Server-sent events: bytes in, events out.

An event ends with an empty line; lines end with LF, CRLF or CR (https://html.spec.whatwg.org/multipage/
server-sent-events.html, 2026-11). Two departures from that page: an event without its empty line is returned at the end
of the stream, because some servers forget that line and the last event must not be lost; and a bare JSON object is an
event, because Google ends a failed stream with one ("When API returns an error message,
it comes line by line", google-genai 3.1.0, _api_client.py; vercel/ai#5217, 2025-03).
"""

import re

from .frame import MAX_FRAME, BrokenStream, Frame

_EVENT = re.compile(rb"(?:event: ([^\n]*)\n)?(data: [^\n]*)\n\n|((?s:.*?))\n\n")
"""An event. Nearly all are one line of data, or a name and one line of data."""


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
        frames = [
            (name.decode("utf-8", "replace"), data[6:]) if data else _frame(other)
            for name, data, other in _EVENT.findall(done)
        ]
        return [frame for frame in frames if frame is not None]

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


def _frame(block: bytes) -> Frame | None:
    if block.lstrip().startswith(b"{"):
        return "", block
    name = ""
    data: list[bytes] = []
    for line in block.split(b"\n"):
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            data.append(value)
        elif field == b"event":
            name = value.decode("utf-8", "replace")
        # `id`, `retry`, comments (no field name) and heartbeats are ignored.
    return (name, b"\n".join(data)) if data or name else None
