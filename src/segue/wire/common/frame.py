"""What a framing (server-sent events, the AWS event stream) makes of bytes: frames, or a broken stream."""

from typing import Protocol

MAX_FRAME = 64 * 1024 * 1024
"""Bytes of one event, and of a whole answer. Images come in one piece; more than this is an attack or a mistake."""


Frame = tuple[str, bytes]
"""One event as it stands on the wire: its name, where it has one, and its data."""


class BrokenStream(ValueError):
    """Bytes that the framing does not allow. A decoder catches it and keeps what had arrived."""


class Framing(Protocol):
    """Bytes in, frames out; the pieces may be of any size."""

    def feed(self, data: bytes) -> list[Frame]:
        """The frames that are complete now."""

    def close(self) -> list[Frame]:
        """What the stream ended with."""
