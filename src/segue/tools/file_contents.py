"""What is read out of one open file, in bounded memory: a page of its lines, the lines that match, an image."""

import os
import re
from typing import BinaryIO

from .images import image_kind

_PAGE = 40_000  # bytes of one page, below the limit of a result: a page is told whole, and the next one asked for
_LARGEST_IMAGE = 3_500_000  # as base64 it is a third more
_WIDEST = 300
_PIECE = 1 << 20  # a longer line is searched in pieces
_BEGIN = 8192


def looks_like_image(file: BinaryIO) -> bool:
    """Whether a file begins as an image does that models can look at."""
    return image_kind(_begin(file)) is not None


def image(file: BinaryIO, path: str) -> bytes:
    """The whole image."""
    data = file.read(_LARGEST_IMAGE + 1)
    if len(data) > _LARGEST_IMAGE:
        raise ValueError(f"{path} is an image of more than {_LARGEST_IMAGE:,} bytes, too large to look at")
    return data


def page(file: BinaryIO, path: str, first: int, count: int) -> str:
    """Lines of a text file, from ``first`` on, with a note if there are more."""
    if b"\0" in _begin(file):
        raise ValueError(f"{path} is binary ({os.fstat(file.fileno()).st_size} bytes), it cannot be read as text")
    skipped = _skip(file, first - 1)
    if skipped < first - 1:
        raise ValueError(f"{path} has only {skipped} line{'' if skipped == 1 else 's'}")
    data, told, cut = _lines(file, count)
    text = data.decode("utf-8-sig" if first == 1 else "utf-8", "replace")
    if not text:
        return "(the file is empty)" if first == 1 else f"({path} ends before line {first})"
    if cut:
        note = f"line {first} is longer than {_PAGE} bytes, this is its beginning; go on with first_line {first + 1}"
        return "{}\n[{}]".format(text.rstrip("\ufffd"), note)
    if not file.read(1):
        return text
    return f"{text}[lines {first} to {first + told - 1}; there are more: go on with first_line {first + told}]"


def found_in(file: BinaryIO, path: str, expression: re.Pattern[str], most: int) -> list[str]:
    """The lines of a text file in which ``expression`` is found, as ``path:number: line``; none for a binary one."""
    found: list[str] = []
    if b"\0" in _begin(file):
        return found
    number = 1
    while len(found) < most and (piece := file.readline(_PIECE)):
        line = piece.rstrip(b"\r\n").decode("utf-8", "replace")
        match = expression.search(line)
        if match is not None:
            found.append(f"{path}:{number}: {_excerpt(line, match)}")
        number += piece.endswith(b"\n")
    return found


def _begin(file: BinaryIO) -> bytes:
    begin = file.read(_BEGIN)
    file.seek(0)
    return begin


def _skip(file: BinaryIO, lines: int) -> int:
    """Go behind that many lines; how many there were. The last one may have no end."""
    skipped, piece = 0, b""
    while skipped < lines and (line := file.readline(_PIECE)):
        piece = line
        skipped += piece.endswith(b"\n")
    return skipped + bool(piece and not piece.endswith(b"\n"))


def _lines(file: BinaryIO, count: int) -> tuple[bytes, int, bool]:
    """Whole lines, as many as fit on a page, and their number; or the beginning of a line that does not fit at all."""
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
    """The line, or what is around the match in a long one."""
    if len(line) <= _WIDEST:
        return line
    begin = max(0, min(match.start() - _WIDEST // 4, len(line) - _WIDEST))
    end = begin + _WIDEST
    return ("…" if begin else "") + line[begin:end] + ("…" if end < len(line) else "")
