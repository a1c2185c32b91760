"""Which images the API reads: "Image does not match the provided media type" where the label lies (ANT-44)."""

from ..common.images import sendable

# SDK anthropic 2.8.0, Base64ImageSourceParam.media_type.
MEDIA_TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp")


def media_type(data: str, label: str) -> str | None:
    """The media type to send: what the bytes say, else the label; ``None`` where the API reads neither."""
    return sendable(data, label, MEDIA_TYPES)
