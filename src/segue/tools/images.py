"""Images that models can look at, by how their bytes begin."""

_MAGIC = {b"\x89PNG\r\n\x1a\n": "png", b"GIF87a": "gif", b"GIF89a": "gif", b"\xff\xd8\xff": "jpeg"}
MIME_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""Another kind would make a conversation that providers refuse."""


def image_kind(data: bytes) -> str | None:
    """``png``, ``jpeg``, ``gif`` or ``webp``; ``None`` for anything else. The first bytes are enough."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "webp"
    return next((kind for magic, kind in _MAGIC.items() if data.startswith(magic)), None)
