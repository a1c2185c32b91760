"""Files for what is too long for a history: private to the user, named by what is in them."""

import hashlib
import os
import stat
import tempfile
import uuid
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from .limits import Limits


def folder(limits: Limits) -> Path:
    """Where whole outputs are kept. It is made when it is first needed; an ``OSError`` if that cannot be."""
    if limits.directory is None:
        return _private()
    made = Path(limits.directory).expanduser().absolute()
    made.mkdir(mode=0o700, parents=True, exist_ok=True)
    return made


def keep(parts: Iterable[bytes], suffix: str, limits: Limits) -> Path:
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
    return kept


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
