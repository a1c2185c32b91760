"""Write learnt facts as TOML, in the form of ``catalog/families.toml``."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..catalog import Fact, FactFile
from ..types import LIMITS

HEAD = """\
# What segue has learnt from refused requests (docs/healing.md). `segue learn` lists it, and `segue learn --forget`
# removes it. Rows in your own catalog file override it.
"""


def written(file: FactFile) -> str:
    """The text of a file."""
    parts = [HEAD, *map(family_of, file.facts)]
    for target, digests in sorted(file.signatures.items()):
        lines = [f"[signatures.{_value(target)}]", *(f"{digest} = {_value(when)}" for digest, when in digests.items())]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def family_of(fact: Fact, learnt: bool = True) -> str:
    """A fact as a family of the catalog; ``learnt``: with when and where it was learnt."""
    cell = f"{fact.field} = {_value(fact.value)}"
    kept = ("model", "endpoint", "cure", "version", "first", "last", "count", "expires")
    about = ", ".join(f"{name} = {_value(getattr(fact, name))}" for name in kept)
    lines = [
        "[[families]]",
        f"models = [{_value(exactly(f'{fact.provider}/{fact.model}'))}]",
        f"protocol = {_value(fact.protocol)}",
        f"why = {_value(fact.words)}",
        cell if fact.field in LIMITS else f"dialect = {{ {cell} }}",
        *([f"learnt = {{ {about} }}"] if learnt else []),
    ]
    return "\n".join([*lines, ""])


def exactly(name: str) -> str:
    """A glob that matches this name only."""
    return "".join(f"[{each}]" if each in "*?[" else each for each in name.lower())


def _value(value: Any) -> str:
    """A value of TOML, which has no null: an empty string is read as one where a cell may be null."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    # JSON and TOML write such values alike, except for one control character.
    return json.dumps("" if value is None else value, ensure_ascii=False).replace("\x7f", "\\u007f")


def write_facts(path: str, file: FactFile) -> None:
    """Replace the file at ``path``; a reader sees the old or the new content, never a part."""
    os.makedirs(os.path.dirname(path) or ".", mode=0o700, exist_ok=True)
    new = f"{path}.{os.getpid()}.new"
    with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as opened:
        opened.write(written(file))
    os.replace(new, path)


@contextmanager
def locked(path: str) -> Iterator[None]:
    """Hold the lock of the file at ``path`` against other processes."""
    os.makedirs(os.path.dirname(path) or ".", mode=0o700, exist_ok=True)
    with open(f"{path}.lock", "w") as lock:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(lock.fileno(), msvcrt.LK_LOCK, 1)
        else:
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
