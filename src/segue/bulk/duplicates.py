"""Rows whose conversations are equal, found by the digests that the shards have written: 16 bytes for each row."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.compute as compute

from .containers import new_file
from .shards import NO_DIGEST
from .work import DIGEST_BYTES


def count_duplicates(files: Iterable[Path]) -> int:
    """How many rows have the same conversation as an earlier one."""
    digests = _digests(files)
    found = compute.count(digests).as_py() - compute.count_distinct(digests).as_py()
    return int(found)


def write_duplicates(files: Iterable[tuple[Path, Path]]) -> None:
    """Write the rows to be dropped of every shard: all that have the same conversation as an earlier row."""
    pairs = list(files)
    digests = _digests(source for source, _ in pairs)
    table = pa.table({"digest": digests, "row": pa.array(range(len(digests)), pa.int64())})
    firsts = table.filter(compute.is_valid(table["digest"])).group_by("digest").aggregate([("row", "min")])
    kept = set(firsts["row_min"].to_pylist())
    valid = compute.is_valid(digests).to_pylist()
    begin = 0
    for source, target in pairs:
        count = source.stat().st_size // DIGEST_BYTES
        rows = [at for at in range(count) if valid[begin + at] and begin + at not in kept]
        with new_file(target) as file:
            file.write(msgspec.json.encode(rows))
        begin += count


def _digests(files: Iterable[Path]) -> pa.ChunkedArray:
    """All digests in order; null for rows that are not conversations."""
    kind = pa.binary(DIGEST_BYTES)
    chunks = [
        pa.Array.from_buffers(kind, len(data) // DIGEST_BYTES, [None, pa.py_buffer(data)]) for data in _read(files)
    ]
    every = pa.chunked_array(chunks, kind)
    return compute.if_else(compute.equal(every, pa.scalar(NO_DIGEST, kind)), None, every)


def _read(files: Iterable[Path]) -> Iterator[bytes]:
    for file in files:
        yield file.read_bytes()
