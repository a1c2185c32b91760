"""Tool results where a target accepts no images or files in them, or has no flag for a failed one.

The blocks of a result are in the shape of a protocol: images are dicts, and only texts have a ``text``.
"""

from collections.abc import Callable, Sequence
from typing import Any

from ...projection import matches
from ...types import FileContent, TextContent, ToolResultContent
from ...types.media import type_of_file
from ...types.texts import FILES_BELOW, IMAGES_BELOW, as_error
from .turns import Held, Note, Turns

Block = Any

_MOVED = {"image": "images do not fit in this result; they follow all results"}
_MOVED["file"] = _MOVED["image"].replace("images", "files")


def hold(turns: Turns[Any], held: Sequence[Held]) -> None:
    """Hold images and files back until the end of the batch of results, and report it."""
    kinds = [kind for kind, _ in held]
    if "image" in kinds:
        turns.note("image-moved", _MOVED["image"])
    if "file" in kinds:
        turns.note("file-moved", _MOVED["file"])
    turns.held += held


def hold_media(
    turns: Turns[Any],
    content: Sequence[ToolResultContent],
    blocks: list[Block],
    text: Callable[[str], Block],
    text_only: bool = False,
) -> list[Block]:
    """The blocks of a result without the images and files that the target does not accept there, which are held back.

    ``blocks`` are ``content`` in the shape of the protocol, one for one; ``text`` makes a block of a text;
    ``text_only``: nothing but text is accepted.
    """
    for source in content:
        if type(source) is not TextContent:
            break
    else:
        return blocks
    held: list[Held] = []
    kept: list[Block] = []
    images = turns.dialect.images_in_results and not text_only
    for source, block in zip(content, blocks, strict=True):
        if hasattr(block, "text"):
            kept.append(block)
        elif type(source) is not FileContent:
            (kept if images else held).append(block if images else ("image", block))
        elif not text_only and matches(type_of_file(source), turns.dialect.files_in_results):
            kept.append(block)
        else:
            held.append(("file", block))
    if held:
        hold(turns, held)
    return kept or [text(all_below(held))]


def all_below(held: Sequence[Held]) -> str:
    """The text of a result whose content was all held back."""
    return FILES_BELOW if "file" in [kind for kind, _ in held] else IMAGES_BELOW


def failed_text(note: Note, text: str) -> str:
    """The text of a failed result, marked as such."""
    marked = as_error(text)
    if marked is not text:
        note("error-as-text", "the target has no flag for a failed result")
    return marked


def mark_failed(note: Note, blocks: list[Block], text: Callable[[str], Block]) -> list[Block]:
    """The blocks of a failed result, with its first text marked as such. ``text`` makes a block of a text."""
    for at, block in enumerate(blocks):
        if hasattr(block, "text"):
            marked = failed_text(note, block.text)
            return blocks if marked is block.text else [*blocks[:at], text(marked), *blocks[at + 1 :]]
    return [text(failed_text(note, IMAGES_BELOW)), *blocks]
