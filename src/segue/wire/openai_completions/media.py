"""Which images are read: png, jpeg, webp and gif (documentation of OpenAI, 2026; OAC-16)."""

from ..common.images import sendable

MEDIA_TYPES = ("image/png", "image/jpeg", "image/webp", "image/gif")


def media_type(data: str, label: str) -> str | None:
    """What the bytes say that it is, else the label; ``None`` where neither is a kind that is read."""
    return sendable(data, label, MEDIA_TYPES)
