"""Write AWS event stream frames, as Bedrock sends them. ``wire/bedrock_converse/frames.py`` reads them."""

import struct
from zlib import crc32


def frame(name: str, payload: bytes, kind: str = "event") -> bytes:
    """One frame of an event or an ``exception``; the payload of an ``error`` goes into its header."""
    if kind == "error":
        return framed(_string(":error-code", name) + _string(":error-message", payload.decode()) + _kind(kind), b"")
    return framed(_string(f":{kind}-type", name) + _string(":content-type", "application/json") + _kind(kind), payload)


def framed(headers: bytes, payload: bytes) -> bytes:
    """A frame: the prelude with its checksum, headers, payload, and the checksum of everything."""
    prelude = struct.pack("!II", 16 + len(headers) + len(payload), len(headers))
    body = prelude + struct.pack("!I", crc32(prelude)) + headers + payload
    return body + struct.pack("!I", crc32(body))


def header(name: str, kind: int, value: bytes) -> bytes:
    """One header; ``value`` is already encoded."""
    return struct.pack("!B", len(name.encode())) + name.encode() + struct.pack("!B", kind) + value


def _string(name: str, value: str) -> bytes:
    return header(name, 7, struct.pack("!H", len(value.encode())) + value.encode())


def _kind(kind: str) -> bytes:
    return _string(":message-type", kind)
