"""The AWS event stream: binary frames in, events out.

A frame consists of its length, the length of its headers, a checksum of both, the headers, the payload, and a checksum
of everything before. Numbers are big-endian, checksums CRC-32
(https://smithy.io/2.0/aws/amazon-eventstream.html, 2026-11).
"""

from struct import Struct, error
from zlib import crc32

from msgspec.json import encode

from ..common.frame import MAX_FRAME, BrokenStream, Frame

MAX_HEADERS = 128 * 1024
"""Limit for the headers of one frame in bytes, as in botocore 1.44.0."""

_PRELUDE = Struct("!III")
_CHECKSUM = Struct("!I")
_LENGTH = Struct("!H")
_AROUND = _PRELUDE.size + _CHECKSUM.size  # bytes of a frame besides headers and payload
_KEPT = 32

# Sizes of header values by type: true, false, byte, short, integer, long, timestamp, uuid. Byte arrays and strings
# include their own size.
_SIZES = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
_BYTES, _STRING = 6, 7


class EventStream:
    """A parser that accepts pieces of any size.

    The name of a frame is its ``:event-type``. Failures are named ``exception:`` plus the ``:exception-type``, or
    ``error:`` plus the ``:error-code``, because unknown events may be ignored, but failures may not.
    """

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._needed = _PRELUDE.size  # bytes in the buffer before the next frame can be read
        self._broken: BrokenStream | None = None
        self._kinds: dict[bytes, tuple[bytes, bytes]] = {}  # by headers; most frames of a stream share a few

    def feed(self, data: bytes) -> list[Frame]:
        """Add bytes and return the frames that are now complete. A damaged frame raises after those before it."""
        if self._broken is not None:
            raise self._broken
        if self._buffer:
            self._buffer += data
            if len(self._buffer) < self._needed:
                return []
            data = bytes(self._buffer)
            self._buffer.clear()
        else:
            data = bytes(data)  # no copy if it is bytes already
        frames: list[Frame] = []
        try:
            done = self._read(data, frames)
        except BrokenStream as damage:
            self._broken = damage
            if not frames:
                raise
            return frames
        self._buffer += data[done:] if done else data
        return frames

    def close(self) -> list[Frame]:
        """Return nothing, or raise if the stream ends inside a frame."""
        if self._broken is not None:
            raise self._broken
        if self._buffer:
            raise BrokenStream("the stream ends inside a frame")
        return []

    def _read(self, data: bytes, frames: list[Frame]) -> int:
        """Add the frames in ``data`` to ``frames``, and return how many bytes they had."""
        at, size = 0, len(data)
        while size - at >= 12:
            total, length, checksum = _PRELUDE.unpack_from(data, at)
            if crc32(data[at : at + 8]) != checksum:
                raise BrokenStream(f"the checksum of a frame's lengths is wrong: {data[at : at + 12]!r}")
            if total > MAX_FRAME or length > MAX_HEADERS or total < length + _AROUND:
                raise BrokenStream(f"a frame of {total:,} bytes with headers of {length:,} bytes")
            end = at + total
            if end > size:
                self._needed = total
                return at
            if crc32(data[at : end - 4]) != _CHECKSUM.unpack_from(data, end - 4)[0]:
                raise BrokenStream("the checksum of a frame is wrong")
            headers = data[at + 12 : at + 12 + length]
            kind = self._kinds.get(headers)
            if kind is None:
                kind = self._remember(headers)
            frames.append((kind[0], data[at + 12 + length : end - 4] or kind[1]))
            at = end
        self._needed = _PRELUDE.size
        return at

    def _remember(self, headers: bytes) -> tuple[bytes, bytes]:
        name, data = _kind(strings(headers))
        kind = name.encode(), data
        if len(self._kinds) < _KEPT:
            self._kinds[headers] = kind
        return kind


def strings(block: bytes) -> dict[str, str]:
    """The headers that are strings. Bedrock sends no others, but others are allowed."""
    found: dict[str, str] = {}
    at = 0
    try:
        while at < len(block):
            name_end = at + 1 + block[at]
            name, kind = block[at + 1 : name_end].decode(), block[name_end]
            at = name_end + 1
            if kind in (_BYTES, _STRING):
                start = at + 2
                at = start + _LENGTH.unpack_from(block, at)[0]
                if kind == _STRING:
                    if name in found:
                        raise BrokenStream(f"the header {name} is repeated")
                    found[name] = block[start:at].decode()
            else:
                at += _SIZES[kind]
    except (IndexError, KeyError, UnicodeDecodeError, error):
        raise BrokenStream("the headers of a frame cannot be read") from None
    if at != len(block):
        raise BrokenStream("a header is longer than all headers")
    return found


def _kind(headers: dict[str, str]) -> tuple[str, bytes]:
    """The name of a frame, and its data if it has no payload."""
    kind = headers.get(":message-type")
    if kind == "exception":
        return f"exception:{headers.get(':exception-type', '')}", b"{}"
    if kind == "error":  # not in the service model; everything is in the headers
        return f"error:{headers.get(':error-code', '')}", encode({"message": headers.get(":error-message", "")})
    return headers.get(":event-type", ""), b"{}"
