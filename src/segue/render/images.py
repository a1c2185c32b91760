"""The width and height of a stored image, for estimates."""

from ..types import ImageContent
from ..wire.common.images import size_of


def image_size(image: ImageContent) -> tuple[int, int] | None:
    """Width and height in pixels, or ``None`` where the format is not known or the data is broken."""
    return size_of(image.data)
