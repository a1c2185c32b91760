"""The output of a tool as the content of a result: text and images within the limits.

A text that is too long is cut in the middle. A note there states how much is left out and which file has the whole.
"""

import base64
from asyncio import CancelledError
from collections.abc import Iterator, Sequence
from typing import Any, assert_never

import msgspec
from msgspec import Struct

from ..types import FileContent, ImageContent, TextContent, ToolResultContent, ToolResultMessage
from ..types.text import scrub, scrub_json
from ..types.texts import EMPTY_RESULT
from .images import image_kind, is_base64
from .limits import ToolLimits
from .output_files import describe_saved

_SLICE = 1 << 20
_BINARY = bytes | bytearray | memoryview


class ToolOutput(Struct, frozen=True):
    """The end of a tool: the content that it returned, or an error."""

    content: list[ToolResultContent]
    is_error: bool = False
    stopped: bool = False
    """Whether the tool ended because it was cancelled."""


STOPPED = ToolOutput([], is_error=True, stopped=True)


class OutputBuilder(Struct, frozen=True):
    """Builds outputs within ``limits``. ``note`` is a text that the model gets before the output."""

    limits: ToolLimits
    note: str = ""

    def from_value(self, value: Any) -> ToolOutput:
        """The output of a tool that returned ``value``."""
        is_error = isinstance(value, ToolResultMessage) and value.is_error
        blocks = [_as_block(item, self.limits) for item in _split(value)]
        return ToolOutput(self._limit(blocks), is_error)

    def from_error(self, error: BaseException) -> ToolOutput:
        """The output of a tool that raised ``error``."""
        stopped = isinstance(error, CancelledError)
        text = "The tool was cancelled; not by the user." if stopped else f"{type(error).__name__}: {_as_str(error)}"
        return ToolOutput(self._limit([TextContent(text.removesuffix(": "))]), is_error=True, stopped=stopped)

    def from_text(self, text: str) -> ToolOutput:
        """The output of a call that failed without a result of its own; ``text`` explains why."""
        return ToolOutput(self._limit([TextContent(text)]), is_error=True)

    def _limit(self, blocks: list[ToolResultContent]) -> list[ToolResultContent]:
        """The note and the blocks, within the limits."""
        blocks = _limit_images(blocks, self.limits)
        note = [TextContent(_cut_note(self.note, self.limits.output // 4))] if self.note else []
        room = max(0, self.limits.output - sum(len(each.text) for each in note))
        blocks = _limit_text(blocks, room, self.limits)
        if not any(not isinstance(each, TextContent) or each.text for each in blocks):
            blocks = [TextContent(EMPTY_RESULT)]
        return [*note, *blocks]


# -- from a value to blocks --------------------------------------------------------------------------------------------


def _split(value: Any) -> list[Any]:
    """The parts of a value: the blocks of a result or of a list of blocks, otherwise the value itself."""
    if isinstance(value, ToolResultMessage):
        return list(value.content)
    if isinstance(value, list | tuple) and _is_content(value):
        return list(value)
    return [] if value is None else [value]


def _is_content(values: Sequence[Any]) -> bool:
    """Whether they are blocks, possibly mixed with strings. Strings alone are an ordinary value."""
    has_blocks = any(isinstance(each, ToolResultContent | _BINARY) for each in values)
    return has_blocks and all(isinstance(each, ToolResultContent | _BINARY | str) for each in values)


def _as_block(item: Any, limits: ToolLimits) -> ToolResultContent:
    if isinstance(item, ToolResultContent):
        return _check_block(item)
    if isinstance(item, _BINARY):
        return _from_bytes(bytes(item), limits)
    return TextContent(item if isinstance(item, str) else _as_text(item))


def _check_block(block: ToolResultContent) -> ToolResultContent:
    match block:
        case TextContent():
            return block
        case ImageContent():
            valid = block.url is not None or is_base64(block.data)
            return block if valid else TextContent("(an image whose data is not base64)")
        case FileContent():
            valid = block.url is not None or is_base64(block.data)
            return block if valid else TextContent("(a file whose data is not base64)")
        case _:
            assert_never(block)


def _as_text(value: Any) -> str:
    """A value as JSON, or as ``str`` gives it where JSON cannot hold it."""

    def encode_other(item: Any) -> Any:
        if hasattr(item, "model_dump"):  # a model of pydantic
            return item.model_dump(mode="json")
        if item is value:
            raise NotImplementedError
        return scrub(_as_str(item))

    try:
        try:
            return msgspec.json.encode(value, enc_hook=encode_other).decode()
        except UnicodeEncodeError:  # a lone surrogate in a string
            plain = msgspec.to_builtins(value, str_keys=True, enc_hook=encode_other)
            return msgspec.json.encode(scrub_json({"": plain})[""]).decode()
    except Exception:  # noqa: BLE001, foreign values may raise anything
        return _as_str(value)


def _as_str(value: Any) -> str:
    try:
        return str(value)
    except Exception:  # noqa: BLE001, foreign values may raise anything
        return f"(a value of type {type(value).__name__} that cannot be written)"


def _from_bytes(data: bytes, limits: ToolLimits) -> ToolResultContent:
    kind = image_kind(data)
    if kind is not None:
        return ImageContent(base64.b64encode(data).decode(), f"image/{kind}")
    return TextContent(f"(binary, {len(data)} bytes, {describe_saved([data], '.bin', limits)})")


# -- limits ------------------------------------------------------------------------------------------------------------


def _cut_note(note: str, limit: int) -> str:
    return scrub(note if len(note) <= limit else f"{note[:limit]} …")


def _limit_images(blocks: list[ToolResultContent], limits: ToolLimits) -> list[ToolResultContent]:
    """Replace the images that are too large by a text that names their files."""
    limited: list[ToolResultContent] = []
    room = limits.images
    for block in blocks:
        match block:
            case TextContent():
                limited.append(block)
            case ImageContent() if len(block.data) <= room:
                room -= len(block.data)
                limited.append(block)
            case ImageContent():
                data = base64.b64decode(block.data)
                saved = describe_saved([data], f".{image_kind(data) or 'bin'}", limits)
                limited.append(TextContent(f"(an image, {len(data)} bytes: too large to show, {saved})"))
            case FileContent() if len(block.data) <= room:
                room -= len(block.data)
                limited.append(block)
            case FileContent():
                data = base64.b64decode(block.data)
                saved = describe_saved([data], ".bin", limits)
                what = block.name or block.mime_type
                limited.append(TextContent(f"(file {what}, {len(data)} bytes: too large to show, {saved})"))
            case _:
                assert_never(block)
    return limited


def _limit_text(blocks: list[ToolResultContent], limit: int, limits: ToolLimits) -> list[ToolResultContent]:
    """Cut the texts in the middle, as if they were one. Images stay in their places."""
    texts = [block.text for block in blocks if isinstance(block, TextContent)]
    total = sum(map(len, texts))
    if total <= limit:
        return [_scrub_block(block) for block in blocks]
    saved = describe_saved(_encode(texts), ".txt", limits)
    room = max(0, limit - len(_left_out_note(total, total, saved)))
    head, tail = room - room // 2, total - room // 2
    note = _left_out_note(tail - head, total, saved)
    limited: list[ToolResultContent] = []
    start = 0
    for block in blocks:
        match block:
            case ImageContent() | FileContent():
                limited.append(block)
            case TextContent():
                end = start + len(block.text)
                here = note if start <= head < end else ""  # the note is in the block where the head ends
                text = block.text[: max(0, head - start)] + here + block.text[max(0, tail - start) :]
                limited += [TextContent(scrub(text))] if text else []
                start = end
            case _:
                assert_never(block)
    return limited


def _left_out_note(left_out: int, total: int, saved: str) -> str:
    return f"\n\n[… {left_out:,} of {total:,} characters are left out here; the whole is {saved} …]\n\n"


def _scrub_block(block: ToolResultContent) -> ToolResultContent:
    match block:
        case ImageContent() | FileContent():
            return block
        case TextContent():
            text = scrub(block.text)
            return block if text is block.text else TextContent(text, block.text_signature)
        case _:
            assert_never(block)


def _encode(texts: list[str]) -> Iterator[bytes]:
    """Encode the texts slice by slice, so that a very long output is not copied as a whole."""
    for index, text in enumerate(texts):
        if index:
            yield b"\n"
        for start in range(0, len(text), _SLICE):
            yield text[start : start + _SLICE].encode(errors="replace")
