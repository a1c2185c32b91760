"""The files of a corpus, and the shards that they are divided into. A file's container is recognised by its content."""

import os
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ..errors import FormatError, SettingError
from ..transcripts import Source, recognised
from ..types import first_lines
from ..types.codec import BYTE_ORDER_MARK, UNREADABLE, read_json
from .containers import Compression, compression_of, open_lines
from .lines import parts_of
from .reading import read_row
from .transcripts import transcript_lines

Container = Literal["lines", "parquet", "transcripts"]
SHARD_BYTES = 16 << 20
"""The size of a shard, at most."""
LEAST_SHARD_BYTES = 1 << 20
SHARDS = 64
"""The number of shards of a small corpus: enough for all cores to end at about the same time. It does not depend on the
machine, so that a run can be continued on another one."""
PARQUET = b"PAR1"
ENDINGS = (".jsonl", ".ndjson", ".json", ".parquet")
"""Names of files in a directory that are read; also with .gz or .zst."""
COMPRESSED = {".gz", ".zst", ".zstd"}


class Shard(Struct, frozen=True):
    """A part of a file that is one task: bytes of lines, row groups of Parquet, or the conversations that another tool
    stored in the file. ``output`` is the name of its result below the output directory."""

    path: str
    output: str
    container: Container
    start: int
    end: int
    size: int
    compression: Compression = ""
    limit: int | None = None


def find_files(inputs: Iterable[str]) -> dict[str, str]:
    """All files, and the names of their results: those of a directory, or the file itself."""
    found: dict[str, str] = {}
    for given in inputs:
        path = Path(given)
        if path.is_dir():
            files = sorted(file for file in path.rglob("*") if file.is_file() and _is_data(file, path))
            names = [str(file.relative_to(path)) for file in files]
            if not files:
                raise SettingError(f"{given} has no files whose names end in {', '.join(ENDINGS)}")
        else:
            path.stat()  # an error that names the file, if it does not exist
            files, names = [path], [path.name]
        for file, name in zip(files, names, strict=True):
            found[str(file)] = _unused(name, set(found.values()))
    return found


def _is_data(file: Path, below: Path) -> bool:
    parts = file.relative_to(below).parts
    name = file.with_suffix("").name if file.suffix in COMPRESSED else file.name
    return name.endswith(ENDINGS) and not any(part.startswith(".") for part in parts)


def _unused(name: str, used: set[str]) -> str:
    stem, ending = split_name(name)
    count, free = 1, name
    while free in used:
        count += 1
        free = f"{stem}.{count}{ending}"
    return free


def split_name(name: str) -> tuple[str, str]:
    """The name of a file without its ending, and the ending: ``.jsonl``, ``.jsonl.gz``, ``.parquet``."""
    path, last = Path(name), ""
    if path.suffix in COMPRESSED:
        path, last = path.with_suffix(""), path.suffix
    return str(path.with_suffix("")), path.suffix + last


def plan(files: dict[str, str], limit: int | None = None, shard_bytes: int | None = None) -> list[Shard]:
    """Divide the files into shards, in order; with a limit, only the first rows."""
    shard_bytes = shard_bytes or _shard_bytes(sum(map(os.path.getsize, files)))
    shards = [shard for path, name in files.items() for shard in _shards(path, name, shard_bytes)]
    return shards if limit is None else list(_first(shards, limit))


def _shard_bytes(total: int) -> int:
    return max(LEAST_SHARD_BYTES, min(SHARD_BYTES, total // SHARDS))


def _shards(path: str, name: str, shard_bytes: int) -> Iterator[Shard]:
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        magic = file.read(4)
    stem, ending = split_name(name)
    if magic == PARQUET:
        if find_spec("pyarrow") is None:
            raise SettingError(f"{path} is a Parquet file; pip install 'segue[bulk]' to read it")
        groups = _row_groups(path, shard_bytes)
        for index, (start, end, length) in enumerate(groups):
            yield Shard(path, f"{stem}-{index:05d}{ending}", "parquet", start, end, length)
        return
    compression = compression_of(magic)
    if compression:  # cannot be read from the middle
        yield Shard(path, f"{stem}-00000{ending}", "lines", 0, size, size, compression)
        return
    if is_transcript(path):
        yield Shard(path, f"{stem}-00000.jsonl", "transcripts", 0, size, size)
        return
    for index, part in enumerate(parts_of(path, shard_bytes)):
        yield Shard(
            path, f"{stem}-{index:05d}{ending or '.jsonl'}", "lines", part.start, part.end, part.end - part.start
        )


def is_transcript(path: str) -> bool:
    """Whether another tool stored its conversations in a file, and its lines cannot be read one by one."""
    source = Source(path)
    form = recognised(source)
    if form is None:
        return False
    return not ((form.in_rows or form.is_plain(source)) and _has_rows(path))


def _has_rows(path: str) -> bool:
    """Whether a line at the beginning of a file holds a whole conversation."""
    with open(path, "rb") as file:
        head = [line for line in first_lines(iter(file)) if line.strip()]
    for line in head:
        try:
            row = read_json(line.removeprefix(BYTE_ORDER_MARK))
            read_row(row if isinstance(row, dict) else {"messages": row})
            return True
        except (*UNREADABLE, FormatError):
            continue
    return False


def _row_groups(path: str, shard_bytes: int) -> Iterator[tuple[int, int, int]]:
    """Neighbouring row groups that are together about as large as a shard: the first, the end, the bytes."""
    import pyarrow.parquet as parquet

    metadata = parquet.read_metadata(path)
    start = size = 0
    for group in range(metadata.num_row_groups):
        size += metadata.row_group(group).total_byte_size
        if size >= shard_bytes:
            yield start, group + 1, size
            start, size = group + 1, 0
    if start < metadata.num_row_groups:
        yield start, metadata.num_row_groups, size


def _first(shards: Iterable[Shard], limit: int) -> Iterator[Shard]:
    left = limit
    for shard in shards:
        if left <= 0:
            return
        rows = count_rows(shard, left)
        yield replace(shard, limit=left) if rows >= left else shard
        left -= rows


def lines_of(shard: Shard) -> Iterator[bytes]:
    """The lines of a shard that is not Parquet; those of a transcript are made from it."""
    if shard.container == "transcripts":
        return transcript_lines(shard.path)
    return open_lines(shard.path, shard.compression, shard.start, shard.end)


def count_rows(shard: Shard, enough: int) -> int:
    """The rows of a shard; of lines, those that are not blank, counted until there are enough."""
    if shard.container == "parquet":
        import pyarrow.parquet as parquet

        metadata = parquet.read_metadata(shard.path)
        return sum(metadata.row_group(group).num_rows for group in range(shard.start, shard.end))
    count = 0
    for line in lines_of(shard):
        count += bool(line.strip())
        if count == enough:
            break
    return count
