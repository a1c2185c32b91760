"""Read parts of messages and results as blocks. A part without a block type becomes a text that names it."""

import re
from collections.abc import Callable
from typing import Any

from ...errors import FormatError
from ...types import FileContent, ImageContent, TextContent, UserContent, plain_text
from ...types.media import UNKNOWN_TYPE, is_address, type_of_address, type_of_name
from ..common.reading import place

Part = dict[str, Any]

_WORDS = {ImageContent: "(image)", FileContent: "(file)"}

_DATA_URL = re.compile(r"data:([^;,]+)(?:;[^;,]*)*;base64,(.*)", re.DOTALL)


def blocks(content: Any, path: str) -> list[UserContent]:
    """The blocks of content that is a string or a list of parts."""
    if isinstance(content, str):
        return [plain_text(content)]
    if not isinstance(content, list):
        raise FormatError("content must be a string or a list of parts", path=path)
    rest = iter(content)
    try:
        return [_block(part) for part in rest]
    except FormatError as error:
        raise error.below(place(path, content, rest)) from None


def texts(content: Any, path: str) -> list[str]:
    """The texts of content that may contain only text."""
    return [block.text if type(block) is TextContent else _WORDS[type(block)] for block in blocks(content, path)]


def _block(part: Any) -> UserContent:
    if isinstance(part, str):
        return plain_text(part)
    kind = part.get("type") if isinstance(part, dict) else None
    if not isinstance(kind, str):
        raise FormatError("a part must be an object with a type")
    read = _PARTS.get(kind)
    return TextContent(f"({kind})") if read is None else read(part)


def _text(name: str) -> Callable[[Part], TextContent]:
    def read(part: Part) -> TextContent:
        text = part.get(name)
        if not isinstance(text, str):
            raise FormatError(f"{name} must be a string", path=name)
        return plain_text(text)

    return read


def _image(part: Part) -> TextContent | ImageContent:
    url = part.get("image_url")
    if isinstance(url, dict):  # as in chat completions
        url = url.get("url")
    if isinstance(url, str):
        found = _DATA_URL.fullmatch(url)
        if found is not None:
            return ImageContent(found[2], found[1])
        if is_address(url):
            return ImageContent(url=url)
        return TextContent("(image in a form that cannot be read)" if url.startswith("data:") else f"(image at {url})")
    file = part.get("file_id")
    if isinstance(file, str):
        return TextContent(f"(image file {file})")
    raise FormatError("an image must have an image_url or a file_id")


def _file(part: Part) -> TextContent | FileContent:
    """Read a file with data or an address. Its data is a data URL; bare base64 is accepted if the name tells its type.
    A file that only the provider has becomes a text."""
    name, data, url = part.get("filename"), part.get("file_data"), part.get("file_url")
    if not isinstance(name, str):
        name = None
    if isinstance(data, str) and data:
        found = _DATA_URL.fullmatch(data)
        if found is not None:
            return FileContent(found[2], found[1], name=name)
        if not data.startswith("data:"):
            return FileContent(data, type_of_name(name or "") or UNKNOWN_TYPE, name=name)
    if isinstance(url, str) and is_address(url):
        # An address does not state a type, and other files are only accepted as PDFs.
        return FileContent(url=url, mime_type=type_of_address(url) or "application/pdf", name=name)
    for known in (name, url, part.get("file_id")):
        if isinstance(known, str):
            return TextContent(f"(file {known})")
    return TextContent("(file)")


_AUDIO = {"wav": "audio/wav", "mp3": "audio/mpeg"}


def _audio(part: Part) -> TextContent | FileContent:
    sound = part.get("input_audio")
    sound = sound if isinstance(sound, dict) else {}
    data, mime_type = sound.get("data"), _AUDIO.get(str(sound.get("format")))
    return FileContent(data, mime_type) if isinstance(data, str) and data and mime_type else TextContent("(audio)")


_PARTS: dict[str, Callable[[Part], UserContent]] = {
    "input_text": _text("text"),
    "output_text": _text("text"),
    "text": _text("text"),
    "summary_text": _text("text"),
    "reasoning_text": _text("text"),
    "refusal": _text("refusal"),
    "input_image": _image,
    "input_file": _file,
    "input_audio": _audio,
}
