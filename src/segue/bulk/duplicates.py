"""Rows whose conversations are equal, found by the digests that the shards have written: 16 bytes for each row.

Digests are distributed over files by their value, so that equal ones are in the same file, and one of these files is in
memory at a time. The whole corpus needs one bit of memory for each row.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from .containers import new_file
from .shards import NO_DIGEST
from .work import DIGEST_BYTES

IN_MEMORY = 1 << 15
"""Digests that are in memory at a time; more, if the corpus is so large that ``MOST_FILES`` are not enough."""
MOST_FILES = 128
"""Files that are open at a time: far fewer than a process may open on any common system."""
ROW_BYTES = 8
RECORD = DIGEST_BYTES + ROW_BYTES


def count_duplicates(files: Sequence[Path]) -> int:
    """How many rows have the same conversation as an earlier one."""
    return sum(map(int.bit_count, _repeated(files)))


def write_duplicates(files: Sequence[tuple[Path, Path]]) -> None:
    """Write the rows to be dropped of every shard: all that have the same conversation as an earlier row."""
    repeated = _repeated([digests for digests, _ in files])
    begin = 0
    for digests, target in files:
        count = _count(digests)
        rows = [at for at in range(count) if repeated[begin + at >> 3] >> (begin + at & 7) & 1]
        with new_file(target) as file:
            file.write(msgspec.json.encode(rows))
        begin += count


def _repeated(files: Sequence[Path]) -> bytearray:
    """A bit for each row, in order: whether an earlier row has the same digest."""
    total = sum(map(_count, files))
    repeated = bytearray(total + 7 >> 3)
    with TemporaryDirectory(dir=files[0].parent if files else None) as folder:
        for path in _distribute(files, Path(folder), min(1 + total // IN_MEMORY, MOST_FILES)):
            seen: set[bytes] = set()
            for record in _pieces(path, RECORD):
                digest = record[:DIGEST_BYTES]
                if digest in seen:
                    row = int.from_bytes(record[DIGEST_BYTES:], "little")
                    repeated[row >> 3] |= 1 << (row & 7)
                seen.add(digest)
    return repeated


def _distribute(files: Sequence[Path], folder: Path, count: int) -> list[Path]:
    """Write digests with the numbers of their rows to files, by the value of the digest; in each, rows are in order."""
    paths = [folder / str(at) for at in range(count)]
    with ExitStack() as stack:
        opened = [stack.enter_context(path.open("wb")) for path in paths]
        row = 0
        for file in files:
            for digest in _pieces(file, DIGEST_BYTES):
                if digest != NO_DIGEST:
                    at = int.from_bytes(digest[:2], "little") % count
                    opened[at].write(digest + row.to_bytes(ROW_BYTES, "little"))
                row += 1
    return paths


def _pieces(path: Path, size: int) -> Iterator[bytes]:
    with path.open("rb") as file:
        while data := file.read(size << 12):
            for at in range(0, len(data), size):
                yield data[at : at + size]


def _count(digests: Path) -> int:
    return digests.stat().st_size // DIGEST_BYTES
