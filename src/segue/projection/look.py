"""What a message has that a pass may have to do with, found in one look at its blocks.

Nearly all messages of nearly all histories have nothing, or nothing but calls, and then nearly no pass is asked.
"""

from collections.abc import Sequence
from typing import Any

from ..types import ImageContent, TextContent, ThinkingContent, ToolCall
from ..types.value import encode

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
LATE = 256  # thinking that stands behind a call


EMPTY_KEY = b'"":'
"""In JSON: an empty key, or one that ends in a quote. No text has it, because quotes in texts are escaped."""
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
            elif not (text.isascii() and text >= "!") and not is_plain(text):
                has |= ODD
        elif kind is ToolCall:
            has |= CALLS
            if calls is not None:
                calls.append(block)
            if block.thought_signature is not None:
                has |= OPAQUE | ODD
            elif not _are_plain(block.arguments):
                has |= ODD
        elif kind is ThinkingContent:
            if has & CALLS:
                has |= LATE
            signature = block.thinking_signature
            if signature is None:
                has |= OPAQUE | UNSIGNED
            else:
                has |= OPAQUE if signature.isascii() else OPAQUE | ODD
            if not block.thinking.isascii() and _written(block.thinking) is None:
                has |= ODD
        elif kind is ImageContent:
            has |= IMAGES
            if not block.data.isascii() or not block.mime_type.isascii():
                has |= ODD
    return has


def is_plain(text: str) -> bool:
    """Whether it says something, and has no half characters. Loops over messages ask the first question themselves: it
    is answered by nearly every text, and a call costs more than the answer."""
    if text.isascii():
        return text >= "!" or (text != "" and not text.isspace())  # "!" comes after white space
    return not text.isspace() and _written(text) is not None


def _are_plain(arguments: dict[str, Any]) -> bool:
    """Whether JSON can certainly hold them."""
    for name, value in arguments.items():
        kind = type(value)
        if kind is str:
            if not value.isascii():
                break
        elif kind is not int and kind is not bool:
            break
        if type(name) is not str or not name or not name.isascii():
            break
    else:
        return True
    written = _written(arguments)
    # Null may have been a number that JSON does not have.
    return written is not None and b"null" not in written and EMPTY_KEY not in written


def has_empty_key(arguments: dict[str, Any]) -> bool:
    """Whether an object inside these arguments may have a key without a character; asked of what JSON can hold."""
    written = _written(arguments)
    return written is not None and EMPTY_KEY in written


def _written(value: Any) -> bytes | None:
    """``value`` as JSON, if that can hold it. To ask the encoder is the quickest way to know, and what it found out
    about a text that is not ASCII is not lost: texts keep their UTF-8 once somebody has asked for it."""
    try:
        return encode(value)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return None
