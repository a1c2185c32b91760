"""Chat histories of aider (``.aider.chat.history.md``): Markdown, all sessions in one file.

``# aider chat started at`` begins a session, ``####`` lines are the user's, ``> `` lines are output of the program, and
the rest is the assistant's (aider, ``io.py`` and ``utils.split_chat_history_markdown``). There are no tools.
"""

import re
from collections.abc import Iterator

from ..types import TextContent
from .building import Conversation
from .entries import Entry, entries_format
from .reading import short_title, unix_ms
from .source import Source

NAME = "aider"
_START = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*")
_MODEL = re.compile(r"> (?:Main )?[Mm]odel: (\S+)")
_LOOK = 1 << 18


def _recognise(source: Source) -> bool:
    if source.is_directory or source.document is not None or source.rows or source.tables or source.members:
        return False
    with source.open() as file:
        text = file.read(_LOOK).decode("utf-8", "replace")
    return ("\n" in text and any(map(_START.fullmatch, text.splitlines()))) or _has_turns(text)


def _has_turns(text: str) -> bool:
    lines = text.splitlines()
    return sum(line.startswith("#### ") for line in lines) > 1 and any(line.startswith("> ") for line in lines)


def _entries(source: Source) -> list[Entry]:
    """The sessions in which the user wrote something, numbered from 1."""
    found = [each for each in _sessions(source) if any(text.startswith("#### ") for _, text in each[1])]
    return [_entry(number, *each) for number, each in enumerate(found, 1)]


def _sessions(source: Source) -> Iterator[tuple[str, list[tuple[int, str]]]]:
    """The sessions of the file: when each started, and its lines with their numbers."""
    started, lines = "", list[tuple[int, str]]()
    with source.open() as file:
        for number, line in enumerate(file, 1):
            text = line.decode("utf-8", "replace").rstrip("\r\n")
            if found := _START.fullmatch(text):
                yield started, lines
                started, lines = found[1], []
            elif text.strip() or lines:
                lines.append((number, text))
    yield started, lines


def _entry(number: int, started: str, lines: list[tuple[int, str]]) -> Entry:
    first = next((text[4:] for _, text in lines if text.startswith("#### ")), None)
    time = unix_ms(started) if started else 0
    return Entry(
        read=lambda: _read(lines), id=str(number), title=short_title(first), started=time or None, updated=time
    )


def _read(lines: list[tuple[int, str]]) -> Conversation:
    conversation = Conversation(NAME)
    kind, block, shown = "", list[str](), 0
    for number, text in [*lines, (0, "")]:
        conversation.at(number)
        is_user = text.startswith("####") and text[4:5] in ("", " ")
        now = "user" if is_user else "program" if text.startswith("> ") else "answer"
        if not text.strip() and number:
            now = kind if kind == "answer" else ""
        if now != kind or not number:
            _add(conversation, kind, block)
            kind, block = now, []
        if now == "program":
            shown += 1
            if found := _MODEL.match(text):
                provider, _, model = found[1].rpartition("/")
                conversation.set_origin(provider, model)
        else:
            block.append(text[5:].removesuffix("  ") if now == "user" else text)
    if shown:
        conversation.at()
        conversation.remark("row-left-out", f"{shown} lines that are output of the program")
    return conversation


def _add(conversation: Conversation, kind: str, block: list[str]) -> None:
    text = "\n".join(block).strip()
    if kind == "user" and text:
        conversation.add_user(text)
    elif kind == "answer" and text:
        conversation.add_answer([TextContent(text)])


FORMAT = entries_format(
    name=NAME,
    title="aider chat histories",
    recognise=_recognise,
    entries=_entries,
    verified=True,
    source="Aider-AI/aider, 2026",
)
