"""The formats of files with conversations, as a table: ``FORMATS``. A format is recognised by content, not by name.

To add a format, add a row: how its first lines are recognised, and how its conversations are read.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple

from ..errors import FormatError, TransferError
from ..render import recognise, recognise_body
from ..session import AnyEntry, Compacted, is_exported, read_exported
from ..types import Context, Model, first_lines, has_version, messages_follow, read_jsonl, shape_of
from ..types.codec import json_text, read_document

OWN = "a conversation of segue"
SESSION = "an exported session of segue"


class Source(NamedTuple):
    """Where a conversation is read from, and what is known about it."""

    name: str
    protocol: str | None = None
    model: Model | None = None
    """The model that wrote the answers in request bodies."""


class Found(NamedTuple):
    """A conversation, and the form that it had in the file."""

    context: Context
    form: str
    protocol: str | None = None
    body: dict[str, Any] | None = None
    """The request body, if the conversation was in one."""


Item = Found | FormatError


class Format(NamedTuple):
    """One format: whether the first lines of a file have it, and its reader, which yields the errors of bad parts."""

    matches: Callable[[list[bytes]], bool]
    read: Callable[[Iterable[bytes], Source], Iterator[Item]]


def read_file(file: Iterable[bytes], source: Source) -> Iterator[Item]:
    """Read all conversations of a file, in any format of the table."""
    lines = iter(file)
    head = first_lines(lines)
    return find(head).read(chain(head, lines), source)


def find(head: list[bytes]) -> Format:
    """The format of a file that begins with these lines."""
    return next(each for each in FORMATS if each.matches(head))


def read_one(data: bytes, source: Source, line: int | None = None) -> Item:
    """Read one JSON document: a conversation, a request body, or a list of messages."""
    try:
        if source.protocol is None and has_version(data):
            return Found(Context.from_json(data), OWN)
        body = recognise_body(data, source.protocol)
        context = body.conversation(source.model, now=0)  # bodies have no times
        in_body = body.form.protocol is not None
        return Found(context, body.form.name, body.form.protocol, body.form.body if in_body else None)
    except FormatError as error:
        return error.at(source.name, line)


# -- readers ----------------------------------------------------------------------------------------------------------


def _read_whole(lines: Iterable[bytes], source: Source) -> Iterator[Item]:
    """One document, which may extend over many lines."""
    yield read_one(b"".join(lines), source)


def _read_lines(lines: Iterable[bytes], source: Source) -> Iterator[Item]:
    """One document per line."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield read_one(line, source, number)


def _read_either(lines: Iterable[bytes], source: Source) -> Iterator[Item]:
    """One document, or lines of which the first is cut off."""
    kept = list(lines)
    whole = read_one(b"".join(kept), source)
    if isinstance(whole, Found):
        yield whole
    else:
        yield from (_read_messages if messages_follow(kept) else _read_lines)(kept, source)


def _read_messages(lines: Iterable[bytes], source: Source) -> Iterator[Item]:
    """One conversation with one message per line."""
    kept = list(lines)
    messages = []
    for number, line in enumerate(kept, 1):
        if line.strip():
            try:
                messages.append(read_document(line))
            except FormatError as error:
                yield error.at(source.name, number)
    try:
        form = recognise([message for message in messages if isinstance(message, dict)])
    except FormatError as error:
        yield error.at(source.name)
        return
    if (source.protocol is None and form.protocol is None) or all(map(_is_plain, messages)):
        yield from _read_own_messages(kept, source)
    else:
        yield read_one(json_text(messages).encode("utf-8", "replace"), source)


def _is_plain(message: object) -> bool:
    """Whether a message is the same in segue's form and in those of protocols."""
    return isinstance(message, dict) and message.get("role") == "user" and isinstance(message.get("content"), str)


def _read_own_messages(lines: Iterable[bytes], source: Source) -> Iterator[Item]:
    messages = []
    for _, value in read_jsonl(lines, source.name):
        if isinstance(value, FormatError):
            yield value
        elif not isinstance(value, Context):
            messages.append(value)
    if messages:
        yield Found(Context(messages=messages), "a list of segue's messages")


def _read_session(lines: Iterable[bytes], source: Source) -> Iterator[Item]:
    try:
        _, entries = read_exported(lines, source.name)
    except TransferError as error:
        yield from error.faults
        return
    yield Found(whole_conversation(entries), SESSION)


def whole_conversation(entries: Iterable[AnyEntry]) -> Context:
    """The conversation of a session, with the messages that compactions replaced."""
    from ..agent import rebuilt  # imports all that an agent needs, which other formats do not

    state = rebuilt(entry for entry in entries if not isinstance(entry, Compacted))
    return Context(system_prompt=state.system_prompt, messages=state.messages)


def _refuse_database(lines: Iterable[bytes], source: Source) -> Iterator[Item]:
    hint = f"segue sessions list --store {source.name} lists the sessions in it, if segue made it"
    yield FormatError(f"this is a database, not a conversation; {hint}", source=source.name)


# -- the table --------------------------------------------------------------------------------------------------------


def _first(head: list[bytes]) -> bytes:
    return next((line for line in head if line.strip()), b"")


LINES = Format(lambda head: shape_of(head) == "jsonl", _read_lines)
WHOLE = Format(lambda head: True, _read_whole)

FORMATS = (
    Format(lambda head: is_exported(_first(head)), _read_session),
    Format(lambda head: _first(head).startswith(b"SQLite format 3\0"), _refuse_database),
    Format(lambda head: shape_of(head) == "either", _read_either),
    Format(lambda head: shape_of(head) == "jsonl" and messages_follow(head), _read_messages),
    LINES,
    WHOLE,
)
"""All formats. The first one that matches is used."""
