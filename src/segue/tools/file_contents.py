"""Read from one open file, in bounded memory: a page of lines, the lines that match, or an image."""

import os
import re
from typing import BinaryIO

from .images import image_kind

_PAGE = 40_000  # bytes of a page, below the limit of a result, so that a page is never cut
_MAX_IMAGE = 3_500_000  # as base64 it is a third larger
_MAX_LINE = 300
_CHUNK = 1 << 20  # a longer line is searched in chunks
_START = 8192


def is_image(file: BinaryIO) -> bool:
    """Whether a file begins like an image that models accept."""
    return image_kind(_read_start(file)) is not None


def read_image(file: BinaryIO, path: str) -> bytes:
    """Read a whole image; ``ValueError`` if it is too large."""
    data = file.read(_MAX_IMAGE + 1)
    if len(data) > _MAX_IMAGE:
        raise ValueError(f"{path} is an image of more than {_MAX_IMAGE:,} bytes, too large to look at")
    return data


def read_page(file: BinaryIO, path: str, first: int, count: int) -> str:
    """Read lines of a text file, from line ``first`` on, with a note if there are more."""
    if b"\0" in _read_start(file):
        raise ValueError(f"{path} is binary ({os.fstat(file.fileno()).st_size} bytes), it cannot be read as text")
    skipped = _skip_lines(file, first - 1)
    if skipped < first - 1:
        raise ValueError(f"{path} has only {skipped} line{'' if skipped == 1 else 's'}")
    data, lines, cut = _read_lines(file, count)
    text = data.decode("utf-8-sig" if first == 1 else "utf-8", "replace")
    if not text:
        return "(the file is empty)" if first == 1 else f"({path} ends before line {first})"
    if cut:
        note = f"line {first} is longer than {_PAGE} bytes, this is its beginning; go on with first_line {first + 1}"
        return "{}\n[{}]".format(text.rstrip("\ufffd"), note)
    if not file.read(1):
        return text
    return f"{text}[lines {first} to {first + lines - 1}; there are more: go on with first_line {first + lines}]"


def matching_lines(file: BinaryIO, path: str, expression: re.Pattern[str], limit: int) -> list[str]:
    """The lines of a text file that match, as ``path:number: line``; none for a binary file."""
    found: list[str] = []
    if b"\0" in _read_start(file):
        return found
    number = 1
    while len(found) < limit and (chunk := file.readline(_CHUNK)):
        line = chunk.rstrip(b"\r\n").decode("utf-8", "replace")
        match = expression.search(line)
        if match is not None:
            found.append(f"{path}:{number}: {_excerpt(line, match)}")
        number += chunk.endswith(b"\n")
    return found


def _read_start(file: BinaryIO) -> bytes:
    start = file.read(_START)
    file.seek(0)
    return start


def _skip_lines(file: BinaryIO, lines: int) -> int:
    """Skip lines and return how many there were. The last one may lack its line end."""
    skipped, chunk = 0, b""
    while skipped < lines and (line := file.readline(_CHUNK)):
        chunk = line
        skipped += chunk.endswith(b"\n")
    return skipped + bool(chunk and not chunk.endswith(b"\n"))


def _read_lines(file: BinaryIO, count: int) -> tuple[bytes, int, bool]:
    """Read whole lines, as many as fit on a page. A first line that does not fit is cut.

    Returns the bytes, the number of lines, and whether a line was cut.
    """
    lines: list[bytes] = []
    room = _PAGE
    while len(lines) < count:
        line = file.readline(room + 1)
        if not line:
            break
        if len(line) > room:
            if lines:
                file.seek(-len(line), os.SEEK_CUR)
                break
            return line[:room], 1, True
        lines.append(line)
        room -= len(line)
    return b"".join(lines), len(lines), False


def _excerpt(line: str, match: re.Match[str]) -> str:
    """The line; of a long line, the part around the match."""
    if len(line) <= _MAX_LINE:
        return line
    start = max(0, min(match.start() - _MAX_LINE // 4, len(line) - _MAX_LINE))
    end = start + _MAX_LINE
    return ("…" if start else "") + line[start:end] + ("…" if end < len(line) else "")
