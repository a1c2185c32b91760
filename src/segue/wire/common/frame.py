"""Interface of a framing (server-sent events, the AWS event stream): bytes in, frames out."""

from typing import Protocol

MAX_FRAME = 64 * 1024 * 1024
"""Limit for one event, and for a whole answer, in bytes. Larger ones are an attack or a mistake."""


Frame = tuple[bytes, bytes]
"""One event: its name, which may be empty, and its data."""


class BrokenStream(ValueError):
    """Raised for bytes that the framing does not allow. A decoder catches it and keeps the blocks so far."""


class Framing(Protocol):
    """Bytes in, frames out. Input may arrive in pieces of any size."""

    def feed(self, data: bytes) -> list[Frame]:
        """Add bytes and return the frames that are now complete."""

    def close(self) -> list[Frame]:
        """Return the frames that are left at the end of the stream."""
