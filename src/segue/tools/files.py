"""Tools for files below a root: read, write, edit, list and search. How a path stays below it: see ``rooted_files``."""

import os
import threading

from msgspec import Struct

from ..types import ToolResultMessage
from ..types.text import scrub
from .file_contents import image, looks_like_image, page
from .patterns import below, matches, names_of, walk
from .rooted_files import Root, root_at
from .search import searched
from .tool import Tool, tool

_MOST_LISTED = 1_000
_LARGEST_EDIT = 50_000_000
_EDITING = threading.Lock()  # an edit reads, then writes: two at a time would lose one


def file_tools(root: str | os.PathLike[str]) -> list[Tool]:
    """``read_file``, ``write_file``, ``edit_file``, ``list_files`` and ``search_files``, all of them below ``root``.

    What changes a file asks for approval and runs alone, so that the calls of an answer happen in their order.
    """
    files = Files(root_at(root))
    return [
        tool(files.read_file),
        tool(files.write_file, approval=True, alone=True),
        tool(files.edit_file, approval=True, alone=True),
        tool(files.list_files),
        tool(files.search_files, timeout=60),
    ]


class Files(Struct, frozen=True):
    """The functions behind the tools."""

    root: Root

    def read_file(self, path: str, first_line: int = 1, lines: int = 2000) -> str | bytes:
        """Read a text file, or look at an image. Long files come in pages.

        Args:
            path: The file, relative to the root.
            first_line: The first line to read, counted from 1.
            lines: How many lines to read at most.
        """
        if first_line < 1 or lines < 1:
            raise ValueError("first_line and lines must be at least 1")
        with self.root.open(path) as file:
            return image(file, path) if looks_like_image(file) else page(file, path, first_line, lines)

    def write_file(self, path: str, content: str) -> str:
        """Write a file: a new one, or in place of what is there. Folders on the way are made.

        Args:
            path: The file, relative to the root.
            content: The whole new content.
        """
        data = scrub(content).encode()
        with _EDITING:
            new = self.root.write(path, data)
        return f"{'made' if new else 'replaced'} {path} ({len(data)} bytes)"

    def edit_file(self, path: str, old: str, new: str, everywhere: bool = False) -> str:
        """Replace a piece of a text file by another.

        Args:
            path: The file, relative to the root.
            old: The text to replace, exactly as it stands in the file, with as much around it as makes it unique.
            new: The text to put there.
            everywhere: Replace every place where it stands, not just one.
        """
        if not old:
            raise ValueError("old is empty: give the text to replace, or write the whole file with write_file")
        with _EDITING:
            with self.root.open(path) as file:
                before = file.read(_LARGEST_EDIT + 1)
            if len(before) > _LARGEST_EDIT:
                raise ValueError(f"{path} is larger than {_LARGEST_EDIT:,} bytes, too large to edit")
            after, count = _edited(before, scrub(old).encode(), scrub(new).encode(), everywhere, path)
            self.root.write(path, after)
        return f"edited {path} ({count} place{'s' if count > 1 else ''})"

    def list_files(self, path: str = ".", pattern: str = "*") -> str:
        """List files and folders; folders end in a slash. Folders such as .git and node_modules are not looked into.

        Args:
            path: The folder to look into, relative to the root.
            pattern: Which names to list: * for all in the folder, **/*.py for all Python files below it.
        """
        wanted = names_of(pattern)
        told: list[str] = []
        for names, kind in walk(self.root, path, None if "**" in wanted else len(wanted)):
            if not matches(names, wanted):
                continue
            if len(told) == _MOST_LISTED:
                told.append(f"[there are more than {_MOST_LISTED}: use a narrower path or pattern]")
                break
            told.append(below(path, names) + {"directory": "/", "link": " (link)"}.get(kind, ""))
        return scrub("\n".join(told)) or "(nothing found)"

    async def search_files(
        self, pattern: str, path: str = ".", files: str = "**", ignore_case: bool = False
    ) -> ToolResultMessage:
        """Search text files for a regular expression, line by line. Folders such as .git are not looked into.

        Args:
            pattern: The regular expression, as Python has them.
            path: The folder or file to search, relative to the root.
            files: Which files to search: *.py for all of that name, src/**/*.py for a part of them.
            ignore_case: Take capital and small letters for the same.
        """
        return await searched(self.root, pattern=pattern, path=path, files=files, ignore_case=ignore_case)


def _edited(before: bytes, old: bytes, new: bytes, everywhere: bool, path: str) -> tuple[bytes, int]:
    """The file with the edit made, and in how many places. Bytes that are no text stay as they are."""
    if old not in before and b"\r\n" in before:  # models write \n, whatever the ends of the file's lines
        old, new = (piece.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n") for piece in (old, new))
    count = before.count(old)
    if count == 0:
        raise ValueError(f"the text to replace does not stand in {path}; read the file and give it exactly")
    if count > 1 and not everywhere:
        raise ValueError(
            f"the text to replace stands {count} times in {path}; give more of what is around it, or set everywhere"
        )
    return before.replace(old, new), count
