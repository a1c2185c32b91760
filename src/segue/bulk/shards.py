"""One shard: read its rows, work on them, write what became of them.

Every file is written under a temporary name and renamed, so a shard that is done twice, or by two processes, is the
same. A shard also has its rejected rows and the digests of its conversations, which are put together at the end.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, nullcontext
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import msgspec
from msgspec import Raw, Struct

from ..errors import FormatError
from ..types.codec import BYTE_ORDER_MARK, UNREADABLE, json_text, read_document
from .batches import added_values, target_of, written_to
from .containers import new_file, unfinished
from .inputs import Shard, lines_of
from .reading import Found, read_line, read_row
from .report import Tally
from .work import DIGEST_BYTES, Outcome, Settings, digest_of, reject, work_on

if TYPE_CHECKING:
    import pyarrow as pa

ROWS = 256
"""Rows of Parquet that are in memory as Python values at a time."""
GROUP_ROWS = 4096
"""Rows in a row group that is written."""
NO_DIGEST = bytes(DIGEST_BYTES)
"""The digest of a row that is not a conversation, or of a blank line."""
PARTS = "parts"
"""The directory for what is put together at the end."""

_read_columns = msgspec.json.Decoder(dict[str, Raw]).decode
_encode = msgspec.json.Encoder(enc_hook=str).encode  # other columns of Parquet may have dates


class Job(Struct, frozen=True):
    """What is done with every shard, and the directory for the results."""

    settings: Settings
    out: str
    only_digests: bool = False


class Done(Struct):
    """A finished shard."""

    output: str
    tally: Tally


def part_path(job: Job, shard_output: str, kind: str) -> Path:
    """The file with the rejected rows, the digests or the duplicates of a shard."""
    return Path(job.out, PARTS, f"{shard_output}.{kind}")


def run_shard(job: Job, shard: Shard) -> Done:
    """Work on all rows of a shard, and write its files."""
    if job.only_digests:
        with new_file(part_path(job, shard.output, "digests")) as file:
            file.writelines(_digests(job, shard))
        return Done(shard.output, Tally())
    with ExitStack() as files:
        rejected = files.enter_context(new_file(part_path(job, shard.output, "rejected")))
        digests = files.enter_context(new_file(part_path(job, shard.output, "digests")))
        writer = _Writer(Tally(), rejected, digests, _duplicates(job, shard))
        (_run_table if shard.container == "parquet" else _run_lines)(job, shard, writer)
    return Done(shard.output, writer.tally)


class _Writer:
    """Counts rows, and writes digests and rejected rows."""

    def __init__(self, tally: Tally, rejected: IO[bytes], digests: IO[bytes], duplicates: frozenset[int]) -> None:
        self.tally = tally
        self._rejected, self._digests = rejected, digests
        self._duplicates = duplicates

    def skip(self, is_row: bool) -> None:
        """Pass over a blank line, or over a duplicate."""
        self.tally.lines += 1
        self.tally.rows += is_row
        self.tally.dropped += is_row
        self._digests.write(NO_DIGEST)

    def dropped_among(self, count: int) -> list[bool]:
        """Which of the next rows are duplicates that are dropped."""
        return [self.tally.lines + at in self._duplicates for at in range(count)]

    def add(self, outcome: Outcome, original: Callable[[], Any]) -> None:
        """Count a row; a rejected one is written with what it was."""
        self.tally.lines += 1
        self.tally.add(self.tally.lines, outcome)
        self._digests.write(outcome.digest or NO_DIGEST)
        if outcome.rejected is not None:
            row = {"row": self.tally.lines, "reason": outcome.rejected, "data": original()}
            self._rejected.write(_encode(row) + b"\n")


def _duplicates(job: Job, shard: Shard) -> frozenset[int]:
    """The rows of a shard that are dropped as duplicates, from 0."""
    if not job.settings.drops_duplicates:
        return frozenset()
    return frozenset(msgspec.json.decode(part_path(job, shard.output, "duplicates").read_bytes(), type=list[int]))


# -- lines ------------------------------------------------------------------------------------------------------------


def _lines(shard: Shard) -> Iterator[bytes]:
    """The lines of a shard; with a limit, up to that many that are not blank."""
    left = shard.limit
    for line in lines_of(shard):
        yield line
        if left is not None and line.strip():
            left -= 1
            if not left:
                return


def _run_lines(job: Job, shard: Shard, writer: _Writer) -> None:
    settings = job.settings
    keeps_rows = settings.command != "stats"
    opened = new_file(Path(job.out, shard.output), shard.compression) if keeps_rows else nullcontext()
    with opened as output:
        for line in _lines(shard):
            if not line.strip() or writer.dropped_among(1)[0]:
                writer.skip(bool(line.strip()))
                continue
            row, outcome = _work_on_line(line, settings)
            writer.add(outcome, partial(_original, line, row))
            if output is not None and row is not None and outcome.rejected is None:
                output.write(_written(row, outcome, settings))


def _work_on_line(line: bytes, settings: Settings) -> tuple[dict[str, Raw] | None, Outcome]:
    try:
        row = _columns(line)
    except FormatError as error:
        return None, reject(error)
    return row, work_on(partial(read_line, line, row, settings.column), settings)


def _columns(line: bytes) -> dict[str, Raw]:
    try:
        return _read_columns(line.removeprefix(BYTE_ORDER_MARK))
    except UNREADABLE:
        document = read_document(line.removeprefix(BYTE_ORDER_MARK))  # raises if it is not JSON
    if isinstance(document, list):  # a bare list of messages
        document = {"messages": document}
    if not isinstance(document, dict):
        raise FormatError("a row is a JSON object, or a list of messages")
    return {name: Raw(json_text(value).encode()) for name, value in document.items()}


def _original(line: bytes, row: object) -> Any:
    return line.decode("utf-8", "replace").rstrip("\r\n") if row is None else Raw(line.strip())


def _written(row: dict[str, Raw], outcome: Outcome, settings: Settings) -> bytes:
    columns: dict[str, Any] = dict(row)
    if outcome.result is not None:
        name = written_to(outcome.columns)
        columns = {
            written: value for written, value in columns.items() if written == name or written not in outcome.columns
        }
        columns[name] = Raw(outcome.result)
    return msgspec.json.encode(columns | added_values(outcome, settings)) + b"\n"


# -- tables -----------------------------------------------------------------------------------------------------------


def _tables(shard: Shard) -> Iterator["pa.Table"]:
    import pyarrow as pa
    import pyarrow.parquet as parquet

    left = shard.limit
    with parquet.ParquetFile(shard.path, pre_buffer=False) as file:
        for batch in file.iter_batches(ROWS, row_groups=range(shard.start, shard.end), use_threads=False):
            table = pa.Table.from_batches([batch])
            if left is not None:
                table = table.slice(0, left)
                left -= table.num_rows
            yield table
            if left == 0:
                return


def _run_table(job: Job, shard: Shard, writer: _Writer) -> None:
    tables = _worked_on(job, shard, writer)
    if job.settings.command == "stats":
        for _ in tables:
            pass
    elif first := next(tables, None):
        with unfinished(Path(job.out, shard.output)) as temporary:
            _write_tables(chain([first], tables), shard, temporary)


def _worked_on(job: Job, shard: Shard, writer: _Writer) -> Iterator["pa.Table"]:
    import pyarrow as pa

    from .tables import changed_table, outcomes_of_table

    settings, target = job.settings, tuple[str, ...]()
    for table in _tables(shard):
        dropped = writer.dropped_among(table.num_rows)
        if any(dropped):
            table = table.filter(pa.array([not each for each in dropped], pa.bool_()))
        outcomes = outcomes_of_table(table, settings)
        at = 0
        for is_dropped in dropped:
            if is_dropped:
                writer.skip(True)
            else:
                writer.add(outcomes[at], partial(_row, table, at))
                at += 1
        target = target or target_of(outcomes)
        kept = changed_table(table, outcomes, settings, target, keeps_rejected=False)
        if kept.num_rows:
            yield kept


def _row(table: "pa.Table", at: int) -> Any:
    return table.slice(at, 1).to_pylist(maps_as_pydicts="lossy")[0]


def _write_tables(tables: Iterable["pa.Table"], shard: Shard, path: Path) -> None:
    """Write tables as one Parquet file with the compression of the original, a few at a time."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    metadata = parquet.read_metadata(shard.path)
    compression = metadata.row_group(0).column(0).compression.lower() if metadata.num_columns else "none"
    tables = iter(tables)
    writer = None
    while group := list(islice(tables, GROUP_ROWS // ROWS)):
        table = pa.concat_tables(group)
        writer = writer or parquet.ParquetWriter(
            path, table.schema, compression="none" if compression == "uncompressed" else compression
        )
        writer.write_table(table)
    if writer is not None:
        writer.close()


# -- digests ----------------------------------------------------------------------------------------------------------


def _digests(job: Job, shard: Shard) -> Iterator[bytes]:
    """The digests of the rows of a shard, without any other work."""
    column = job.settings.column
    if shard.container == "parquet":
        from .tables import rows_of

        for table in _tables(shard):
            for row in rows_of(table, column):
                yield _digest(partial(read_row, row, column, from_arrow=True))
        return
    for line in _lines(shard):
        yield _digest(partial(_read_whole_line, line, column)) if line.strip() else NO_DIGEST


def _read_whole_line(line: bytes, column: str | None) -> Found:
    return read_line(line, _columns(line), column)


def _digest(read: Callable[[], Found]) -> bytes:
    try:
        return digest_of(read().context)
    except FormatError:
        return NO_DIGEST
