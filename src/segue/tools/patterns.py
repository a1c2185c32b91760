"""Which files a pattern means: ``*`` and ``?`` within a name, ``**`` for any number of folders."""

from collections.abc import Iterator
from fnmatch import fnmatchcase

from .rooted_files import Root

MADE_BY_TOOLS = frozenset(
    {".git", ".hg", ".svn", ".tox", ".nox", ".venv", ".mypy_cache", ".pytest_cache", ".ruff_cache"}
    | {"__pycache__", "node_modules"}
)
"""Folders that nobody means by ``**``; they are looked into when a path names them."""


def below(path: str, names: list[str]) -> str:
    """Names below a path, as one path that the other tools take."""
    return "/".join([*(name for name in [path.rstrip("/")] if name != "."), *names])


def names_of(pattern: str) -> list[str]:
    """The names of a pattern, one for each level."""
    return [name for name in pattern.split("/") if name not in ("", ".")]


def matches(names: list[str], pattern: list[str]) -> bool:
    """Whether the names of a path are those of a pattern. Takes names times pattern steps, whatever the pattern."""
    places = _with_skips({0}, pattern)
    for name in names:
        stepped = {_after(place, name, pattern) for place in places if place < len(pattern)}
        places = _with_skips(stepped - {None}, pattern)
    return len(pattern) in places


def _after(place: int, name: str, pattern: list[str]) -> int | None:
    if pattern[place] == "**":
        return place
    return place + 1 if fnmatchcase(name, pattern[place]) else None


def _with_skips(places: "set[int | None] | set[int]", pattern: list[str]) -> set[int]:
    """The places, and those behind a ``**`` that stands for nothing."""
    reached: set[int] = set()
    for place in places:
        while place is not None and place not in reached:
            reached.add(place)
            place = place + 1 if place < len(pattern) and pattern[place] == "**" else None
    return reached


def walk(root: Root, path: str, deepest: int | None = None) -> Iterator[tuple[list[str], str]]:
    """Everything below a directory in order, as names from there and a kind. Links are told, not followed."""
    waiting: list[list[str]] = [[]]
    while waiting:
        folder = waiting.pop()
        try:
            entries = root.entries("/".join([path, *folder]))
        except OSError:
            if not folder:
                raise
            continue  # gone or closed to us in the meantime, which is no reason to tell nothing
        below: list[list[str]] = []
        for entry in entries:
            names = [*folder, entry.name]
            yield names, entry.kind
            if entry.kind == "directory" and entry.name not in MADE_BY_TOOLS and len(names) != deepest:
                below.append(names)
        waiting.extend(reversed(below))
