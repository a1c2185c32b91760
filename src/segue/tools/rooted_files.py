"""Files below a root, reached so that nothing leads out of it.

A path is walked one name at a time, from an open descriptor of the root, and no step follows a link by itself: a link
is read and its target walked in the same way. So a link that somebody swaps in while a path is walked leads nowhere,
which a check of the whole path before it is opened could not promise. A hard link is a file of the root like any other.
"""

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from msgspec import Struct

from ..errors import SettingError
from .posix import check_posix

_MOST_LINKS = 40
_DEEPEST = 200
_LONGEST = 4096
_READ = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0)
# A pipe or a terminal below the root must neither hold us nor become ours: it is opened without waiting, then refused.
_FILE = _READ | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
_DIRECTORY = _READ | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_DIRECTORY", 0)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


class Place(Struct, frozen=True):
    """Where a path led: an open directory and a name in it that is no link; no name: the directory itself."""

    directory: int
    name: str


class Entry(Struct, frozen=True):
    """What stands in a directory. ``kind``: "file", "directory", "link" or "other"."""

    name: str
    kind: str


class Root(Struct, frozen=True):
    """A directory that paths cannot leave. ``given``: as it was named, ``path``: without links."""

    given: str
    path: str

    @contextmanager
    def place(self, path: str, *, make: bool = False) -> Iterator[Place]:
        """Where ``path`` leads. ``make``: directories on the way are made if they are not there."""
        if len(path) > _LONGEST:
            raise OSError(f"{_shown(path)} is too long for a path")
        held = [os.open(self.path, _READ | getattr(os, "O_DIRECTORY", 0))]
        try:
            name = self._walk(path, held, make)
            yield Place(held[-1], name)
        finally:
            for descriptor in held:
                os.close(descriptor)

    def open(self, path: str) -> BinaryIO:
        """A regular file, open for reading."""
        with self.place(path) as place:
            if not place.name:
                raise IsADirectoryError(f"{_shown(path)} is a directory")
            return os.fdopen(_opened_file(place, path), "rb")

    def is_directory(self, path: str) -> bool:
        """Whether ``path`` leads to a directory; an error if it leads nowhere."""
        with self.place(path) as place:
            if not place.name:
                return True
            try:
                found = os.stat(place.name, dir_fd=place.directory, follow_symlinks=False)
            except FileNotFoundError:
                raise FileNotFoundError(f"there is no {_shown(path)}") from None
            return stat.S_ISDIR(found.st_mode)

    def entries(self, path: str) -> list[Entry]:
        """What stands in a directory, by name."""
        with self.place(path) as place:
            inner = _opened_directory(place.directory, place.name, path) if place.name else os.dup(place.directory)
            try:
                with os.scandir(inner) as found:
                    return sorted((Entry(each.name, _kind(each)) for each in found), key=lambda each: each.name)
            finally:
                os.close(inner)

    def write(self, path: str, data: bytes) -> bool:
        """Put a whole file in place in one step: a reader sees the old one or the new one. True for a new file."""
        with self.place(path, make=True) as place:
            if not place.name:
                raise IsADirectoryError(f"{_shown(path)} is a directory")
            mode = _mode_of_old(place, path)
            temporary = f".segue-{secrets.token_hex(8)}.tmp"
            try:
                with os.fdopen(os.open(temporary, _NEW, 0o666, dir_fd=place.directory), "wb") as file:
                    if mode is not None:
                        os.fchmod(file.fileno(), mode)
                    file.write(data)
                os.rename(temporary, place.name, src_dir_fd=place.directory, dst_dir_fd=place.directory)
            except BaseException:
                with suppress(OSError):
                    os.unlink(temporary, dir_fd=place.directory)
                raise
            return mode is None

    def _walk(self, path: str, held: list[int], make: bool) -> str:
        """Go along ``path``: ``held`` ends with the directory that was reached. The name in it, or "" for itself."""
        waiting = self._names(path, path)
        links = 0
        while waiting:
            name = waiting.pop(0)
            if name == "..":
                if len(held) == 1:
                    raise _outside(path)
                os.close(held.pop())
                continue
            target = _link(held[-1], name)
            if target is not None:
                links += 1
                if links > _MOST_LINKS:
                    raise OSError(f"{_shown(path)} goes through too many links")
                if os.path.isabs(target):
                    while len(held) > 1:
                        os.close(held.pop())
                waiting[:0] = self._names(target, path)
            elif not waiting:
                return name
            elif len(held) > _DEEPEST:
                raise OSError(f"{_shown(path)} is nested too deeply")
            else:
                held.append(_next_directory(held[-1], name, path, make))
        return ""

    def _names(self, path: str, asked: str) -> list[str]:
        """The names to walk from the root (an absolute path) or from where one stands (a relative one)."""
        names = [name for name in path.split("/") if name not in ("", ".")]
        if not os.path.isabs(path):
            return names
        for root in (self.path, self.given):
            above = [name for name in root.split("/") if name]
            if names[: len(above)] == above:
                return names[len(above) :]
        raise _outside(asked)


def root_at(path: str | os.PathLike[str]) -> Root:
    """The root at ``path``, which must be a directory."""
    check_posix("tools for files", os.open in os.supports_dir_fd)
    given = os.path.abspath(path)
    if not os.path.isdir(given):
        raise SettingError(f"the root of the tools is no directory: {given}")
    return Root(given, os.path.realpath(given))


def _link(directory: int, name: str) -> str | None:
    try:
        return os.readlink(name, dir_fd=directory)
    except OSError as error:
        if error.errno in (errno.EINVAL, errno.ENOENT):  # no link, or nothing at all
            return None
        raise


def _next_directory(directory: int, name: str, path: str, make: bool) -> int:
    if make:
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=directory)
    return _opened_directory(directory, name, path)


def _opened_directory(directory: int, name: str, path: str) -> int:
    try:
        return os.open(name, _DIRECTORY, dir_fd=directory)
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no {_shown(path)}") from None
    except NotADirectoryError:
        raise NotADirectoryError(f"{_shown(path)}: {_shown(name)} is no directory") from None


def _opened_file(place: Place, path: str) -> int:
    try:
        descriptor = os.open(place.name, _FILE, dir_fd=place.directory)
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no file {_shown(path)}") from None
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return descriptor
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(f"{_shown(path)} is a directory")
    raise OSError(f"{_shown(path)} is no regular file")


def _mode_of_old(place: Place, path: str) -> int | None:
    """The permissions of the file that will be replaced; None if there is none yet."""
    try:
        old = os.stat(place.name, dir_fd=place.directory, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(old.st_mode):
        raise IsADirectoryError(f"{_shown(path)} is a directory")
    if not stat.S_ISREG(old.st_mode):
        raise OSError(f"{_shown(path)} is no regular file")
    if not os.access(place.name, os.W_OK, dir_fd=place.directory):
        raise PermissionError(f"{_shown(path)} may not be written")
    return old.st_mode & 0o777


def _kind(entry: "os.DirEntry[str]") -> str:
    if entry.is_symlink():
        return "link"
    if entry.is_dir(follow_symlinks=False):
        return "directory"
    return "file" if entry.is_file(follow_symlinks=False) else "other"


def _outside(path: str) -> PermissionError:
    return PermissionError(f"{_shown(path)} is outside the root; only paths below it can be used")


def _shown(path: str) -> str:
    return path if len(path) <= 200 else path[:200] + "…"
