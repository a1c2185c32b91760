"""Files: one conversation as JSON, or JSONL in which each line is a message or each line is a conversation.

A bad line is reported with its number and the others go on: what was read and what was wrong come out of one
iterator, in the order of the file. Lines are read one at a time, whatever the size of the file.
"""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, BinaryIO, Literal, NamedTuple, cast

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from ..errors import FormatError
from .codec import BYTE_ORDER_MARK, UNREADABLE, read, write
from .context import Context
from .messages import Message
from .text import scrub_escapes


class Line(NamedTuple):
    """A line of a JSONL file: what it holds, or what is wrong with it."""

    number: int
    value: Message | Context | FormatError


class _Probe(Struct):
    role: Raw | UnsetType = UNSET
    messages: Raw | UnsetType = UNSET


def _kind_of(text: bytes) -> Any:
    """``Message`` or ``Context``, or ``None`` when ``text`` is neither."""
    text = text.removeprefix(BYTE_ORDER_MARK)
    for given in (text, scrub_escapes(text)):
        try:
            probe = msgspec.json.decode(given, type=_Probe)
        except UNREADABLE:
            continue
        return Context if probe.messages is not UNSET else Message if probe.role is not UNSET else None
    return None


_NAMES: dict[Any, str] = {Context: "a conversation", Message: "a message"}


def read_jsonl(lines: Iterable[bytes], source: str = "") -> Iterator[Line]:
    """Every line that is not blank; ``source`` names the file in errors."""
    kind: Any = None
    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        found = _kind_of(text) or kind or Context
        try:
            if kind is not None and found is not kind:
                raise FormatError(f"{_NAMES[found]} in a file in which each line is {_NAMES[kind]}")
            value = cast("Message | Context", read(text, found))
        except FormatError as error:
            yield Line(number, error.at(source, number))
        else:
            kind = found
            yield Line(number, value)


def write_jsonl(values: Iterable[Message | Context], file: BinaryIO) -> None:
    """One line for each value."""
    kinds: set[bool] = set()
    for value in values:
        kinds.add(isinstance(value, Context))
        if len(kinds) > 1:
            raise TypeError("a JSONL file holds messages or conversations, not both")
        file.write(write(value) + b"\n")


def read_conversations(file: Iterable[bytes], source: str = "") -> Iterator[Context | FormatError]:
    """The conversations of a JSON or JSONL file, and what is wrong with the lines that hold none.

    JSONL in which each line is a message is one conversation.
    """
    lines = iter(file)
    head = first_lines(lines)
    shape = shape_of(head)
    if shape == "either":
        head += lines
        try:
            yield Context.from_json(b"".join(head))
            return
        except FormatError:
            shape = "jsonl"
    if shape == "json":
        yield _read_whole(b"".join(chain(head, lines)), source)
        return
    messages: list[Message] = []
    for _, value in read_jsonl(chain(head, lines), source):
        if isinstance(value, Context | FormatError):
            yield value
        else:
            messages.append(value)
    if messages:
        yield Context(messages=messages)


LOOK_AHEAD = 20
"""How many lines are looked at before a file without a whole value on any of them is taken for one document."""


def first_lines(lines: Iterator[bytes]) -> list[bytes]:
    """Lines up to the first that holds a message or a conversation, and one more: enough to tell JSON from JSONL."""
    head: list[bytes] = []
    found = False
    for line in lines:
        head.append(line)
        if (found and line.strip()) or len(head) == LOOK_AHEAD:
            break
        found = found or _kind_of(line) is not None
    return head


def shape_of(head: list[bytes]) -> Literal["json", "jsonl", "either"]:
    """What the first lines of a file say about it.

    A whole value on the first line is JSONL, unless it is the only line and a conversation. A whole value further down
    is a line of JSONL after bad ones, or a part of a document that began on a line that ends in the middle of a value.
    """
    texts = [line for line in head if line.strip()]
    kinds = [_kind_of(line) for line in texts]
    if not any(kinds) or kinds == [Context]:
        return "json"
    return "either" if kinds[0] is None and _is_unfinished(texts[0]) else "jsonl"


def conversations_follow(head: list[bytes]) -> bool:
    """Whether the first whole value of a file is a conversation, and not a message."""
    return next((kind for kind in map(_kind_of, head) if kind is not None), None) is Context


def _is_unfinished(text: bytes) -> bool:
    try:
        msgspec.json.decode(text.removeprefix(BYTE_ORDER_MARK))
    except msgspec.DecodeError as error:
        return "truncated" in str(error)
    except (UnicodeDecodeError, RecursionError):
        pass
    return False


def _read_whole(data: bytes, source: str) -> Context | FormatError:
    try:
        return Context.from_json(data)
    except FormatError as error:
        return error.at(source)
