"""The manifest of a run: what it works on, and which shards are finished. A second run does only the others."""

import os
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from time import monotonic
from typing import Any

import msgspec
from msgspec import Struct

from ..errors import FormatError, SettingError
from .containers import UNFINISHED, new_file
from .inputs import Shard
from .report import Tally
from .work import Settings

NAME = "manifest.json"
EDGE = 1 << 16
"""Bytes at the beginning and end of a file that are part of its digest; the rest is represented by size and time."""
PAUSE = 1.0
"""Seconds between two writings: a kill costs at most the shards that were finished since."""


class Manifest(Struct):
    """What is in ``manifest.json``."""

    segue: str
    digest: str
    settings: dict[str, Any]
    inputs: list[str]
    shards: dict[str, Tally] = {}
    finished: bool = False


class Book:
    """The manifest of a directory, in memory and on disk."""

    def __init__(self, out: Path, manifest: Manifest) -> None:
        self._path = out / NAME
        self.manifest = manifest
        self._written = 0.0

    @classmethod
    def open(cls, out: Path, wanted: Manifest) -> "Book":
        """The manifest of an earlier run of the same work, or a new one."""
        path = out / NAME
        if not path.exists():
            if out.exists() and any(not file.name.endswith(UNFINISHED) for file in out.iterdir()):
                raise SettingError(
                    f"{out} is not empty, and not the output of an earlier run; choose another directory"
                )
            out.mkdir(parents=True, exist_ok=True)
            book = cls(out, wanted)
            book.write()
            return book
        try:
            found = msgspec.json.decode(path.read_bytes(), type=Manifest)
        except msgspec.DecodeError as error:
            raise FormatError(f"this manifest cannot be read: {error}", source=str(path)) from None
        differing = _differences(found, wanted)
        if differing:
            raise SettingError(
                f"{out} has the output of a run with {differing}; choose another directory, or remove it"
            )
        return cls(out, found)

    def finish_shard(self, output: str, tally: Tally) -> None:
        self.manifest.shards[output] = tally
        if monotonic() - self._written >= PAUSE:
            self.write()

    def write(self) -> None:
        with new_file(self._path) as file:
            file.write(msgspec.json.encode(self.manifest))
        self._written = monotonic()


def _differences(found: Manifest, wanted: Manifest) -> str:
    """What differs between an earlier run and this one, in words; empty if nothing does."""
    if found.segue != wanted.segue:
        return f"segue {found.segue} (this is {wanted.segue})"
    if found.settings != wanted.settings:
        names = [name for name in wanted.settings if found.settings.get(name) != wanted.settings[name]]
        return f"other settings ({', '.join(names)})"
    return "other input, or input that has changed since" if found.digest != wanted.digest else ""


def new_manifest(version: str, files: Mapping[str, str], shards: list[Shard], settings: Settings) -> Manifest:
    """The manifest of a run that has not begun."""
    digest = blake2b(digest_size=16)
    for path, name in files.items():
        status = os.stat(path)
        digest.update(f"{name}\0{status.st_size}\0{status.st_mtime_ns}\0".encode())
        with open(path, "rb") as file:
            digest.update(file.read(EDGE))
            file.seek(max(status.st_size - EDGE, 0))
            digest.update(file.read(EDGE))
    digest.update(msgspec.json.encode(shards))
    return Manifest(version, digest.hexdigest(), _described(settings), list(files))


def _described(settings: Settings) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(settings, enc_hook=repr))
    model = settings.model
    if model is not None:
        known = msgspec.json.encode(model, enc_hook=repr)
        fields["model"] = f"{model.ref} {model.protocol} {blake2b(known, digest_size=8).hexdigest()}"
    return fields
