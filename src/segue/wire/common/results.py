"""Tool results where a target accepts no images in them, or has no flag for a failed one.

The blocks of a result are in the shape of a protocol: images are dicts, texts are structs with a ``text``.
"""

from collections.abc import Callable
from typing import Any

from ...types.texts import IMAGES_BELOW, as_error
from .turns import Note, Turns

Block = Any


def hold(turns: Turns[Any, Any], images: list[Block]) -> None:
    """Hold images back until the end of the batch of results, and report it."""
    turns.note("image-moved", "images do not fit in this result; they follow all results")
    turns.held += images


def hold_images(turns: Turns[Any, Any], blocks: list[Block], text: Callable[[str], Block]) -> list[Block]:
    """The blocks of a result without its images, which are held back. ``text`` makes a block of a text."""
    if dict not in map(type, blocks):
        return blocks
    hold(turns, [block for block in blocks if type(block) is dict])
    return [block for block in blocks if type(block) is not dict] or [text(IMAGES_BELOW)]


def failed_text(note: Note, text: str) -> str:
    """The text of a failed result, marked as such."""
    marked = as_error(text)
    if marked is not text:
        note("error-as-text", "the target has no flag for a failed result")
    return marked


def mark_failed(note: Note, blocks: list[Block], text: Callable[[str], Block]) -> list[Block]:
    """The blocks of a failed result, with its first text marked as such. ``text`` makes a block of a text."""
    for at, block in enumerate(blocks):
        if type(block) is not dict:
            marked = failed_text(note, block.text)
            return blocks if marked is block.text else [*blocks[:at], text(marked), *blocks[at + 1 :]]
    return [text(failed_text(note, IMAGES_BELOW)), *blocks]
