"""Read and write files: one conversation as JSON, or JSONL in which each line is a message or a conversation.

A bad line does not stop the others: one iterator yields values and errors (with line numbers) in the order of the file.
Lines are read one at a time, so that large files need little memory.
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
    """A line of a JSONL file: its value, or the error of a line that cannot be read."""

    number: int
    value: Message | Context | FormatError


class _Probe(Struct):
    version: Raw | UnsetType = UNSET
    role: Raw | UnsetType = UNSET
    messages: Raw | UnsetType = UNSET


class _Other:
    """The kind of an object that is neither a message nor a conversation: a document in another form."""


def _kind_of(text: bytes) -> Any:
    """Return ``Message``, ``Context`` or ``_Other``, or ``None`` if ``text`` is not a complete object."""
    text = text.removeprefix(BYTE_ORDER_MARK)
    for candidate in (text, scrub_escapes(text)):
        try:
            probe = msgspec.json.decode(candidate, type=_Probe)
        except UNREADABLE:
            continue
        return Context if probe.messages is not UNSET else Message if probe.role is not UNSET else _Other
    return None


_NAMES: dict[Any, str] = {Context: "a conversation", Message: "a message"}
_PLURALS: dict[Any, str] = {Context: "conversations", Message: "messages"}


def read_jsonl(lines: Iterable[bytes], source: str = "") -> Iterator[Line]:
    """Read every line that is not blank; ``source`` is the name of the file in errors."""
    kind: Any = None
    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        found = _kind_of(text)
        if found not in _NAMES:
            found = kind or Context
        try:
            if kind is not None and found is not kind:
                raise FormatError(f"found {_NAMES[found]}, but the lines of this file are {_PLURALS[kind]}")
            value = cast("Message | Context", read(text, found))
        except FormatError as error:
            yield Line(number, error.at(source, number))
        else:
            kind = found
            yield Line(number, value)


def write_jsonl(values: Iterable[Message | Context], file: BinaryIO) -> None:
    """Write one line for each value."""
    kinds: set[bool] = set()
    for value in values:
        kinds.add(isinstance(value, Context))
        if len(kinds) > 1:
            raise TypeError("a JSONL file holds messages or conversations, not both")
        file.write(write(value) + b"\n")


def read_conversations(file: Iterable[bytes], source: str = "") -> Iterator[Context | FormatError]:
    """Read the conversations of a JSON or JSONL file; a line that cannot be read yields its error.

    If each line is a message, the file is one conversation.
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
"""How many lines are examined. If none of them is a complete value, the file is read as one document."""


def first_lines(lines: Iterator[bytes]) -> list[bytes]:
    """Read up to the first line that is a complete object, and one more: enough to tell JSON from JSONL."""
    head: list[bytes] = []
    found = False
    for line in lines:
        head.append(line)
        if (found and line.strip()) or len(head) == LOOK_AHEAD:
            break
        found = found or _kind_of(line) is not None
    return head


def shape_of(head: list[bytes]) -> Literal["json", "jsonl", "either"]:
    """Guess from the first lines of a file whether it is JSON or JSONL.

    A complete object on the first line means JSONL, unless it is the only line and not a message. A complete object
    further down is either a line of JSONL after bad lines, or part of a document that starts on an earlier line.
    """
    texts = [line for line in head if line.strip()]
    kinds = [_kind_of(line) for line in texts]
    if not any(kinds) or (len(kinds) == 1 and kinds[0] is not Message):
        return "json"
    return "either" if kinds[0] is None and _is_unfinished(texts[0]) else "jsonl"


def has_version(text: bytes) -> bool:
    """Whether a document is certainly a conversation of segue: no other form has a version and messages."""
    try:
        probe = msgspec.json.decode(text.removeprefix(BYTE_ORDER_MARK), type=_Probe)
    except UNREADABLE:
        return False
    return probe.version is not UNSET and probe.messages is not UNSET


def messages_follow(head: list[bytes]) -> bool:
    """Whether the first complete object of a JSONL file is a message, and not a whole document."""
    return next((kind for kind in map(_kind_of, head) if kind is not None), None) is Message


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
