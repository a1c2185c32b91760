"""`segue encode`: print the request body that sends a conversation to a model.

A JSONL file of conversations gives one body per line. Long files are encoded on all cores, in batches. Only a few
batches are in memory at a time, so memory use does not depend on the length of the file.
"""

import argparse
import os
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, BinaryIO

import msgspec

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

if TYPE_CHECKING:
    from concurrent.futures import Future

BATCH_LINES = 64
"""Lines that a worker encodes at a time."""


class Job(msgspec.Struct, frozen=True):
    """How to encode every conversation."""

    model: Model
    options: Options
    policy: str
    full: bool


class Batch(msgspec.Struct):
    """An encoded batch: lines for stdout, error messages, the forms of the conversations, and how often each change was
    made."""

    lines: list[bytes]
    errors: list[str]
    forms: dict[str, None]
    changes: Counter[str]


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
    with open_input(args.file) as file:
        return _write(_encode_file(file, conversations.source, job), conversations, job)


def _write(batches: Iterable[Batch], conversations: Conversations, job: Job) -> int:
    count, changes = 0, Counter[str]()
    for batch in with_progress(((batch, len(batch.lines)) for batch in batches), "conversations"):
        for form in batch.forms:
            conversations.announce(form)
        for error in batch.errors:
            conversations.report_error(error)
        for line in batch.lines:
            write_json(line + b"\n")
        count += len(batch.lines)
        changes += batch.changes
    summary = ", ".join(f"{times} × {code}" for code, times in sorted(changes.items()))
    print_note(f"{count_of(count, 'conversation')} for {job.model.ref}: {summary or 'no changes'}")
    return conversations.status


def _encode_file(file: BinaryIO, source: Source, job: Job) -> Iterator[Batch]:
    head = first_lines(iter(file))
    found = find(head)
    if found is not LINES:
        yield _encode_all(found.read(chain(head, file), source), source, job)
        return
    lines = enumerate(chain(head, file), 1)
    first = list(islice(lines, BATCH_LINES))
    second = list(islice(lines, BATCH_LINES))
    if not second:
        yield _encode_lines(first, source, job)
        return
    yield from _in_parallel(chain([first, second], _batches(lines)), source, job)


def _batches(lines: Iterator[tuple[int, bytes]]) -> Iterator[list[tuple[int, bytes]]]:
    while batch := list(islice(lines, BATCH_LINES)):
        yield batch


def _in_parallel(batches: Iterable[list[tuple[int, bytes]]], source: Source, job: Job) -> Iterator[Batch]:
    """Encode batches on all cores and yield them in the order of the file. Only a few are in memory at a time."""
    from concurrent.futures import ProcessPoolExecutor

    workers = os.cpu_count() or 1
    with ProcessPoolExecutor(workers) as pool:
        waiting: deque[Future[Batch]] = deque()
        for lines in batches:
            waiting.append(pool.submit(_encode_lines, lines, source, job))
            if len(waiting) > 3 * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _encode_lines(lines: list[tuple[int, bytes]], source: Source, job: Job) -> Batch:
    batch = Batch([], [], {}, Counter())
    for number, line in lines:
        if line.strip():
            _encode_one(read_one(line, source, number), f"{source.name}:{number}", job, batch)
    return batch


def _encode_all(items: Iterable[Item], source: Source, job: Job) -> Batch:
    batch = Batch([], [], {}, Counter())
    for item in items:
        _encode_one(item, source.name, job, batch)
    return batch


def _encode_one(item: Item, place: str, job: Job, batch: Batch) -> None:
    if isinstance(item, FormatError):
        batch.errors.append(str(item))
        return
    batch.forms[item.form] = None
    try:
        request = encode(item.context, job.model, job.options, job.policy)
    except (ProjectionError, FormatError) as error:
        batch.errors.append(f"{place}: {error}")
        return
    batch.lines.append(_as_json(request) if job.full else request.json())
    batch.changes.update(change.code for change in request.changes)


def _as_json(request: Request) -> bytes:
    document = {
        "model": request.model.ref,
        "path": request.path,
        "headers": shown_headers(request.headers),
        "body": request.body,
        "changes": request.changes,
    }
    return msgspec.json.encode(document)
