"""A whole run: plan the shards, work on those that are not finished, and put the report together."""

import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from .batches import check_target
from .containers import new_file, remove_unfinished
from .cores import on_all_cores
from .duplicates import count_duplicates, write_duplicates
from .inputs import Shard, find_files, plan
from .manifest import Book, new_manifest
from .report import Report, Tally, fill
from .shards import PARTS, Done, Job, part_path, run_shard
from .work import Settings

Engine = Callable[[Callable[[Shard], Done], Iterable[Shard]], Iterator[Done]]
"""Calls a function with every shard, somewhere, and yields the results as they come."""


class Progress(Struct, frozen=True):
    """A shard that has been finished: its rows and bytes; and the bytes of all shards."""

    rows: int
    size: int
    total: int


class _Rejected(Struct):
    row: int
    reason: Raw
    data: Raw


def on_this_machine(workers: int | None = None) -> Engine:
    """Shards run in processes, on all cores or on as many as ``workers``."""
    return partial(on_all_cores, workers=workers, in_order=False)


def run(
    settings: Settings,
    inputs: Sequence[str],
    out: str,
    *,
    limit: int | None = None,
    engine: Engine | None = None,
    progress: Callable[[Progress], None] = lambda progress: None,
    shard_bytes: int | None = None,
) -> Report:
    """Work on all rows of the inputs and write the results to a directory; finished shards are not done again.

    The directory gets the shards, ``rejected.jsonl``, ``report.json`` and ``manifest.json``. ``shard_bytes`` is the
    size of a shard; without it, 16 MB, and less for a small corpus.
    """
    if settings.command == "convert":
        check_target(settings)
    files = find_files(inputs)
    shards = plan(files, limit, shard_bytes)
    folder = Path(out)
    book = Book.open(folder, new_manifest(version("segue"), files, shards, settings))
    if not book.manifest.finished:
        job = Job(settings, str(folder))
        _work(job, shards, book, engine or on_this_machine(), progress)
        _finish(job, shards, book)
    shutil.rmtree(folder / PARTS, ignore_errors=True)  # only after everything else is complete
    remove_unfinished(folder)
    return msgspec.json.decode((folder / "report.json").read_bytes(), type=Report)


def _work(job: Job, shards: list[Shard], book: Book, engine: Engine, progress: Callable[[Progress], None]) -> None:
    if job.settings.drops_duplicates:
        _find_duplicates(job, shards, engine)
    finished = book.manifest.shards
    sizes = {shard.output: shard.size for shard in shards}
    total = sum(sizes.values())
    for output, tally in finished.items():
        progress(Progress(tally.rows, sizes[output], total))
    waiting = [shard for shard in shards if shard.output not in finished]
    for done in engine(partial(run_shard, job), waiting):
        book.finish_shard(done.output, done.tally)
        progress(Progress(done.tally.rows, sizes[done.output], total))
    book.write()


def _find_duplicates(job: Job, shards: list[Shard], engine: Engine) -> None:
    """Compare all conversations before any is dropped, so that the result does not depend on the order of the work."""
    paths = [(part_path(job, each.output, "digests"), part_path(job, each.output, "duplicates")) for each in shards]
    if all(duplicates.exists() for _, duplicates in paths):
        return
    missing = [shard for shard, (digests, _) in zip(shards, paths, strict=True) if not digests.exists()]
    for _ in engine(partial(run_shard, replace(job, only_digests=True)), missing):
        pass
    write_duplicates(paths)


def _finish(job: Job, shards: list[Shard], book: Book) -> None:
    """Write what concerns all shards."""
    folder = Path(job.out)
    settings, tallies = job.settings, book.manifest.shards
    target = settings.model.ref if settings.model is not None else settings.protocol or ""
    report = fill(Report(command=settings.command, target=target), shards, tallies)
    report.duplicates = report.dropped or _count_duplicates(job, shards)
    with new_file(folder / "rejected.jsonl") as file:
        file.writelines(_rejected_rows(job, shards, tallies))
    with new_file(folder / "report.json") as file:
        file.write(msgspec.json.format(msgspec.json.encode(report), indent=2) + b"\n")
    book.manifest.finished = True
    book.write()


def _count_duplicates(job: Job, shards: list[Shard]) -> int:
    return count_duplicates([part_path(job, shard.output, "digests") for shard in shards])


def _rejected_rows(job: Job, shards: list[Shard], tallies: dict[str, Tally]) -> Iterator[bytes]:
    """The rejected rows of all shards, with their files, numbered in them."""
    decode = msgspec.json.Decoder(_Rejected).decode
    before: dict[str, int] = {}
    for shard in shards:
        first = before.get(shard.path, 0)
        with open(part_path(job, shard.output, "rejected"), "rb") as lines:
            for line in lines:
                row = decode(line)
                place = {"file": shard.path, "row": first + row.row}
                yield msgspec.json.encode(place | {"reason": row.reason, "data": row.data}) + b"\n"
        before[shard.path] = first + tallies[shard.output].lines
