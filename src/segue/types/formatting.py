"""Texts, values, counts and amounts in the short form that commands and pages show."""

import msgspec

from .content import FileContent, ImageContent, TextContent
from .messages import AssistantMessage, UserMessage
from .printable import one_line
from .usage import Usage, dollars

SHORTENED_LINES = 12
"""Lines of a long text that are shown."""
SHORTENED_CHARACTERS = 1_200
"""Characters of a long line that are shown."""
MAX_TITLE = 60
"""Characters of the first message that become the title of a session."""
VALUE_CHARACTERS = 60
"""Characters of a value that are shown."""


UNKNOWN_MODEL = "an unknown model"


def origin_of(answer: AssistantMessage) -> str:
    """The model that gave an answer, as far as it is known."""
    return "/".join(filter(None, (answer.provider, answer.model))) or UNKNOWN_MODEL


def media_of(block: ImageContent | FileContent) -> str:
    """An image or a file in one line: its name, its media type, and its size or address."""
    name = block.name if isinstance(block, FileContent) else None
    place = size_of(block.size) if block.url is None else block.url
    return one_line(", ".join(part for part in (name, block.mime_type, place) if part))


def text_of(message: UserMessage) -> str:
    """The text of a user's message, without its images."""
    return "".join(block.text for block in message.content if isinstance(block, TextContent))


def title_of(text: str) -> str:
    """The beginning of a text as the title of a session."""
    words = " ".join(text.split())
    return words if len(words) <= MAX_TITLE else f"{words[: MAX_TITLE - 1]}…"


def shorten(text: str, lines: int = SHORTENED_LINES) -> str:
    """Leave out the middle of a long text, and of each long line."""
    found = text.split("\n")
    if len(found) > lines:
        head, tail = found[: (lines + 1) // 2], found[len(found) - lines // 2 :]
        found = [*head, f"… {len(found) - lines} more lines …", *tail]
    return "\n".join(map(_shorten_line, found))


def _shorten_line(line: str) -> str:
    kept = SHORTENED_CHARACTERS // 2
    if len(line) <= SHORTENED_CHARACTERS:
        return line
    return f"{line[:kept]} … {len(line) - 2 * kept:,} more characters … {line[-kept:]}"


def brief(value: object) -> str:
    """A value as JSON, cut if it is long."""
    try:
        text = msgspec.json.encode(value).decode()
    except (TypeError, ValueError, RecursionError):
        text = repr(value)
    return text if len(text) <= VALUE_CHARACTERS else text[: VALUE_CHARACTERS - 1] + "…"


def tokens_of(usage: Usage) -> str:
    """The tokens of a request and its answer, such as ``1,240 in, 96 out``."""
    named = (
        (usage.input, "in"),
        (usage.output, "out"),
        (usage.cache_read, "cached"),
        (usage.cache_write, "to cache"),
    )
    return ", ".join(f"{count:,} {name}" for count, name in named if count)


def cost_of(usage: Usage) -> str:
    """What a request and its answer cost; empty if that is not known."""
    return dollars(usage.cost.total) if usage.cost is not None else ""


def size_of(count: int) -> str:
    """A number of bytes."""
    if count < 1024:
        return f"{count} bytes"
    return f"{count / 1024:.0f} KB" if count < 1 << 20 else f"{count / (1 << 20):.1f} MB"
