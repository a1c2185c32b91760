"""What images and files have in common: their bytes or their address, and their media type."""

import re
from base64 import b64decode, b64encode
from binascii import Error
from functools import cache
from mimetypes import MimeTypes
from pathlib import Path, PurePosixPath
from typing import Any, Literal
from urllib.parse import unquote, urlsplit

from msgspec.structs import force_setattr

from .value import Value

FileKind = Literal["document", "audio", "video"]

UNKNOWN_TYPE = "application/octet-stream"
"""The media type of a file that nothing else is known about."""

_ENDINGS = {
    ".md": "text/markdown",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
    ".toml": "application/toml",
    ".jsonl": "application/x-ndjson",
    ".webp": "image/webp",
    ".m4a": "audio/mp4",
    ".flac": "audio/flac",
    ".ogg": "audio/ogg",
    ".opus": "audio/ogg",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
}
"""Endings that the table of Python lacks, in some versions."""

_TEXT_TYPES = re.compile(
    r"text/.+|application/(?:(?:.+\+)?(?:json|xml|yaml)|x-ndjson|x-yaml|toml|javascript|x-javascript|sql|x-sh)"
).fullmatch
_WEB_ADDRESS = re.compile(r"https?://[!-~]+").fullmatch
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s\x00-\x1f]+").fullmatch

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
    """A media type as providers spell it: in lower case, without parameters."""
    label = label.partition(";")[0].strip().lower()
    return _ALIASES.get(label, label)


def kind_of(data: str | bytes) -> str | None:
    """The media type that the first bytes show, if any. A ``str`` is base64."""
    head = first_bytes(data, 32)
    if head[:4] == b"RIFF" and b"WEBP".startswith(head[8:12]):
        return "image/webp"
    if head[4:8] == b"ftyp" and head[8:12] in _BRANDS:
        return _BRANDS[head[8:12]]
    if head[:2] == b"BM" and head[6:10] == b"\0\0\0\0":  # two reserved fields
        return "image/bmp"
    return next((kind for start, kind in _STARTS if head.startswith(start)), None)


def first_bytes(data: str | bytes, length: int) -> bytes:
    """The first bytes; of base64, those of the first ``length`` characters."""
    if not isinstance(data, str):
        return data[:length]
    start = data[:length]
    try:
        return b64decode(start[: len(start) // 4 * 4])
    except (Error, ValueError):
        return b""


def type_of_name(name: str) -> str | None:
    """The media type for the ending of a file's name, or ``None``."""
    return _types().guess_type(PurePosixPath(name).name)[0]


@cache
def _types() -> MimeTypes:
    """The table that comes with Python. That of the machine would make results depend on the machine."""
    types = MimeTypes()
    for ending, mime_type in _ENDINGS.items():
        types.add_type(mime_type, ending)
    return types


def type_of_address(url: str) -> str | None:
    """The media type for the ending of an address, or ``None``."""
    try:
        return type_of_name(unquote(urlsplit(url).path))
    except ValueError:
        return None


def is_address(url: str) -> bool:
    """Whether ``url`` is an address on the web, as far as its form shows it."""
    return _WEB_ADDRESS(url) is not None


def is_text_type(mime_type: str) -> bool:
    """Whether files of this type are text."""
    return _TEXT_TYPES(media_type(mime_type)) is not None


def kind_of_file(mime_type: str) -> FileKind:
    """The kind of a file: whatever is not sound or video is a document."""
    main = media_type(mime_type).partition("/")[0]
    return "audio" if main == "audio" else "video" if main == "video" else "document"


class Media(Value, frozen=True, omit_defaults=True):
    """Base64 ``data`` or, instead, a ``url`` that some providers fetch themselves."""

    data: str = ""
    mime_type: str = ""
    url: str | None = None

    def __post_init__(self) -> None:
        self._empty_to_none("url")
        if self.url and self.data:
            raise ValueError("it has either data or a url, not both")
        if not self.url and not self.mime_type:
            raise ValueError("it needs data and mimeType, or a url")

    def _validate(self) -> None:
        if isinstance(self.data, bytes | bytearray | memoryview):
            force_setattr(self, "data", b64encode(self.data).decode())
        elif not isinstance(self.data, str):
            raise TypeError(f"data must be bytes, or base64 in a str, not {type(self.data).__name__}")

    @property
    def size(self) -> int:
        """How many bytes the data has."""
        return len(self.data) * 3 // 4 - self.data[-2:].count("=")

    def content(self) -> bytes:
        """The data as bytes. A ``ValueError`` shows that it is not base64."""
        try:
            return b64decode(self.data, validate=True)
        except Error as error:
            raise ValueError(f"the data is not base64: {error}") from None


def checked_address(url: str) -> str:
    """Return ``url``, if it is the address of something."""
    if not isinstance(url, str):
        raise TypeError(f"a url is a str, not {type(url).__name__}")
    if _ADDRESS(url) is None:
        shown = url if len(url) <= 60 else url[:59] + "…"
        raise ValueError(f"{shown!r} is not an address such as https://example.com/report.pdf")
    return url


def read_bytes(path: Any) -> tuple[str, bytes]:
    """The name and the content of a file."""
    file = Path(path)
    return file.name, file.read_bytes()


def type_of_file(file: Media) -> str:
    """The media type that the first bytes of a file show, otherwise its label. Files of text are what they are labelled
    as: HTML may begin any of them."""
    label = media_type(file.mime_type)
    found = kind_of(file.data)
    return label if found is None or (is_text_type(found) and is_text_type(label)) else found
