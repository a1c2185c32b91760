"""Read the media type and the size of an image from its first bytes. The image itself is not decoded."""

import re
import struct
from base64 import b64decode
from binascii import Error
from collections.abc import Sequence
from typing import Any

HEAD = 64 * 1024
"""How many characters of base64 are read: the size is near the start, or after metadata."""

# The first bytes of each kind. HTML pages are left behind by failed downloads. WebP is not here: RIFF files may hold
# other formats.
_STARTS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
    (b"\0\0\1\0", "image/x-icon"),
    (b"<svg", "image/svg+xml"),
    (b"<!DOCTYPE html", "text/html"),
    (b"<html", "text/html"),
)
_BRANDS = {b"heic": "image/heic", b"heix": "image/heic", b"mif1": "image/heif", b"avif": "image/avif"}
_ALIASES = {"image/jpg": "image/jpeg", "image/pjpeg": "image/jpeg", "image/x-png": "image/png"}
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}").fullmatch


def is_base64(data: str) -> bool:
    """Whether ``data`` is complete base64 of the standard alphabet on one line; padding is optional."""
    if _BASE64(data) is None:
        return False
    return len(data) % 4 == 0 if data.endswith("=") else len(data) % 4 != 1


def media_type(label: str) -> str:
    """A media type as providers spell it."""
    label = label.lower()
    return _ALIASES.get(label, label)


def kind_of(data: str | bytes) -> str | None:
    """The media type that the first bytes show, if any. A ``str`` is base64."""
    head = _head(data, 32)
    if head[:4] == b"RIFF" and b"WEBP".startswith(head[8:12]):
        return "image/webp"
    if head[4:8] == b"ftyp" and head[8:12] in _BRANDS:
        return _BRANDS[head[8:12]]
    if head[:2] == b"BM" and head[6:10] == b"\0\0\0\0":  # two reserved fields
        return "image/bmp"
    return next((kind for start, kind in _STARTS if head.startswith(start)), None)


def sendable(data: str, label: str, known: Sequence[str]) -> str | None:
    """The media type to send with base64 data: as the bytes show, otherwise the label. ``None`` if the data is not
    base64 or the target does not read this type."""
    kind = kind_of(data) or media_type(label)
    return kind if kind in known and is_base64(data) else None


def image_size(data: str | bytes) -> tuple[int, int] | None:
    """Width and height in pixels, or ``None`` if the format is unknown or the data is broken."""
    head = _head(data, HEAD)
    try:
        if head.startswith(b"\x89PNG\r\n\x1a\n"):
            return struct.unpack(">II", head[16:24])
        if head.startswith((b"GIF87a", b"GIF89a")):
            return struct.unpack("<HH", head[6:10])
        if head.startswith(b"\xff\xd8"):
            return _jpeg_size(head)
        if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
            return _webp_size(head)
    except (struct.error, IndexError):
        pass
    return None


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


def _head(data: str | bytes, length: int) -> bytes:
    """The first bytes; of base64, those of the first ``length`` characters."""
    if not isinstance(data, str):
        return data[:length]
    start = data[:length]
    try:
        return b64decode(start[: len(start) // 4 * 4])
    except (Error, ValueError):
        return b""


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    at = 2
    while data[at] == 0xFF:
        marker, length = struct.unpack(">xBH", data[at : at + 4])
        # The frame headers SOF0 to SOF15, without DHT, JPG and DAC, which share their range.
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        at += 2 + length
    return None


def _webp_size(data: bytes) -> tuple[int, int] | None:
    kind = data[12:16]
    if len(data) < (25 if kind == b"VP8L" else 30):
        return None  # cut
    if kind == b"VP8X":
        return int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1
    if kind == b"VP8L":
        bits = int.from_bytes(data[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 ":
        width, height = struct.unpack("<HH", data[26:30])
        return width & 0x3FFF, height & 0x3FFF
    return None
