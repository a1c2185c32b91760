"""Files for outputs that are too long for a history: private to the user, named by their content, deleted with time."""

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
_UNFINISHED_SECONDS = 24 * 3600
"""Age at which an unfinished file is deleted: the process that wrote it was killed."""


def output_folder(limits: ToolLimits) -> Path:
    """The folder for whole outputs. It is created when it is first needed; ``OSError`` if that fails."""
    if limits.directory is None:
        return _private_folder()
    folder = Path(limits.directory).expanduser().absolute()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def save(parts: Iterable[bytes], suffix: str, limits: ToolLimits) -> Path:
    """Write ``parts`` to a file that is named by the digest of its content, so that equal outputs share a file."""
    folder = output_folder(limits)
    digest = hashlib.sha256()
    unfinished = folder / f".{uuid.uuid4().hex}"
    try:
        with open(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            for part in parts:
                digest.update(part)
                file.write(part)
        saved = folder / f"{digest.hexdigest()[:16]}{suffix}"
        unfinished.replace(saved)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    prune(folder, limits, time.time(), saved)
    return saved


def describe_saved(parts: Iterable[bytes], suffix: str, limits: ToolLimits) -> str:
    """Save ``parts``, and return a text for the model that names the file or the error."""
    try:
        return f"kept in {save(parts, suffix, limits)}"
    except OSError as error:
        return f"not kept: {error.strerror or error}"


def prune(folder: Path, limits: ToolLimits, now: float, spared: Path | None = None) -> None:
    """Delete outputs that are too old, then the oldest until the rest fits. Other files are left alone."""
    outputs: list[tuple[float, int, Path]] = []
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):
                status = entry.stat(follow_symlinks=False)
                if not stat.S_ISREG(status.st_mode):
                    continue
                if _OUTPUT.fullmatch(entry.name):
                    outputs.append((status.st_mtime, status.st_size, folder / entry.name))
                elif _UNFINISHED.fullmatch(entry.name) and now - status.st_mtime > _UNFINISHED_SECONDS:
                    os.unlink(entry.path)
    room = limits.kept_bytes
    for changed, size, file in sorted(outputs, key=lambda each: (each[2] != spared, -each[0], each[2].name)):
        room -= size
        if file != spared and (room < 0 or now - changed > limits.kept_seconds):
            with suppress(OSError):  # another process may have deleted it
                file.unlink()


def _private_folder() -> Path:
    """A folder in the temporary folder that only this user can use. Another user may have created one of that name."""
    user = f"-{os.getuid()}" if hasattr(os, "getuid") else ""
    folder = Path(tempfile.gettempdir()) / f"segue-outputs{user}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError:
        return _process_folder()
    is_ours = not hasattr(os, "getuid") or (status.st_uid == os.getuid() and not status.st_mode & 0o077)
    return folder if stat.S_ISDIR(status.st_mode) and is_ours else _process_folder()


@cache
def _process_folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="segue-outputs-"))
