"""Search files for a regular expression, in a worker process: some patterns run almost for ever and must be killed."""

import asyncio
import re
from collections.abc import Iterator
from typing import Any

from ..types import ToolDefinition, ToolResultMessage
from ..types.text import scrub
from .file_contents import matching_lines
from .output import OutputBuilder
from .patterns import join_path, matches, split_pattern, walk
from .rooted_files import Root
from .running_call import current_limits
from .tool import Tool
from .worker import Worker

_MAX_FOUND = 200


async def search_in_worker(root: Root, **arguments: Any) -> ToolResultMessage:
    """Run ``search`` in a worker process. A cancellation kills the process."""
    worker = Worker(_SEARCH, {"root": root, **arguments}, OutputBuilder(current_limits()))
    try:
        output = await asyncio.to_thread(worker.run)
    except asyncio.CancelledError:
        worker.stop()
        raise
    return ToolResultMessage("", "", output.content, output.is_error)


def search(root: Root, pattern: str, path: str, files: str, ignore_case: bool) -> str:
    """Return the lines in which the pattern is found, as ``path:number: line``."""
    try:
        expression = re.compile(pattern, re.IGNORECASE if ignore_case else 0)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"the pattern is no regular expression: {error}") from None
    found: list[str] = []
    for name in _files(root, path, files):
        found.extend(_search_file(root, name, expression, _MAX_FOUND + 1 - len(found), required=name == path))
        if len(found) > _MAX_FOUND:
            found[_MAX_FOUND:] = [f"[there are more than {_MAX_FOUND}: search for something narrower]"]
            break
    return scrub("\n".join(found)) or "(nothing found)"


def _files(root: Root, path: str, files: str) -> Iterator[str]:
    """The files to search: the one that ``path`` names, or those below it."""
    if not root.is_directory(path):
        yield path
        return
    wanted = split_pattern(files) if "/" in files else ["**", files]
    for names, kind in walk(root, path):
        if kind == "file" and matches(names, wanted):
            yield join_path(path, names)


def _search_file(root: Root, path: str, expression: re.Pattern[str], limit: int, *, required: bool) -> list[str]:
    try:
        with root.open(path) as file:
            return matching_lines(file, path, expression, limit)
    except OSError:
        if required:
            raise
        return []  # one of many files: not readable, or deleted meanwhile


_SEARCH = Tool(ToolDefinition("search_files"), search, process=True)
