"""What readers of several formats share: times, texts, and the first and last rows of a file."""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from ..catalog import get_provider
from ..errors import UnknownProviderError
from ..types import AssistantMessage, ImageContent, Message, TextContent, UserContent, UserMessage
from ..types.codec import json_text
from .source import Object, Source, read_line, read_rows
from .values import Report

ENDPOINT = "transcript:"
"""Begins the endpoint of an answer that was read from a transcript. It equals no endpoint of a provider, so nothing
that only its maker could verify is sent anywhere, while writing it back to the same tool keeps it."""

_TITLE = 100
_LOOK = 8
_DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+)(?:;[^,;]*)*;base64,(.*)", re.DOTALL)


def in_tags(text: str, name: str) -> list[str]:
    """The pieces of a text outside and inside a pair of tags, in turn; those inside without the blanks around them.

    (An expression takes cubic time for a tag that is never closed.)
    """
    pieces, at, opening, closing = list[str](), 0, f"<{name}>", f"</{name}>"
    while (start := text.find(opening, at)) >= 0 and (end := text.find(closing, start)) >= 0:
        pieces += [text[at:start], text[start + len(opening) : end].strip()]
        at = end + len(closing)
    return [*pieces, text[at:]]


def unix_ms(value: Any) -> int | None:
    """A time as Unix milliseconds: ISO text, or a number of seconds or milliseconds."""
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return None
        return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
    if isinstance(value, int | float) and not isinstance(value, bool) and value == value and abs(value) < 1e16:
        return int(value if abs(value) >= 1e11 else value * 1000)
    return None


LAST_MS = 253_402_300_799_999
"""The end of the year 9999. A stored message may have any number as its time."""


def iso_time(ms: int) -> str:
    """Unix milliseconds as ISO text with milliseconds, in UTC; other times become the nearest one since 1970."""
    moment = datetime.fromtimestamp(min(max(ms, 0), LAST_MS) / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def shown_time(ms: float) -> str:
    """Unix milliseconds in local time, for a list; ``?`` if that is not a date."""
    try:
        return datetime.fromtimestamp(ms / 1000).strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):
        return "?"


def text_of(value: Any) -> str:
    """A text, or an empty one."""
    return value if isinstance(value, str) else ""


def number_of(value: Any) -> int:
    """A whole number that is not negative, or 0."""
    return number_in({"": value}, "")


def object_of(value: Any) -> Object:
    """An object, or an empty one."""
    return value if isinstance(value, dict) else {}


def objects(value: Any) -> list[Object]:
    """The objects of a list; empty if it is not one."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def mostly(items: Any, is_own: Callable[[Object], bool]) -> bool:
    """Whether at least half of the first items of a list are objects of a kind."""
    first = items[:_LOOK] if isinstance(items, list) else []
    found = sum(isinstance(each, dict) and is_own(each) for each in first)
    return found > 0 and 2 * found >= len(first)


def text_in(value: Any, *names: str) -> str | None:
    """The first of these fields that is a text that is not empty."""
    if isinstance(value, dict):
        for name in names:
            found = value.get(name)
            if isinstance(found, str) and found:
                return found
    return None


def number_in(value: Any, *names: str) -> int:
    """The first of these fields that is a whole number; 0 if there is none."""
    if isinstance(value, dict):
        for name in names:
            found = value.get(name)
            if isinstance(found, int | float) and not isinstance(found, bool) and found >= 0:
                return int(found)
    return 0


def object_in(value: Any, name: str) -> Object:
    """The object under this name; an empty one if there is none."""
    return object_of(object_of(value).get(name))


def objects_in(value: Any, name: str) -> list[Object]:
    """The objects of the list under this name."""
    return objects(object_of(value).get(name))


def as_arguments(value: Any) -> Object | None:
    """Arguments of a call: an object, or JSON text of one; ``None`` if they are neither."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return {}
    if isinstance(value, str):
        value = read_line(value.encode("utf-8", "replace"))
    return value if isinstance(value, dict) else None


def image_of_url(url: str) -> ImageContent | None:
    """An image of a data URL or an address; ``None`` if it is neither."""
    if match := _DATA_URL.fullmatch(url):
        return ImageContent(match[2], match[1])
    return ImageContent(url=url) if url.startswith(("https://", "http://")) else None


def data_of_url(url: str) -> tuple[str, str] | None:
    """The media type and the base64 data of a data URL."""
    match = _DATA_URL.fullmatch(url)
    return (match[1], match[2]) if match else None


def as_text(value: Any) -> str:
    """A value as text: texts as they are, nothing as an empty text, everything else as JSON."""
    return value if isinstance(value, str) else "" if value is None else json_text(value)


def short_title(text: str | None) -> str | None:
    """A text as the title of a list: its first line that is not blank, cut if it is long."""
    for line in (text or "").splitlines():
        if line := " ".join(line.split()):
            return line if len(line) <= _TITLE else line[: _TITLE - 1] + "…"
    return None


def first_prompt(messages: Iterable[Message]) -> str | None:
    """The first text that a person typed."""
    for message in messages:
        if isinstance(message, UserMessage) and not message.injected:
            for block in message.content:
                if isinstance(block, TextContent) and block.text.strip():
                    return block.text
    return None


def last_model(messages: Iterable[Message]) -> str | None:
    """The model of the last answer that has one."""
    names = [each.model for each in messages if isinstance(each, AssistantMessage) and each.model]
    return names[-1] if names else None


def joined_text(content: Iterable[UserContent]) -> str:
    """The texts of a message, joined."""
    return "\n".join(block.text for block in content if isinstance(block, TextContent))


def json_rows(source: Source, report: Report) -> Iterator[tuple[int, Object]]:
    """All rows of a file that has one JSON object on each line, with their numbers. Lines that cannot be read are
    reported; the last one may be incomplete, because the file is still being written."""
    bad: tuple[int, bytes] | None = None
    for number, line in source.lines():
        if bad is not None:
            report.add("line-unreadable", "this line is not a JSON object", bad[0])
            bad = None
        rows = read_rows(line)
        for row in rows:
            yield number, row
        if not rows:
            bad = number, line
    if bad is not None:
        report_last_line(report, *bad)


def report_last_line(report: Report, number: int, line: bytes) -> None:
    """Report a last line that cannot be read."""
    if line.endswith(b"\n"):
        report.add("line-unreadable", "this line is not a JSON object", number)
    else:
        report.add("line-torn", "the last line is incomplete", number)


def ends_of(source: Source, size: int = 1 << 16) -> tuple[list[Object], list[Object]]:
    """The rows at the beginning and at the end of a file of rows, without reading what is between."""
    first = source.rows
    with source.open() as file:
        if not file.seekable() or (whole := os.fstat(file.fileno()).st_size) <= size:
            return first, [row for line in file if isinstance(row := read_line(line), dict)]
        last: list[Object] = []
        while not last and size < whole:  # the last line may be longer
            file.seek(whole - size)
            lines = file.read().split(b"\n")[1:]
            last = [row for line in lines if line.strip() and isinstance(row := read_line(line), dict)]
            size *= 8
        return first, last


def protocol_of_provider(name: str) -> str:
    """The protocol of a provider; most of those that the catalog does not have speak chat completions."""
    try:
        return get_provider(name).protocols[0]
    except UnknownProviderError:
        return "openai-completions"
