"""What a tool returned, as the content of a result: text and images, within the limits.

What is too long is cut in the middle, with a note that says how much is missing and which file has the whole.
"""

import base64
import binascii
from collections.abc import Iterator, Sequence
from typing import Any, assert_never

import msgspec
from msgspec import Struct

from ..types import ImageContent, TextContent, ToolResultContent, ToolResultMessage
from ..types.text import scrub, scrub_json
from ..types.texts import EMPTY_RESULT
from .images import image_kind
from .limits import ToolLimits
from .output_files import keep

_SLICE = 1 << 20
_BINARY = bytes | bytearray | memoryview


class ToolOutput(Struct, frozen=True):
    """How a tool ended: what it gave, or what went wrong."""

    content: list[ToolResultContent]
    is_error: bool = False
    stopped: bool = False
    """Whether it ended by being cancelled."""


def ended(value: Any, limits: ToolLimits, note: str = "") -> ToolOutput:
    """The end of a tool that returned ``value``; ``note`` is said before it."""
    is_error = isinstance(value, ToolResultMessage) and value.is_error
    blocks = [_block(item, limits) for item in _items(value)]
    return ToolOutput(_limited(blocks, limits, note), is_error)


def raised(error: BaseException, limits: ToolLimits, note: str = "") -> ToolOutput:
    """The end of a tool that raised ``error``."""
    from asyncio import CancelledError

    stopped = isinstance(error, CancelledError)
    text = "The tool was cancelled; not by the user." if stopped else f"{type(error).__name__}: {_text_of(error)}"
    return ToolOutput(_limited([TextContent(text.removesuffix(": "))], limits, note), True, stopped)


def told(text: str, limits: ToolLimits, note: str = "") -> ToolOutput:
    """The end of a call of which only this can be told."""
    return ToolOutput(_limited([TextContent(text)], limits, note), True)


# -- blocks ------------------------------------------------------------------------------------------------------------


def _items(value: Any) -> list[Any]:
    """The parts of a value: of a result or a list of blocks each one, else the value itself."""
    if isinstance(value, ToolResultMessage):
        return list(value.content)
    if isinstance(value, list | tuple) and _is_content(value):
        return list(value)
    return [] if value is None else [value]


def _is_content(values: Sequence[Any]) -> bool:
    """Whether they are blocks, with texts among them; texts alone are a value like any other."""
    found = any(isinstance(each, ToolResultContent | _BINARY) for each in values)
    return found and all(isinstance(each, ToolResultContent | _BINARY | str) for each in values)


def _block(item: Any, limits: ToolLimits) -> ToolResultContent:
    if isinstance(item, ToolResultContent):
        return _checked(item)
    if isinstance(item, _BINARY):
        return _binary(bytes(item), limits)
    return TextContent(item if isinstance(item, str) else _written(item))


def _checked(block: ToolResultContent) -> ToolResultContent:
    if isinstance(block, TextContent):
        return block
    if isinstance(block, ImageContent):
        return block if _is_base64(block.data) else TextContent("(an image whose data is no base64)")
    assert_never(block)


def _written(value: Any) -> str:
    """A value as JSON, or as its own text where JSON has no words for it."""

    def inside(item: Any) -> Any:
        if hasattr(item, "model_dump"):  # as pydantic's models have it
            return item.model_dump(mode="json")
        if item is value:
            raise NotImplementedError
        return scrub(_text_of(item))

    try:
        try:
            return msgspec.json.encode(value, enc_hook=inside).decode()
        except UnicodeEncodeError:  # half an emoji somewhere
            plain = msgspec.to_builtins(value, str_keys=True, enc_hook=inside)
            return msgspec.json.encode(scrub_json({"": plain})[""]).decode()
    except Exception:  # noqa: BLE001, the values of others may refuse in any way
        return _text_of(value)


def _text_of(value: Any) -> str:
    try:
        return str(value)
    except Exception:  # noqa: BLE001, as above
        return f"(a value of type {type(value).__name__} that cannot be written)"


