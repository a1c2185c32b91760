"""Rules about images, documents and videos, limits of size among them."""

import re
from collections.abc import Iterator
from typing import Any

from ...rules import Rule
from ...types import Model
from ..common.checks import shown
from ..common.images import data_fault, image_size
from .dialect import claude, dialect_of, where
from .shapes import IMAGE_FORMATS, items, of_kind, part, turns

Found = Iterator[tuple[str, str]]
Body = dict[str, Any]
ENCODER = "wire/bedrock_converse/encode.py"
DOCUMENT_NAME = re.compile(r"[A-Za-z0-9()\[\]-]+(\s[A-Za-z0-9()\[\]-]+)*")
MAX_IMAGES, MAX_DOCUMENTS, MAX_DOCUMENT_BYTES = 20, 5, 4_718_592


def _images_in_results(body: Body, model: Model | None) -> Found:
    for placed, _ in of_kind(body, "image"):
        if ".toolResult." in placed.path:
            yield placed.path, "an image in a result, which this model does not accept"


def _refused_media(body: Body, model: Model | None) -> Found:
    for placed, _ in of_kind(body, "video"):
        yield placed.path, "this model does not accept video"
    for kind in ("image", "document"):
        for placed, media in of_kind(body, kind):
            if "s3Location" in part(media, "source"):
                yield f"{placed.path}.{kind}.source.s3Location", "this model accepts bytes only"


def _documents(body: Body, model: Model | None) -> Found:
    for turn in turns(body):
        if turn.of("document") and "text" not in turn.kinds():
            yield f"{turn.path}.content", "a message with a document must also have a text"
    seen: set[str] = set()
    for placed, document in of_kind(body, "document"):
        path, name = f"{placed.path}.document.name", document.get("name")
        if not isinstance(name, str) or not DOCUMENT_NAME.fullmatch(name) or len(name) > 200:
            yield path, f"{shown(name)!r} is not a valid name of a document"
        elif name in seen:
            yield path, f"two documents are called {name!r}"
        else:
            seen.add(name)


def _limits(body: Body, model: Model | None) -> Found:
    for turn in turns(body):
        for kind, most in (("image", MAX_IMAGES), ("document", MAX_DOCUMENTS)):
            count = len(turn.of(kind))
            if count > most:
                yield f"{turn.path}.content", f"{count} {kind} blocks; at most {most} are allowed"
    most_bytes = dialect_of(model).max_image_bytes
    for kind, limit in (("image", most_bytes), ("document", MAX_DOCUMENT_BYTES)):
        for placed, media in of_kind(body, kind):
            size = _size(media)
            if limit is not None and size > limit:
                yield f"{placed.path}.{kind}", f"{size} bytes; at most {limit} are allowed"


def _size(media: dict[str, Any]) -> int:
    """The size of a source in bytes. It is base64 text on the wire and ``bytes`` in boto3."""
    data = part(media, "source").get("bytes")
    if isinstance(data, str):
        return len(data) * 3 // 4 - data[-2:].count("=")
    return len(data) if isinstance(data, bytes | bytearray) else 0


def _shown_by_assistant(body: Body, model: Model | None) -> Found:
    for kind in ("image", "document"):
        for placed, _ in of_kind(body, kind):
            if placed.role != "user" and ".toolResult." not in placed.path:
                yield placed.path, f"{kind} in a message of the role {placed.role}"


def _formats(body: Body, model: Model | None) -> Found:
    for placed, image in of_kind(body, "image"):
        kind = image.get("format")
        if not isinstance(kind, str) or kind not in IMAGE_FORMATS:
            yield f"{placed.path}.image.format", f"{shown(kind)!r} is not one of {', '.join(sorted(IMAGE_FORMATS))}"


