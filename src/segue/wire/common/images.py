"""Check the data of images by their first bytes. The images themselves are not decoded."""

from collections.abc import Sequence
from typing import Any

from ...types import image_size as image_size
from ...types.media import is_base64 as is_base64, kind_of as kind_of, media_type as media_type

COMMON_TYPES = ("image/png", "image/jpeg", "image/webp", "image/gif")
"""What OpenAI (platform.openai.com, 'Images and vision') and Mistral (docs.mistral.ai, 'Vision') read, 2026-11."""
HEAD = 64 * 1024
"""How many bytes are read: the kind is at the start."""


def sendable(data: str, label: str, known: Sequence[str]) -> str | None:
    """The media type to send with base64 data: as the bytes show, otherwise the label. ``None`` if the data is not
    base64 or the target does not read this type."""
    kind = kind_of(data) or media_type(label)
    return kind if kind in known and is_base64(data) else None


def data_fault(data: Any, label: str | None) -> str:
    """What is wrong with the data of an image or a document: empty, not base64, or of another type than its label."""
    if not isinstance(data, str | bytes | bytearray) or not data:
        return "there is no data"
    if isinstance(data, str) and not is_base64(data):
        return "the data is not base64"
    found = kind_of(data if isinstance(data, str) else bytes(data[:HEAD]))
    if label is not None and found is not None and found != media_type(label):
        return f"the data is {found}, not {label}"
    return ""
