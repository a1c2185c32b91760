"""Files with many conversations as rows: a JSON list, or one object on each line."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .building import Conversation
from .entries import Entry, entries_format
from .format import Format
from .reading import json_rows, mostly, text_in
from .source import Object, Source
from .values import Report

Row = tuple[int | None, str, Object]
"""The line, the place and the value of a row."""


def dataset_format(
    *, recognise: Callable[[Object], bool], read: Callable[[Conversation, Object], None], name: str, **fields: Any
) -> Format:
    """A format whose rows are conversations. The id of one is the ``id`` of its row, or its number, from 1."""

    def entries(source: Source) -> Iterable[Entry]:
        report = Report()
        return [_entry(name, at, row, report, read) for at, row in enumerate([*all_rows(source, report)], 1)]

    return entries_format(
        name=name,
        recognise=lambda source: mostly(first_rows(source), recognise),
        entries=entries,
        in_rows=True,
        **fields,
    )


def first_rows(source: Source) -> list[Any]:
    """The first rows of a file."""
    document = source.document
    return source.rows if document is None else document if isinstance(document, list) else [document]


def all_rows(source: Source, report: Report) -> Iterator[Row]:
    """All rows of a file that are objects."""
    if source.document is None:
        yield from ((line, "", row) for line, row in json_rows(source, report))
        return
    for at, row in enumerate(first_rows(source)):
        if isinstance(row, dict):
            yield None, f"[{at}]", row
        else:
            report.add("line-unreadable", "not a JSON object", where=f"[{at}]")


def _entry(name: str, number: int, row: Row, faults: Report, read: Callable[[Conversation, Object], None]) -> Entry:
    line, where, value = row

    def conversation() -> Conversation:
        report = Report()
        report.remarks += faults.remarks
        found = Conversation(name, report)
        found.at(line, where)
        read(found, value)
        return found

    return Entry(read=conversation, id=text_in(value, "id", "conversation_id", "custom_id") or str(number))
