"""The image types that targets read: png, jpeg, webp and gif (documentation of OpenAI, 2026; OAC-16)."""

from ..common.images import sendable

MEDIA_TYPES = ("image/png", "image/jpeg", "image/webp", "image/gif")


def media_type(data: str, label: str) -> str | None:
    """The media type that the bytes show, otherwise the label; ``None`` if the target does not read it."""
    return sendable(data, label, MEDIA_TYPES)
