"""Files, addresses and provider content: which of them a target accepts, and what it gets in place of the others."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

from ..dialects import Dialect
from ..types import ChangeCode, FileContent, ImageContent, Modality, ProviderContent
from ..types.media import is_address, is_base64, is_text_type, kind_of, type_of_file
from ..types.text import in_label
from ..types.texts import (
    FILE_AS_TEXT,
    FILE_NOT_ATTACHED,
    FILE_OMITTED,
    IMAGE_EMPTY,
    IMAGE_NOT_ATTACHED,
    IMAGE_UNREAD,
    PROVIDER_CONTENT,
)

Shown = tuple[ChangeCode, str, str]
"""The code and the detail of a change, and the text that is sent instead."""


def accepts_place(dialect: Dialect, kinds: Sequence[Modality], block: ImageContent) -> bool:
    """Whether an image has data, or an address that the target fetches. All else is left to other passes."""
    return bool(block.data) or (
        block.url is not None and dialect.image_urls and "image" in kinds and is_address(block.url)
    )


def accepts_file(dialect: Dialect, kinds: Sequence[Modality], block: FileContent) -> bool:
    """Whether the target accepts a file, at least in a user message."""
    if block.kind not in kinds:
        return False
    if block.url is not None:
        return is_address(block.url) and matches(type_of_file(block), dialect.file_urls)
    mime_type = type_of_file(block)
    if not is_base64(block.data) or not matches(mime_type, dialect.files):
        return False
    return not is_text_type(mime_type) or bool((block.text or "").strip())


def accepts_provider_content(dialect: Dialect, block: ProviderContent) -> bool:
    """Whether the target accepts provider content of its own back."""
    return matches(block.kind, dialect.provider_content)


def matches(word: str, globs: Sequence[str]) -> bool:
    """Whether any of ``globs`` matches."""
    return any(fnmatchcase(word, glob) for glob in globs)


def image_as_text(block: ImageContent) -> Shown:
    """What is sent in place of an image: of its address, or of data that the target does not read."""
    if block.url is None and not block.data:
        return "image-downgraded", "it is empty", IMAGE_EMPTY
    if block.url is None:
        kind = in_label(kind_of(block.data) or block.mime_type) or "its kind"
        why = f"{kind} is not supported" if is_base64(block.data) else "it is not base64"
        return "image-downgraded", f"an image shown as text: {why}", IMAGE_UNREAD.format(why)
    return "url-omitted", "an image by address: the target does not fetch it", IMAGE_NOT_ATTACHED.format(block.url)


def file_as_text(block: FileContent) -> Shown:
    """What is sent in place of a file."""
    name = in_label(block.name or "") or in_label(block.mime_type) or "a file"
    if block.url is not None:
        return "url-omitted", f"{name}: the target does not fetch it", FILE_NOT_ATTACHED.format(block.url)
    text = block.text
    if text is not None:
        return "file-as-text", f"{name} shown as text", FILE_AS_TEXT.format(name, text)
    return "file-omitted", f"{name}: the target does not read it", FILE_OMITTED.format(name)


def provider_content_as_text(block: ProviderContent, dropped: bool = False) -> Shown:
    """What is sent in place of provider content: its text. The text is empty if nothing is sent."""
    kind = in_label(block.kind) or "content"
    if dropped or not block.text.strip():
        return "provider-content-dropped", f"{kind}: only its provider can read it", ""
    return "provider-content-as-text", f"{kind} shown as text", PROVIDER_CONTENT.format(kind, block.text)