def _sources(body: Body, model: Model | None) -> Found:
    """Check sources. Data is base64 on the wire and ``bytes`` in boto3; an address in S3 begins with s3://."""
    for kind in ("image", "document", "video", "audio"):
        for placed, media in of_kind(body, kind):
            source, path = part(media, "source"), f"{placed.path}.{kind}.source"
            label = _label(kind, media.get("format"))
            if "bytes" in source:
                fault = data_fault(source["bytes"], label)
                if fault:
                    yield f"{path}.bytes", fault
            elif "s3Location" in source:
                if not str(part(source, "s3Location").get("uri")).startswith("s3://"):
                    yield f"{path}.s3Location.uri", "an address in S3 must begin with s3://"
            elif kind != "document" or not _texts(source):
                yield path, f"the source of {kind} must have bytes, an address or, for a document, a text"
            elif any(not text.strip() for text in _texts(source)):
                yield path, "a document must not be blank"


def _texts(source: dict[str, Any]) -> list[str]:
    """The texts of a document that has no bytes."""
    texts = [source.get("text"), *(part(block).get("text") for block in items(source.get("content")))]
    return [text for text in texts if isinstance(text, str)]


def _label(kind: str, name: Any) -> str | None:
    """The media type of a format whose first bytes can be recognised."""
    if kind == "image" and isinstance(name, str) and name in IMAGE_FORMATS:
        return f"image/{name}"
    return "application/pdf" if (kind, name) == ("document", "pdf") else None


def _pixels(body: Body, model: Model | None) -> Found:
    limit = dialect_of(model).max_image_pixels
    for placed, image in of_kind(body, "image"):
        data = part(image, "source").get("bytes")
        size = image_size(data) if isinstance(data, str | bytes) else None
        if limit is not None and size is not None and max(size) > limit:
            yield f"{placed.path}.image", f"{size[0]} x {size[1]} pixels; at most {limit} are allowed"


MEDIA = (
    Rule(
        number="BED-17",
        title="some models accept no images inside a result",
        answers="Malformed input request: extraneous key [toolResult]",
        source="recorded by pydantic-ai, table by family, as known 2026-11; wording not seen",
        prevented_by=ENCODER,
        check=_images_in_results,
        only=where(lambda dialect: not dialect.images_in_results),
    ),
    Rule(
        number="BED-17b",
        title="some models accept no video and no S3 locations",
        answers="This model doesn't support the video content block that you provided.",
        source="recorded by pydantic-ai, as known 2026-11",
        prevented_by=ENCODER,
        check=_refused_media,
        only=claude,
    ),
    Rule(
        number="BED-19",
        title="a message with a document also has a text; a document has a plain, unique name",
        answers="A text block must be included when using documents.",
        source="archestra-ai/archestra#4220; botocore 1.44.0, Message and DocumentBlock, 2026-11",
        prevented_by=ENCODER,
        check=_documents,
    ),
    Rule(
        number="BED-19b",
        title="a message has at most 20 images of 3.75 MB and 5 documents of 4.5 MB",
        answers="The provided request is not valid",
        source="botocore 1.44.0, Message, 2026-11; wording not seen",
        prevented_by="render/preview.py",
        check=_limits,
    ),
    Rule(
        number="BED-19c",
        title="images and documents are in user messages only",
        answers="The provided request is not valid",
        source="botocore 1.44.0, Message, 2026-11; wording not seen",
        prevented_by=ENCODER,
        check=_shown_by_assistant,
    ),
    Rule(
        number="BED-19d",
        title="an image, document, video or audio has bytes of its format, an address or a text",
        answers="Could not process image / Image does not match the provided media type / The provided request is not "
        "valid",
        source="claude-code#15746, 2025-12 (Claude's text, behind Converse); botocore 1.44.0, ImageSource and "
        "DocumentSource (bytes of at least one), 2026-11",
        prevented_by=ENCODER,
        check=_sources,
    ),
    Rule(
        number="BED-19e",
        title="an image has at most 8000 pixels on a side",
        answers="At least one of the image dimensions exceed max allowed size: 8000 pixels",
        source="Converse API reference, Message (8,000 px), 2026; Anthropic's error text",
        prevented_by="render/preview.py",
        check=_pixels,
    ),
    Rule(
        number="ANT-44",
        title="an image is png, jpeg, gif or webp",
        answers="image.format failed to satisfy constraint: Member must satisfy enum value set",
        source="botocore 1.44.0, ImageFormat, 2026-11; wording not seen",
        prevented_by=ENCODER,
        check=_formats,
    ),
)
