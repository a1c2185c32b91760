"""Access to files below a root directory that no path can leave.

A path is walked one name at a time, from an open descriptor of the root. The system never follows a link: a link is
read here, and its target is walked in the same way. So a link that is swapped in while a path is walked cannot lead
out of the root, which checking the whole path before opening it could not guarantee. A hard link counts as a file of
the root.
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

_MAX_LINKS = 40
_MAX_DEPTH = 200
_MAX_LENGTH = 4096
_READ = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0)
# Opening a pipe must not block, and a terminal must not become ours: both are opened with these flags, then refused.
_FILE = _READ | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
_DIRECTORY = _READ | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_DIRECTORY", 0)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


class Place(Struct, frozen=True):
    """The end of a path: an open directory and a name in it that is not a link, or the directory itself ("")."""

    directory: int
    name: str


class Entry(Struct, frozen=True):
    """An entry of a directory. ``kind`` is "file", "directory", "link" or "other"."""

    name: str
    kind: str


class Root(Struct, frozen=True):
    """A directory that paths cannot leave. ``name``: as the caller wrote it, ``path``: without links."""

    name: str
    path: str

    @contextmanager
    def resolve(self, path: str, *, make: bool = False) -> Iterator[Place]:
        """Walk ``path`` to its place. ``make``: create missing directories on the way."""
        if len(path) > _MAX_LENGTH:
            raise OSError(f"{_shown(path)} is too long for a path")
        directories = [os.open(self.path, _READ | getattr(os, "O_DIRECTORY", 0))]
        try:
            name = self._walk(path, directories, make)
            yield Place(directories[-1], name)
        finally:
            for descriptor in directories:
                os.close(descriptor)

    def open(self, path: str) -> BinaryIO:
        """Open a regular file for reading."""
        with self.resolve(path) as place:
            if not place.name:
                raise IsADirectoryError(f"{_shown(path)} is a directory")
            return os.fdopen(_open_file(place, path), "rb")

    def is_directory(self, path: str) -> bool:
        """Whether ``path`` is a directory; ``FileNotFoundError`` if it does not exist."""
        with self.resolve(path) as place:
            if not place.name:
                return True
            try:
                found = os.stat(place.name, dir_fd=place.directory, follow_symlinks=False)
            except FileNotFoundError:
                raise FileNotFoundError(f"there is no {_shown(path)}") from None
            return stat.S_ISDIR(found.st_mode)

    def entries(self, path: str) -> list[Entry]:
        """The entries of a directory, sorted by name."""
        with self.resolve(path) as place:
            inner = _open_directory(place.directory, place.name, path) if place.name else os.dup(place.directory)
            try:
                with os.scandir(inner) as found:
                    return sorted((Entry(each.name, _kind(each)) for each in found), key=lambda each: each.name)
            finally:
                os.close(inner)

    def write(self, path: str, data: bytes) -> bool:
        """Write a whole file atomically: a reader sees the old or the new content. Returns whether the file is new."""
        with self.resolve(path, make=True) as place:
            if not place.name:
                raise IsADirectoryError(f"{_shown(path)} is a directory")
            mode = _existing_mode(place, path)
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

    def _walk(self, path: str, directories: list[int], make: bool) -> str:
        """Walk ``path``; ``directories`` then ends with the one that was reached. Returns the name in it, or ""."""
        names = self._names(path, path)
        links = 0
        while names:
            name = names.pop(0)
            if name == "..":
                if len(directories) == 1:
                    raise _outside(path)
                os.close(directories.pop())
                continue
            target = _read_link(directories[-1], name)
            if target is not None:
                links += 1
                if links > _MAX_LINKS:
                    raise OSError(f"{_shown(path)} goes through too many links")
                if os.path.isabs(target):
                    while len(directories) > 1:
                        os.close(directories.pop())
                names[:0] = self._names(target, path)
            elif not names:
                return name
            elif len(directories) > _MAX_DEPTH:
                raise OSError(f"{_shown(path)} is nested too deeply")
            else:
                directories.append(_next_directory(directories[-1], name, path, make))
        return ""

    def _names(self, path: str, requested: str) -> list[str]:
        """The names to walk: from the root for an absolute path, from the present directory for a relative one.

        ``requested`` is the path of the caller, for the error.
        """
        names = [name for name in path.split("/") if name not in ("", ".")]
        if not os.path.isabs(path):
            return names
        for root in (self.path, self.name):
            above = [name for name in root.split("/") if name]
            if names[: len(above)] == above:
                return names[len(above) :]
        raise _outside(requested)


def root_at(path: str | os.PathLike[str]) -> Root:
    """Return the root at ``path``; ``SettingError`` if that is not a directory."""
    check_posix("tools for files", os.open in os.supports_dir_fd)
    name = os.path.abspath(path)
    if not os.path.isdir(name):
        raise SettingError(f"the root of the tools is not a directory: {name}")
    return Root(name, os.path.realpath(name))


def _read_link(directory: int, name: str) -> str | None:
    try:
        return os.readlink(name, dir_fd=directory)
    except OSError as error:
        if error.errno in (errno.EINVAL, errno.ENOENT):  # not a link, or it does not exist
            return None
        raise


def _next_directory(directory: int, name: str, path: str, make: bool) -> int:
    if make:
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=directory)
    return _open_directory(directory, name, path)


def _open_directory(directory: int, name: str, path: str) -> int:
    try:
        return os.open(name, _DIRECTORY, dir_fd=directory)
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no {_shown(path)}") from None
    except NotADirectoryError:
        raise NotADirectoryError(f"{_shown(path)}: {_shown(name)} is no directory") from None


def _open_file(place: Place, path: str) -> int:
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


def _existing_mode(place: Place, path: str) -> int | None:
    """The permissions of the file that will be replaced; ``None`` for a new file."""
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
