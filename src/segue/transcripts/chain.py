"""Rows that name the row before them: the chain from the last row to the root, and the branches beside it."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from ..types import Context, Message
from .source import Object
from .values import Branch, Compaction, Report, seen


class Link(Struct, frozen=True, gc=False):
    """A row, its id, and the id of the row before it."""

    line: int
    id: str
    parent: str | None
    row: Object


class Chain:
    """All rows of a file. Of rows with the same id, the first one counts."""

    def __init__(self, links: Sequence[Link], report: Report) -> None:
        self.links: list[Link] = []
        numbers: dict[str, int] = {}
        for link in links:
            if link.id in numbers:
                report.add("row-repeated", f"a copy of row {link.id}", link.line)
            else:
                numbers[link.id] = len(self.links)
                self.links.append(link)
        self._parents = [self._parent(at, link, numbers, report) for at, link in enumerate(self.links)]

    def _parent(self, at: int, link: Link, numbers: dict[str, int], report: Report) -> int | None:
        if link.parent is None:
            return None
        found = numbers.get(link.parent) if isinstance(link.parent, str) else None
        if found is None or found >= at:
            report.add("parent-missing", f"the row before row {link.id} is not in the file before it", link.line)
            return at - 1 if at else None
        return found

    def path(self, leaf: int) -> list[Link]:
        """The rows from the root to this one."""
        path: list[Link] = []
        at: int | None = leaf
        while at is not None:
            path.append(self.links[at])
            at = self._parents[at]
        return path[::-1]

    def main(self) -> list[Link]:
        """The rows from the root to the last one."""
        return self.path(len(self.links) - 1) if self.links else []

    def others(self) -> list[list[Link]]:
        """The paths to all other rows that no row follows."""
        parents = set(self._parents)
        return [self.path(at) for at in range(len(self.links) - 1) if at not in parents]


def branch_of(identity: str, log: list[Any], main: Sequence[Message | Compaction]) -> Branch | None:
    """A branch; ``None`` if it has nothing that the main conversation does not have."""
    pairs = zip(log, main, strict=False)
    shared = next((at for at, (one, other) in enumerate(pairs) if one != other), min(len(log), len(main)))
    if shared == len(log):
        return None
    return Branch(identity, "branch", Context(seen(log)), shared=shared)
