"""File patterns: ``*`` and ``?`` within a name, ``**`` for any number of folders."""

from collections.abc import Iterator
from fnmatch import fnmatchcase

from .rooted_files import Root

SKIPPED_FOLDERS = frozenset(
    {".git", ".hg", ".svn", ".tox", ".nox", ".venv", ".mypy_cache", ".pytest_cache", ".ruff_cache"}
    | {"__pycache__", "node_modules"}
)
"""Folders that ``**`` does not include. They are searched when a path names them."""


def join_path(path: str, names: list[str]) -> str:
    """Join a path and names below it, in the form that the file tools accept."""
    return "/".join([*(name for name in [path.rstrip("/")] if name != "."), *names])


def split_pattern(pattern: str) -> list[str]:
    """Split a pattern into names, one for each level."""
    return [name for name in pattern.split("/") if name not in ("", ".")]


def matches(names: list[str], pattern: list[str]) -> bool:
    """Whether the names of a path match a pattern. Needs at most ``len(names) * len(pattern)`` steps."""
    positions = _with_skips({0}, pattern)
    for name in names:
        stepped = {_advance(at, name, pattern) for at in positions if at < len(pattern)}
        positions = _with_skips(stepped - {None}, pattern)
    return len(pattern) in positions


def _advance(at: int, name: str, pattern: list[str]) -> int | None:
    """The position in the pattern after ``name``; ``None`` if it does not match."""
    if pattern[at] == "**":
        return at
    return at + 1 if fnmatchcase(name, pattern[at]) else None


def _with_skips(positions: "set[int | None] | set[int]", pattern: list[str]) -> set[int]:
    """The positions, and those after each ``**`` that matches no folder."""
    reached: set[int] = set()
    for at in positions:
        while at is not None and at not in reached:
            reached.add(at)
            at = at + 1 if at < len(pattern) and pattern[at] == "**" else None
    return reached


def walk(root: Root, path: str, max_depth: int | None = None) -> Iterator[tuple[list[str], str]]:
    """Yield everything below a directory in order: the names from there, and the kind. Links are not followed."""
    waiting: list[list[str]] = [[]]
    while waiting:
        folder = waiting.pop()
        try:
            entries = root.entries("/".join([path, *folder]))
        except OSError:
            if not folder:
                raise
            continue  # deleted or not readable: the rest is still listed
        folders: list[list[str]] = []
        for entry in entries:
            names = [*folder, entry.name]
            yield names, entry.kind
            if entry.kind == "directory" and entry.name not in SKIPPED_FOLDERS and len(names) != max_depth:
                folders.append(names)
        waiting.extend(reversed(folders))
