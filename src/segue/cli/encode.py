"""`segue encode`: print the request body that sends a conversation to a model.

A JSONL file of conversations gives one body per line. Long files are encoded on all cores, in parts, each read by the
process that encodes it. Only a few parts are in memory at a time, so memory use does not depend on the length of the
file.
"""

import argparse
import os
import stat
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain, islice
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory
from typing import BinaryIO

import msgspec

from ..bulk import Block, Part, blocks_of, on_all_cores, parts_of
from ..catalog import Catalog, get_model
from ..errors import FormatError, ProjectionError
from ..projection import PRESETS
from ..render import Request, encode
from ..types import Model, Options, first_lines
from ..types.secret import shown_headers
from ..types.text import count_of
from .files import FILE_HELP, Conversations, open_input
from .formats import LINES, Item, Source, find, read_one
from .terminal import print_note, with_progress, write_json

PART_BYTES = 1 << 20
"""Bytes of a file that a process encodes at a time."""


class Job(msgspec.Struct, frozen=True):
    """How to encode every conversation."""

    model: Model
    options: Options
    policy: str
    full: bool


class Batch(msgspec.Struct):
    """An encoded part of a file: text for stdout, error messages with their lines (from 1; ``None`` if they name their
    place), the forms of the conversations, and how often each change was made."""

    text: bytes = b""
    file: str = ""
    """The file that has the text, if another process encoded it."""
    count: int = 0
    lines: int = 0
    errors: list[tuple[int | None, str]] = []
    forms: dict[str, None] = {}
    changes: Counter[str] = msgspec.field(default_factory=Counter)

    def take_text(self) -> bytes:
        """Return the text; its file is removed."""
        if not self.file:
            return self.text
        file = Path(self.file)
        text = file.read_bytes()
        file.unlink()
        return text


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help=FILE_HELP)
    parser.add_argument("--to", required=True, metavar="PROVIDER/MODEL", help="the model to encode for")
    parser.add_argument("--policy", default="default", choices=PRESETS, help="the policy preset (default: default)")
    parser.add_argument("--protocol", help="the protocol, if the provider speaks more than one")
    parser.add_argument("--max-tokens", type=int, metavar="N", help="the longest answer, in tokens")
    parser.add_argument("--temperature", type=float, metavar="T", help="the sampling temperature")
    parser.add_argument(
        "--reasoning", metavar="LEVEL", help="how much the model thinks: off, minimal, low, medium, high, xhigh or max"
    )
    parser.add_argument("--tool-choice", metavar="CHOICE", help="auto, none, required, or the name of a tool")
    parser.add_argument(
        "--cache", metavar="RETENTION", help="how long the provider caches the prompt: none, short or long"
    )
    parser.add_argument("--stream", action="store_true", help="ask for a streamed answer")
    parser.add_argument("--json", action="store_true", help="print path, headers and the report of changes as well")
    parser.add_argument("--catalog", metavar="FILE", help="your own catalog file")


def run(args: argparse.Namespace) -> int:
    catalog = Catalog.load(args.catalog) if args.catalog else None
    try:
        options = Options(
            max_tokens=args.max_tokens,
            temperature=args.temperature,
            reasoning=args.reasoning,
            tool_choice=args.tool_choice,
            cache=args.cache,
            stream=args.stream,
        )
    except ValueError as error:
        raise FormatError(str(error)) from None
    job = Job(get_model(args.to, protocol=args.protocol, catalog=catalog), options, args.policy, args.json)
    conversations = Conversations(args.file)
    if conversations.is_transcript:
        batch = _encode_all([(None, conversations.transcript())], conversations.source, job)
        return _write([batch], conversations, job)
    with open_input(args.file) as file:
        return _write(_encode_file(file, conversations.source, job), conversations, job)


def _write(batches: Iterable[Batch], conversations: Conversations, job: Job) -> int:
    count, line, changes = 0, 0, Counter[str]()
    for batch in with_progress(((batch, batch.count) for batch in batches), "conversations"):
        for form in batch.forms:
            conversations.announce(form)
        for at, error in batch.errors:
            conversations.report_error(error if at is None else f"{conversations.name}:{line + at}: {error}")
        write_json(batch.take_text())
        count += batch.count
        line += batch.lines
        changes += batch.changes
    summary = ", ".join(f"{times} × {code}" for code, times in sorted(changes.items()))
    print_note(f"{count_of(count, 'conversation')} for {job.model.ref}: {summary or 'no changes'}")
    return conversations.status


def _encode_file(file: BinaryIO, source: Source, job: Job) -> Iterator[Batch]:
    head = first_lines(iter(file))
    found = find(head)
    if found is not LINES:
        yield _encode_all(((None, item) for item in found.read(chain(head, file), source)), source, job)
        return
    is_file = stat.S_ISREG(os.fstat(file.fileno()).st_mode) and os.path.isfile(source.name)
    parts: Iterator[Part | Block]
    parts = parts_of(source.name, PART_BYTES) if is_file else blocks_of(head, file, PART_BYTES)
    first: list[Part | Block] = list(islice(parts, 2))
    if len(first) == 1:
        yield _encode_lines(source, job, first[0])
        return
    with TemporaryDirectory(prefix="segue-") as folder:
        yield from on_all_cores(partial(_encode_apart, folder, source, job), chain(first, parts))


def _encode_apart(folder: str, source: Source, job: Job, part: Part | Block) -> Batch:
    """Encode a part in another process. Its text goes through a file: through the pipe between the processes, it would
    be copied several times, half of them by the main process."""
    batch = _encode_lines(source, job, part)
    with NamedTemporaryFile(dir=folder, delete=False) as file:
        file.write(batch.text)
    batch.text, batch.file = b"", file.name
    return batch


def _encode_lines(source: Source, job: Job, part: Part | Block) -> Batch:
    lines = list(part)
    items = ((at, read_one(line, source)) for at, line in enumerate(lines, 1) if line.strip())
    batch = _encode_all(items, source, job)
    batch.lines = len(lines)
    return batch


def _encode_all(items: Iterable[tuple[int | None, Item]], source: Source, job: Job) -> Batch:
    batch, bodies = Batch(), list[bytes]()
    for at, item in items:
        if isinstance(item, FormatError):
            batch.errors.append((at, str(item) if at is None else str(item.at(""))))
            continue
        batch.forms[item.form] = None
        try:
            request = encode(item.context, job.model, job.options, job.policy)
            bodies += (_as_json(request) if job.full else request.json(), b"\n")
        except (ProjectionError, FormatError) as error:
            batch.errors.append((at, f"{source.name}: {error}" if at is None else str(error)))
            continue
        batch.count += 1
        batch.changes.update(change.code for change in request.changes)
    batch.text = b"".join(bodies)
    return batch


def _as_json(request: Request) -> bytes:
    document = {
        "model": request.model.ref,
        "path": request.path,
        "headers": shown_headers(request.headers),
        "body": request.body,
        "changes": request.changes,
    }
    return msgspec.json.encode(document)
