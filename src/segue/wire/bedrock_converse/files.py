"""Documents, sounds and videos in the form of Converse, and the names of documents.

A name has letters, digits, single white space, hyphens, parentheses and square brackets, and no two documents of a
request have the same one (botocore 1.44.0, DocumentBlock; BED-19).
"""

import re
from typing import Any

from ...types import FileContent
from ...types.media import type_of_file

_OPEN_XML = "application/vnd.openxmlformats-officedocument"
FORMATS: dict[str, tuple[str, str]] = {
    # The kind of block and its format, by media type.
    "application/pdf": ("document", "pdf"),
    "application/msword": ("document", "doc"),
    f"{_OPEN_XML}.wordprocessingml.document": ("document", "docx"),
    "application/vnd.ms-excel": ("document", "xls"),
    f"{_OPEN_XML}.spreadsheetml.sheet": ("document", "xlsx"),
    "video/x-matroska": ("video", "mkv"),
    "video/quicktime": ("video", "mov"),
    "video/mp4": ("video", "mp4"),
    "video/webm": ("video", "webm"),
    "video/x-flv": ("video", "flv"),
    "video/mpeg": ("video", "mpeg"),
    "video/x-ms-wmv": ("video", "wmv"),
    "video/3gpp": ("video", "three_gp"),
    "audio/mpeg": ("audio", "mp3"),
    "audio/wav": ("audio", "wav"),
    "audio/ogg": ("audio", "ogg"),
    "audio/flac": ("audio", "flac"),
    "audio/aac": ("audio", "aac"),
}
TYPES = {form: mime_type for mime_type, form in FORMATS.items()} | {
    # Files of text are documents only in bodies of others: segue sends their text.
    ("document", "csv"): "text/csv",
    ("document", "html"): "text/html",
    ("document", "txt"): "text/plain",
    ("document", "md"): "text/markdown",
}
_REFUSED = re.compile(r"[^A-Za-z0-9()\[\]\s-]+")
_LONGEST = 190
"""Characters of a name, with room for a number; 200 are allowed."""


def as_block(file: FileContent, taken: dict[str, None]) -> tuple[dict[str, Any] | None, str]:
    """A file as a block, or ``None`` if there is none for it, and the name that it could not keep, if any. ``taken``
    has the names so far; the new one is added."""
    form = FORMATS.get(type_of_file(file))
    if form is None or file.url is not None:
        return None, ""
    kind, suffix = form
    source = {"bytes": file.data}
    if kind != "document":
        return {kind: {"format": suffix, "source": source}}, ""
    wanted = (file.name or "").removesuffix(f".{suffix}")
    name = _free_name(wanted, taken)
    taken[name] = None
    return {kind: {"format": suffix, "name": name, "source": source}}, wanted if name != wanted else ""


def _free_name(wanted: str, taken: dict[str, None]) -> str:
    """The nearest valid name that is not taken."""
    clean = " ".join(_REFUSED.sub(" ", wanted).split())[:_LONGEST].strip() or "Document"
    name, number = clean, 1
    while name in taken:
        number += 1
        name = f"{clean} {number}"
    return name
