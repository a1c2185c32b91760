"""Tools for files below a root: read, write, edit, list and search. ``rooted_files`` keeps paths below the root."""

import os
import threading

from msgspec import Struct

from ..types import ToolResultMessage
from ..types.text import count_of, scrub
from .file_contents import is_image, read_image, read_page
from .patterns import join_path, matches, split_pattern, walk
from .rooted_files import Root, root_at
from .search import search_in_worker
from .tool import Tool, tool

_MAX_LISTED = 1_000
_MAX_EDIT_BYTES = 50_000_000
_EDIT_LOCK = threading.Lock()  # an edit reads, then writes: of two at the same time, one would be lost


def file_tools(root: str | os.PathLike[str]) -> list[Tool]:
    """Return the tools ``read_file``, ``write_file``, ``edit_file``, ``list_files`` and ``search_files`` for ``root``.

    Tools that change files ask for approval and run alone, so that the calls of an answer keep their order.
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
    """The functions of the tools. Their docstrings are the descriptions that models get."""

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
            return read_image(file, path) if is_image(file) else read_page(file, path, first_line, lines)

    def write_file(self, path: str, content: str) -> str:
        """Write a file: a new one, or in place of what is there. Folders on the way are made.

        Args:
            path: The file, relative to the root.
            content: The whole new content.
        """
        data = scrub(content).encode()
        with _EDIT_LOCK:
            is_new = self.root.write(path, data)
        return f"{'made' if is_new else 'replaced'} {path} ({count_of(len(data), 'byte')})"

    def edit_file(self, path: str, old: str, new: str, everywhere: bool = False) -> str:
        """Replace a piece of a text file by another.

        Args:
            path: The file, relative to the root.
            old: The text to replace, exactly as it is in the file, with enough of what is around it to make it unique.
            new: The text to put there.
            everywhere: Replace every occurrence, not just one.
        """
        if not old:
            raise ValueError("old is empty: give the text to replace, or write the whole file with write_file")
        with _EDIT_LOCK:
            with self.root.open(path) as file:
                before = file.read(_MAX_EDIT_BYTES + 1)
            if len(before) > _MAX_EDIT_BYTES:
                raise ValueError(f"{path} is larger than {_MAX_EDIT_BYTES:,} bytes, too large to edit")
            after, count = _replace(before, scrub(old).encode(), scrub(new).encode(), everywhere, path)
            self.root.write(path, after)
        return f"edited {path} ({count} place{'s' if count > 1 else ''})"

    def list_files(self, path: str = ".", pattern: str = "*") -> str:
        """List files and folders; folders end in a slash. Folders such as .git and node_modules are not looked into.

        Args:
            path: The folder to look into, relative to the root.
            pattern: Which names to list: * for all in the folder, **/*.py for all Python files below it.
        """
        wanted = split_pattern(pattern)
        lines: list[str] = []
        for names, kind in walk(self.root, path, None if "**" in wanted else len(wanted)):
            if not matches(names, wanted):
                continue
            if len(lines) == _MAX_LISTED:
                lines.append(f"[there are more than {_MAX_LISTED}: use a narrower path or pattern]")
                break
            lines.append(join_path(path, names) + {"directory": "/", "link": " (link)"}.get(kind, ""))
        return scrub("\n".join(lines)) or "(nothing found)"

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
        return await search_in_worker(self.root, pattern=pattern, path=path, files=files, ignore_case=ignore_case)


def _replace(before: bytes, old: bytes, new: bytes, everywhere: bool, path: str) -> tuple[bytes, int]:
    """Return the edited content and the number of replacements. Bytes that are not valid text stay unchanged."""
    if old not in before and b"\r\n" in before:  # models write \n, also for files with \r\n
        old, new = (piece.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n") for piece in (old, new))
    count = before.count(old)
    if count == 0:
        raise ValueError(f"the text to replace is not in {path}; read the file and pass it exactly")
    if count > 1 and not everywhere:
        raise ValueError(
            f"the text to replace occurs {count} times in {path}; pass more of what is around it, or set everywhere"
        )
    return before.replace(old, new), count
