"""Every page as JSON: the same facts, for programs."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Raw
from msgspec.structs import asdict

from ..session import SessionInfo
from ..types import Message
from ..types.codec import write
from .columns import Cell, Column
from .opened import Opened, id_of
from .rows import CHUNK, Sheet
from .screen import changed_messages, refused_messages
from .shelf import Listed, Place
from .view import View


def home_json(
    documents: list[Opened], sessions: list[SessionInfo], transcripts: list[Listed], places: list[Place]
) -> bytes:
    """The list of everything that can be opened, and what a search found."""
    return msgspec.json.encode(
        {
            "documents": [
                {"id": each.id, "name": each.name, "form": each.form, "messages": len(each.context.messages)}
                for each in documents
            ],
            "sessions": [{"id": id_of("session", info.id), "session": info} for info in sessions],
            "transcripts": transcripts,
            "found": places,
        }
    )


def screen_json(sheet: Sheet, view: View, path: str, hits: list[int]) -> bytes:
    """The screen with one chunk of rows, and the address of the next chunk."""
    opened, count = sheet.opened, len(sheet.messages)
    first = min(view.at, max(count - 1, 0)) // CHUNK * CHUNK
    last = min(first + CHUNK, count)
    return msgspec.json.encode(
        {
            "id": opened.id,
            "name": opened.name,
            "form": opened.form,
            "messages": count,
            "events": opened.events,
            "columns": [_column(column) for column in sheet.columns],
            "changed": changed_messages(sheet),
            "refused": refused_messages(sheet),
            "found": hits,
            "findings": sheet.findings.get(None, []),
            "rows": [_row(sheet, index) for index in range(first, last)],
            "next": f"{path}.json?{view.change(at=last).query()}" if last < count else None,
        }
    )


def _column(column: Column) -> dict[str, Any]:
    found = column.preview
    about: dict[str, Any] = {"target": column.target, "error": column.error or None, **column.counts()}
    if found is not None:
        about |= {
            "model": found.model.ref,
            "tokens": found.tokens,
            "inputLimit": found.model.input_limit(),
            "fits": found.fits,
            "cost": found.cost,
            "limits": found.limits,
            "changes": column.changes.get(None, []),
            "findings": column.findings.get(None, []),
        }
    return about


def _row(sheet: Sheet, index: int) -> dict[str, Any]:
    message = sheet.messages[index]
    return {
        "index": index,
        "stored": _message(message),
        "findings": sheet.findings.get(index, []),
        "columns": [_cell(column.cell(index, message)) for column in sheet.columns],
    }


def _cell(cell: Cell) -> dict[str, Any]:
    return {**asdict(cell), "messages": _messages(cell.messages)}


def _messages(messages: Sequence[Message]) -> list[Raw]:
    return [_message(message) for message in messages]


def _message(message: Message) -> Raw:
    return Raw(write(message))
