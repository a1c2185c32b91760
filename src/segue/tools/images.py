"""Recognise images that models accept, by their first bytes."""

from base64 import b64decode

_MAGIC = {b"\x89PNG\r\n\x1a\n": "png", b"GIF87a": "gif", b"GIF89a": "gif", b"\xff\xd8\xff": "jpeg"}
MIME_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""Types that models accept. Providers would refuse a conversation with any other."""


def image_kind(data: bytes) -> str | None:
    """``png``, ``jpeg``, ``gif`` or ``webp``; ``None`` for anything else. The first bytes are enough."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "webp"
    return next((kind for magic, kind in _MAGIC.items() if data.startswith(magic)), None)


def is_base64(data: str) -> bool:
    """Whether ``data`` is valid base64 and not empty."""
    try:
        return bool(b64decode(data, validate=True))
    except ValueError:  # binascii.Error is one
        return False
