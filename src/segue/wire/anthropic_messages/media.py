"""The images that the API reads. A wrong label is refused: "Image does not match the provided media type" (ANT-44)."""

from ..common.images import sendable

# SDK anthropic 2.8.0, Base64ImageSourceParam.media_type.
MEDIA_TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp")


def media_type(data: str, label: str) -> str | None:
    """The media type to send: as the bytes show, otherwise the label; ``None`` if the API does not read it."""
    return sendable(data, label, MEDIA_TYPES)
