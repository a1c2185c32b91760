"""What a message has that a pass may have to do with, found in one look at its blocks.

Nearly all messages of nearly all histories have nothing, or nothing but calls, and then nearly no pass is asked.
"""

from collections.abc import Sequence
from typing import Any

from ..types import ImageContent, TextContent, ThinkingContent, ToolCall

# One bit each; a pass names those that concern it.
FAILED = 1  # an answer that ended in an error
CALLS = 2
IMAGES = 4
OPAQUE = 8  # thinking and signatures, which only their origin understands
UNSIGNED = 16  # thinking that is not signed
ODD = 32  # texts and arguments that may be blank or hold what JSON cannot; and no content at all
# Of the calls of a step, told by whoever makes it.
TORN = 64  # results do not simply follow their calls, or are of another tool
NAMED = 128  # names that the target does not take as they are, as far as is known


FAILED_STOPS = frozenset({"error", "aborted"})


def look(content: Sequence[Any], calls: list[ToolCall] | None = None) -> int:
    """The bits of these blocks; calls are added to ``calls``, if there is such a list."""
    has = 0 if content else ODD
    for block in content:
        kind = type(block)
        if kind is TextContent:
            text = block.text
            if block.text_signature is not None:
                has |= OPAQUE | ODD
            elif not text.isascii() or (text < "!" and (not text or text.isspace())):  # "!" comes after white space
                has |= ODD
        elif kind is ToolCall:
            has |= CALLS
            if calls is not None:
                calls.append(block)
            if block.thought_signature is not None:
                has |= OPAQUE | ODD
            elif not _is_plain(block.arguments):
                has |= ODD
        elif kind is ThinkingContent:
            signature = block.thinking_signature
            has |= OPAQUE if signature is not None else OPAQUE | UNSIGNED
            if not block.thinking.isascii() or (signature is not None and not signature.isascii()):
                has |= ODD
        elif kind is ImageContent:
            has |= IMAGES
            if not block.data.isascii() or not block.mime_type.isascii():
                has |= ODD
    return has


def _is_plain(arguments: dict[str, Any]) -> bool:
    """Whether JSON can certainly hold them."""
    for value in arguments.values():
        kind = type(value)
        if kind is str:
            if not value.isascii():
                return False
        elif kind is not int and kind is not bool:
            return False
    try:
        return "".join(arguments).isascii()
    except TypeError:  # a key that is no text
        return False
