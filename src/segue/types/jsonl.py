"""Files: one conversation as JSON, or JSONL in which each line is a message or each line is a conversation.

A bad line is reported with its number and the others go on: what was read and what was wrong come out of one
iterator, in the order of the file. Lines are read one at a time, whatever the size of the file.
"""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, BinaryIO, NamedTuple, cast

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from ..errors import FormatError
from .codec import read, write
from .context import Context
from .messages import Message


class Line(NamedTuple):
    """A line of a JSONL file: what it holds, or what is wrong with it."""

    number: int
    value: Message | Context | FormatError


class _Probe(Struct):
    role: Raw | UnsetType = UNSET
    messages: Raw | UnsetType = UNSET


def _kind_of(text: bytes) -> Any:
    """``Message`` or ``Context``, or ``None`` when ``text`` is neither."""
    try:
        probe = msgspec.json.decode(text, type=_Probe)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return Context if probe.messages is not UNSET else Message if probe.role is not UNSET else None


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
    for value in values:
        file.write(write(value) + b"\n")


def read_conversations(file: BinaryIO, source: str = "") -> Iterator[Context | FormatError]:
    """The conversations of a JSON or JSONL file, and what is wrong with the lines that hold none.

    JSONL in which each line is a message is one conversation.
    """
    head = _first_lines(file)
    if not _is_jsonl(head):
        yield _read_whole(b"".join(chain(head, file)), source)
        return
    messages: list[Message] = []
    for _, value in read_jsonl(chain(head, file), source):
        if isinstance(value, Context | FormatError):
            yield value
        else:
            messages.append(value)
    if messages:
        yield Context(messages=messages)


def _first_lines(file: BinaryIO) -> list[bytes]:
    """Lines up to and including the second that is not blank: enough to tell JSON from JSONL."""
    head: list[bytes] = []
    for line in file:
        head.append(line)
        if sum(1 for text in head if text.strip()) == 2:
            break
    return head


def _is_jsonl(head: list[bytes]) -> bool:
    """A message on the first line, or a whole value on either of the first two when there are two."""
    kinds = [_kind_of(line) for line in head if line.strip()]
    return kinds[:1] == [Message] or (len(kinds) == 2 and kinds != [None, None])


def _read_whole(data: bytes, source: str) -> Context | FormatError:
    try:
        return Context.from_json(data)
    except FormatError as error:
        return error.at(source)
