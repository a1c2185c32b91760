"""The width and height of an image, read from its first bytes. Nothing is decoded beyond them."""

import struct
from base64 import b64decode
from binascii import Error

from ..types import ImageContent

HEAD = 64 * 1024
"""How much base64 is looked at: the size stands near the start, after metadata at most."""


def image_size(image: ImageContent) -> tuple[int, int] | None:
    """Width and height in pixels, or ``None`` where the format is not known or the data is broken."""
    try:
        data = b64decode(image.data[:HEAD])
    except (Error, ValueError):
        return None
    try:
        if data.startswith(b"\x89PNG\r\n\x1a\n"):
            return struct.unpack(">II", data[16:24])
        if data.startswith((b"GIF87a", b"GIF89a")):
            return struct.unpack("<HH", data[6:10])
        if data.startswith(b"\xff\xd8"):
            return _jpeg_size(data)
        if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
            return _webp_size(data)
    except (struct.error, IndexError):
        pass
    return None


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
    if kind == b"VP8X":
        return int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1
    if kind == b"VP8L":
        bits = int.from_bytes(data[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 ":
        width, height = struct.unpack("<HH", data[26:30])
        return width & 0x3FFF, height & 0x3FFF
    return None
