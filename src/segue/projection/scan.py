"""Which passes a step concerns, found in one scan of its blocks.

Most messages concern no pass, or only the passes for calls.
"""

from collections.abc import Sequence
from typing import Any, assert_never

from ..dialects import REASONING_FIELDS
from ..types import Block, FileContent, ImageContent, ProviderContent, TextContent, ThinkingContent, ToolCall
from ..types.codec import encode

# One bit for each thing that a pass may be concerned with.
FAILED = 1  # an answer that ended in an error
CALLS = 2
IMAGES = 4
OPAQUE = 8  # thinking and signatures, which only their origin can read
UNSIGNED = 16  # thinking without a signature
ODD = 32  # text that may be blank, values that JSON may not be able to represent, and empty content
TORN = 64  # results that are missing, stored elsewhere than after their calls, or of another tool
FILES = 128  # files, and images by address or without data
PROVIDER = 256  # content that only its provider can read
ADAPTABLE = 512  # calls of free-text tools, or of tools in a namespace

PLAIN = frozenset({int, bool})
"""Types of values that JSON can always represent."""
EMPTY_KEY = b'"":'
"""In JSON: an empty key, or one that ends in a quote. It cannot occur in a string, where quotes are escaped."""


def scan(content: Sequence[Block]) -> int:
    """The bits of these blocks."""
    has = 0 if content else ODD
    for block in content:
        if type(block) is TextContent:
            text = block.text
            if block.text_signature is not None:
                has |= OPAQUE | ODD
            elif not (text.isascii() and text >= "!") and not _is_plain(text):
                has |= ODD
        elif type(block) is ToolCall:
            has |= CALLS
            if block.kind is not None or block.namespace is not None:
                has |= ADAPTABLE if (block.namespace or "").isascii() else ADAPTABLE | ODD
            if block.thought_signature is not None:
                has |= OPAQUE | ODD
            elif not _are_plain(block.arguments):
                has |= ODD
        elif type(block) is ThinkingContent:
            signature = block.thinking_signature
            if signature is None or signature in REASONING_FIELDS:
                has |= OPAQUE | UNSIGNED
            else:
                has |= OPAQUE if signature.isascii() else OPAQUE | ODD
            if not block.thinking.isascii() and _written(block.thinking) is None:
                has |= ODD
        elif type(block) is ImageContent:
            has |= IMAGES if block.data else IMAGES | FILES
            if not block.data.isascii() or not block.mime_type.isascii() or not (block.url or "").isascii():
                has |= ODD
        elif type(block) is FileContent:
            has |= FILES
            named = block.mime_type + (block.url or "") + (block.name or "")
            if not block.data.isascii() or not named.isascii():
                has |= ODD
        elif type(block) is ProviderContent:
            has |= PROVIDER | ODD  # nothing may be left of the answer without it
        else:
            assert_never(block)
    return has


def _is_plain(text: str) -> bool:
    """Whether the text is not blank and contains no lone surrogates."""
    if text.isascii():
        return text >= "!" or (text != "" and not text.isspace())  # "!" sorts after white space
    return not text.isspace() and _written(text) is not None


def _are_plain(arguments: dict[str, Any]) -> bool:
    """Whether JSON can certainly represent these arguments."""
    for name, value in arguments.items():
        if type(value) is str:
            if not value.isascii():
                break
        elif type(value) not in PLAIN:
            break
        if type(name) is not str or not name or not name.isascii():
            break
    else:
        return True
    written = _written(arguments)
    # Null may be NaN or an infinity.
    return written is not None and b"null" not in written and EMPTY_KEY not in written


def has_empty_key(arguments: dict[str, Any]) -> bool:
    """Whether an object inside these arguments may have an empty key. Values that JSON cannot represent have none."""
    written = _written(arguments)
    return written is not None and EMPTY_KEY in written


def _written(value: Any) -> bytes | None:
    """``value`` as JSON, or ``None`` if JSON cannot represent it. Encoding is the fastest test, and it caches the UTF-8
    of a text."""
    try:
        return encode(value)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return None