def _binary(data: bytes, limits: ToolLimits) -> ToolResultContent:
    kind = image_kind(data)
    if kind is not None:
        return ImageContent(base64.b64encode(data).decode(), f"image/{kind}")
    return TextContent(f"(binary, {len(data)} bytes, {_kept(iter([data]), '.bin', limits)})")


def _is_base64(data: str) -> bool:
    try:
        return bool(base64.b64decode(data, validate=True))
    except (binascii.Error, ValueError):
        return False


def _kept(parts: Iterator[bytes], suffix: str, limits: ToolLimits) -> str:
    try:
        return f"kept in {keep(parts, suffix, limits)}"
    except OSError as error:
        return f"not kept: {error.strerror or error}"


# -- limits ------------------------------------------------------------------------------------------------------------


def _limited(blocks: list[ToolResultContent], limits: ToolLimits, note: str = "") -> list[ToolResultContent]:
    """The blocks within the limits, after the note."""
    blocks = _limited_images(blocks, limits)
    noted = [TextContent(_cut_note(note, limits))] if note else []
    room = max(0, limits.output - sum(len(each.text) for each in noted))
    blocks = _limited_text(blocks, room, limits)
    if not any(not isinstance(each, TextContent) or each.text for each in blocks):
        blocks = [TextContent(EMPTY_RESULT)]
    return [*noted, *blocks]


def _cut_note(note: str, limits: ToolLimits) -> str:
    most = limits.output // 4
    return scrub(note if len(note) <= most else f"{note[:most]} …")


def _limited_images(blocks: list[ToolResultContent], limits: ToolLimits) -> list[ToolResultContent]:
    made: list[ToolResultContent] = []
    room = limits.images
    for block in blocks:
        if isinstance(block, TextContent):
            made.append(block)
        elif not isinstance(block, ImageContent):
            assert_never(block)
        elif len(block.data) > room:
            data = base64.b64decode(block.data)
            kept = _kept(iter([data]), f".{image_kind(data) or 'bin'}", limits)
            made.append(TextContent(f"(an image, {len(data)} bytes: too large to show, {kept})"))
        else:
            room -= len(block.data)
            made.append(block)
    return made


def _limited_text(blocks: list[ToolResultContent], most: int, limits: ToolLimits) -> list[ToolResultContent]:
    """The texts as one: its beginning and its end stay, what is between them goes; images stay where they are."""
    texts = [block.text for block in blocks if isinstance(block, TextContent)]
    total = sum(map(len, texts))
    if total <= most:
        return [_scrubbed(block) for block in blocks]
    kept = _kept(_slices(texts), ".txt", limits)
    room = max(0, most - len(_missing(total, total, kept)))
    first, last = room - room // 2, total - room // 2
    missing = _missing(last - first, total, kept)
    made: list[ToolResultContent] = []
    at = 0
    for block in blocks:
        if isinstance(block, ImageContent):
            made.append(block)
            continue
        if not isinstance(block, TextContent):
            assert_never(block)
        end = at + len(block.text)
        here = at <= first < end  # the one in which the beginning stops has the note
        text = block.text[: max(0, first - at)] + (missing if here else "") + block.text[max(0, last - at) :]
        made += [TextContent(scrub(text))] if text else []
        at = end
    return made


def _missing(left_out: int, total: int, kept: str) -> str:
    return f"\n\n[… {left_out:,} of {total:,} characters are left out here; the whole is {kept} …]\n\n"


def _scrubbed(block: ToolResultContent) -> ToolResultContent:
    if isinstance(block, ImageContent):
        return block
    if isinstance(block, TextContent):
        text = scrub(block.text)
        return block if text is block.text else TextContent(text, block.text_signature)
    assert_never(block)


def _slices(texts: list[str]) -> Iterator[bytes]:
    """The texts as bytes, a piece at a time: a flood is not copied as a whole."""
    for number, text in enumerate(texts):
        if number:
            yield b"\n"
        for at in range(0, len(text), _SLICE):
            yield text[at : at + _SLICE].encode(errors="replace")
