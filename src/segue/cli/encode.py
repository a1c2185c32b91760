"""`segue encode`: the request body that sends a conversation to a model.

A file of conversations gives one body per line. Long files are shared among the cores, a few hundred lines at a time:
what waits is bounded, so that memory is the same for any length.
"""

import argparse
import os
import sys
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from itertools import chain, islice
from typing import TYPE_CHECKING, BinaryIO

import msgspec

from ..catalog import Catalog, get_model
from ..errors import FormatError, ProjectionError
from ..projection import PRESETS
from ..render import Request, encode
from ..types import Context, Model, Options, read_conversations
from ..types.jsonl import conversations_follow, first_lines, shape_of
from ..types.secret import shown_headers
from .terminal import counted, print_note, write

if TYPE_CHECKING:
    from concurrent.futures import Future

BATCH = 64
"""How many lines a worker takes at a time."""


class Job(msgspec.Struct, frozen=True):
    """What is done with every conversation."""

    model: Model
    options: Options
    policy: str
    full: bool


class Done(msgspec.Struct):
    """What became of a batch: lines for stdout, complaints, and how often each change happened."""

    lines: list[bytes]
    faults: list[str]
    changes: Counter[str]


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a conversation as JSON, or any number as JSONL; - for stdin")
    parser.add_argument("--to", required=True, metavar="PROVIDER/MODEL", help="the model to encode for")
    parser.add_argument("--policy", default="default", choices=PRESETS, help="a preset of choices (default: default)")
    parser.add_argument("--protocol", help="where the provider speaks more than one")
    parser.add_argument("--max-tokens", type=int, metavar="N")
    parser.add_argument("--temperature", type=float, metavar="T")
    parser.add_argument("--reasoning", metavar="LEVEL", help="off, minimal, low, medium, high, xhigh or max")
    parser.add_argument("--tool-choice", metavar="CHOICE", help="auto, none, required, or the name of a tool")
    parser.add_argument("--cache", metavar="RETENTION", help="none, short or long")
    parser.add_argument("--stream", action="store_true", help="ask for a stream")
    parser.add_argument("--json", action="store_true", help="path, headers and the report beside the body")
    parser.add_argument("--catalog", metavar="FILE", help="a catalog file of your own")


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
    name = "standard input" if args.file == "-" else args.file
    with nullcontext(sys.stdin.buffer) if args.file == "-" else open(args.file, "rb") as file:
        return _write(_encoded(file, name, job), job)


def _write(batches: Iterable[Done], job: Job) -> int:
    status, count, changes = 0, 0, Counter[str]()
    for done in counted(((done, len(done.lines)) for done in batches), "conversations"):
        for fault in done.faults:
            status = 2
            print_note(fault)
        for line in done.lines:
            write(line + b"\n")
        count += len(done.lines)
        changes += done.changes
    told = ", ".join(f"{times} × {code}" for code, times in sorted(changes.items()))
    plural = "conversation" if count == 1 else "conversations"
    print_note(f"{count} {plural} for {job.model.ref}: {told or 'no changes'}")
    return status


def _encoded(file: BinaryIO, name: str, job: Job) -> Iterator[Done]:
    head = first_lines(iter(file))
    if shape_of(head) != "jsonl" or not conversations_follow(head):
        yield _encode_all(read_conversations(chain(head, file), name), name, job)
        return
    lines = enumerate(chain(head, file), 1)
    first = list(islice(lines, BATCH))
    second = list(islice(lines, BATCH))
    if not second:
        yield _encode_lines(first, name, job)
        return
    yield from _in_parallel(chain([first, second], _batches(lines)), name, job)


def _batches(lines: Iterator[tuple[int, bytes]]) -> Iterator[list[tuple[int, bytes]]]:
    while batch := list(islice(lines, BATCH)):
        yield batch


def _in_parallel(batches: Iterable[list[tuple[int, bytes]]], name: str, job: Job) -> Iterator[Done]:
    """In the order of the file, with no more than a few batches on their way."""
    from concurrent.futures import ProcessPoolExecutor

    workers = os.cpu_count() or 1
    with ProcessPoolExecutor(workers) as pool:
        waiting: deque[Future[Done]] = deque()
        for batch in batches:
            waiting.append(pool.submit(_encode_lines, batch, name, job))
            if len(waiting) > 3 * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _encode_lines(batch: list[tuple[int, bytes]], name: str, job: Job) -> Done:
    done = Done([], [], Counter())
    for number, line in batch:
        if line.strip():
            _encode_one(_read(line, name, number), f"{name}:{number}", job, done)
    return done


def _read(line: bytes, name: str, number: int) -> Context | FormatError:
    try:
        return Context.from_json(line)
    except FormatError as error:
        return error.at(name, number)


def _encode_all(conversations: Iterable[Context | FormatError], name: str, job: Job) -> Done:
    done = Done([], [], Counter())
    for item in conversations:
        _encode_one(item, name, job, done)
    return done


def _encode_one(item: Context | FormatError, place: str, job: Job, done: Done) -> None:
    if isinstance(item, FormatError):
        done.faults.append(str(item))
        return
    try:
        request = encode(item, job.model, job.options, job.policy)
    except (ProjectionError, FormatError) as error:
        done.faults.append(f"{place}: {error}")
        return
    done.lines.append(_as_json(request) if job.full else request.json())
    done.changes.update(change.code for change in request.changes)


def _as_json(request: Request) -> bytes:
    document = {
        "model": request.model.ref,
        "path": request.path,
        "headers": shown_headers(request.headers),
        "body": request.body,
        "changes": request.changes,
    }
    return msgspec.json.encode(document)
