"""Searching files for a regular expression, in a process of its own: some patterns never end, and must be ended."""

import asyncio
import re
from collections.abc import Iterator
from typing import Any

from ..types import ToolDefinition, ToolResultMessage
from ..types.text import scrub
from .file_contents import found_in
from .limits import ToolLimits
from .patterns import below, matches, names_of, walk
from .rooted_files import Root
from .running_call import running_call
from .tool import Tool
from .worker import Worker

_MOST_FOUND = 200


async def searched(root: Root, **wanted: Any) -> ToolResultMessage:
    """What ``search`` finds. Cancelling ends the process."""
    now = running_call()
    worker = Worker(_SEARCH, {"root": root, **wanted}, ToolLimits() if now is None else now.limits, "")
    try:
        ended = await asyncio.to_thread(worker.run)
    except asyncio.CancelledError:
        worker.stop()
        raise
    return ToolResultMessage("", "", ended.content, ended.is_error)


def search(root: Root, pattern: str, path: str, files: str, ignore_case: bool) -> str:
    """The lines in which the pattern is found, as ``path:number: line``."""
    try:
        expression = re.compile(pattern, re.IGNORECASE if ignore_case else 0)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"the pattern is no regular expression: {error}") from None
    found: list[str] = []
    for name in _files(root, path, files):
        found.extend(_found_in(root, name, expression, _MOST_FOUND + 1 - len(found), must=name == path))
        if len(found) > _MOST_FOUND:
            found[_MOST_FOUND:] = [f"[there are more than {_MOST_FOUND}: search for something narrower]"]
            break
    return scrub("\n".join(found)) or "(nothing found)"


def _files(root: Root, path: str, files: str) -> Iterator[str]:
    """The files to search: the one that ``path`` names, or those below it."""
    if not root.is_directory(path):
        yield path
        return
    wanted = names_of(files) if "/" in files else ["**", files]
    for names, kind in walk(root, path):
        if kind == "file" and matches(names, wanted):
            yield below(path, names)


def _found_in(root: Root, path: str, expression: re.Pattern[str], most: int, *, must: bool) -> list[str]:
    try:
        with root.open(path) as file:
            return found_in(file, path, expression, most)
    except OSError:
        if must:
            raise
        return []  # one of many that may not be read, or is gone by now


_SEARCH = Tool(ToolDefinition("search_files"), search, process=True)
