"""Files for what is too long for a history: private to the user, named by what is in them, and not kept for ever."""

import hashlib
import os
import re
import stat
import tempfile
import time
import uuid
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path

from .limits import ToolLimits

_OUTPUT = re.compile(r"[0-9a-f]{16}\.[a-z]{1,5}")
_UNFINISHED = re.compile(r"\.[0-9a-f]{32}")
_LEFT = 24 * 3600
"""Seconds after which nobody writes to an unfinished file any more: its process was killed."""


def folder(limits: ToolLimits) -> Path:
    """Where whole outputs are kept. It is made when it is first needed; an ``OSError`` if that cannot be."""
    if limits.directory is None:
        return _private()
    made = Path(limits.directory).expanduser().absolute()
    made.mkdir(mode=0o700, parents=True, exist_ok=True)
    return made


def keep(parts: Iterable[bytes], suffix: str, limits: ToolLimits) -> Path:
    """Write ``parts`` to a file that is named after its content: the same output is kept once, under one name."""
    there = folder(limits)
    digest = hashlib.sha256()
    unfinished = there / f".{uuid.uuid4().hex}"
    try:
        with open(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            for part in parts:
                digest.update(part)
                file.write(part)
        kept = there / f"{digest.hexdigest()[:16]}{suffix}"
        unfinished.replace(kept)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    prune(there, limits, time.time(), kept)
    return kept


def prune(there: Path, limits: ToolLimits, now: float, spared: Path | None = None) -> None:
    """Delete outputs that are too old, and the oldest of those that are too many; files of others are left alone."""
    found: list[tuple[float, int, Path]] = []
    with suppress(OSError), os.scandir(there) as entries:
        for entry in entries:
            with suppress(OSError):
                about = entry.stat(follow_symlinks=False)
                if not stat.S_ISREG(about.st_mode):
                    continue
                if _OUTPUT.fullmatch(entry.name):
                    found.append((about.st_mtime, about.st_size, there / entry.name))
                elif _UNFINISHED.fullmatch(entry.name) and now - about.st_mtime > _LEFT:
                    os.unlink(entry.path)
    room = limits.kept_bytes
    for changed, size, file in sorted(found, key=lambda each: (each[2] != spared, -each[0], each[2].name)):
        room -= size
        if file != spared and (room < 0 or now - changed > limits.kept_seconds):
            with suppress(OSError):  # another process may have been quicker
                file.unlink()


def _private() -> Path:
    """A folder in the temporary one that is ours alone: another user may have taken the name, or put a link there."""
    user = f"-{os.getuid()}" if hasattr(os, "getuid") else ""
    made = Path(tempfile.gettempdir()) / f"segue-outputs{user}"
    try:
        made.mkdir(mode=0o700, exist_ok=True)
        found = made.lstat()
    except OSError:
        return _of_this_process()
    ours = not hasattr(os, "getuid") or (found.st_uid == os.getuid() and not found.st_mode & 0o077)
    return made if stat.S_ISDIR(found.st_mode) and ours else _of_this_process()


@cache
def _of_this_process() -> Path:
    return Path(tempfile.mkdtemp(prefix="segue-outputs-"))
