"""Fields of a file that a reader neither carries over nor reports: a change of their value makes no difference."""

import copy
import tempfile
from collections.abc import Container, Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

import segue
from segue import transcripts

from .transcripts import lay_out

WHOLE_ROW = frozenset({"row-left-out", "row-unknown", "row-repeated", "row-incomplete", "older-form"})
"""Remarks that report everything in a row."""
Path_ = tuple[Any, ...]


def silent_fields(cases: Iterable[dict[str, Any]], known: Container[str] = ()) -> set[str]:
    """The silent fields of the cases of a format, as dotted names without positions and ids, apart from ``known``."""
    loud: set[str] = set()
    silent: set[str] = set()
    for case in cases:
        first, reported = _read(case), _reported(case)
        for path in _leaves(case["files"]):
            name = _name(path)
            if not name or name in loud or name in known or (path[0].endswith(".jsonl") and path[1] + 1 in reported):
                continue
            changes_something = any(_read(changed) != first for changed in _changed(case, path))
            (loud if changes_something else silent).add(name)
    return silent - loud


def _read(case: dict[str, Any]) -> bytes | None:
    """Everything that is read of a case, as JSON; ``None`` if it is refused."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            found = transcripts.read(lay_out(case, Path(folder)), case.get("id"))
        except segue.SegueError:
            return None
        return msgspec.json.encode(found).replace(folder.encode(), b"")


def _reported(case: dict[str, Any]) -> set[int]:
    """The numbers of the lines that are reported as a whole."""
    with tempfile.TemporaryDirectory() as folder:
        found = transcripts.read(lay_out(case, Path(folder)), case.get("id"))
        return {each.line for each in found.changes if each.line is not None and each.code in WHOLE_ROW}


def _leaves(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    """The places of all values that hold no others."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    places = [(*path, key) for key, _ in inner]
    if not places and len(path) > 1 and isinstance(path[-1], str):
        yield path
    for place in places:
        yield from _leaves(value[place[-1]], place)


def _name(path: Path_) -> str:
    """Keys that are ids, and the names of members of a zip file, are left out."""
    keys = [each for each in path[1:] if isinstance(each, str) and not each.endswith(".json")]
    keys = keys[1:] if keys[:1] == ["samples"] else keys  # of a log that is one document
    return ".".join("*" if at and keys[at - 1] in ("mapping", "attachments") else key for at, key in enumerate(keys))


def _changed(case: dict[str, Any], path: Path_) -> Iterator[dict[str, Any]]:
    """The case without the field, and with another value of it."""
    is_cell = path[0].endswith(".db") and len(path) == 4
    for other in _others(_at(case["files"], path)):
        value = None if is_cell and other is _GONE else other  # all rows of a table have the same columns
        yield {**case, "files": _replaced(case["files"], path, value)}


_GONE = object()
_WORDS = ("max_tokens", "length", "error", "aborted")
"""Values of stop reasons and states that mean something in most formats."""


def _others(value: Any) -> Iterator[Any]:
    yield _GONE
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int | float):
        yield value + 1
    elif isinstance(value, str):
        yield f"{value}~"
        yield from _WORDS if value.isidentifier() else ()
    elif value is None:
        yield "~"


def _at(value: Any, path: Path_) -> Any:
    for key in path:
        value = value[key]
    return value


def _replaced(value: Any, path: Path_, other: Any) -> Any:
    key, *rest = path
    new = copy.copy(value)
    if rest:
        new[key] = _replaced(value[key], tuple(rest), other)
    elif other is _GONE:
        del new[key]
    else:
        new[key] = other
    return new
