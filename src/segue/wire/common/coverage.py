"""Find every field of a request body that is not read, at any depth.

A protocol has a table of what its readers use: the fields of each object, and which objects there are. Everything else
is reported with its path, unknown fields included; an object that is not read at all is reported as one. Fields that
are null or empty say nothing.
"""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from .asked import Asked

Object = dict[str, Any]

Path = tuple[Any, str | int] | None
"""Where a value is: the path of the value around it, and its name or index there; ``None`` for the body."""
UNKNOWN = "segue does not carry it"
_EMPTY: tuple[Any, ...] = (None, "", [], {})


class Left(Struct, frozen=True):
    """A value that is left out, and why. Some values ask for nothing that segue does not do anyway: ``harmless``.

    ``present``: the field says something even if it is empty.
    """

    why: str = UNKNOWN
    harmless: tuple[Any, ...] = ()
    present: bool = False


class Option(Struct, frozen=True):
    """A value that is an option wherever it is, such as a cache marker: ``read`` reads it, and its ``fields``."""

    read: Callable[[Asked, Any], None]
    fields: Any


class Each(Struct, frozen=True):
    """A list of values, or one value in place of a list."""

    of: Any


class Kinds(Struct, frozen=True):
    """Objects of several kinds. ``kind_of`` returns the kind of one; kinds that are not in the table are ``others``."""

    kind_of: Callable[[Object], str | bool | None]
    kinds: Mapping[Any, Any]
    others: Any


class Fields:
    """An object, and what is read of each of its fields; ``None``: all of it. ``others`` are all further fields; with
    ``None``, the object is kept as it is."""

    __slots__ = ("_known", "_nested", "_others", "of")

    def __init__(self, *names: str, others: Left | None = Left(), **of: Any) -> None:  # noqa: B008, Left is frozen
        self.of: dict[str, Any] = dict.fromkeys(names) | of
        self._known = frozenset(self.of)
        self._nested = [(name, spec) for name, spec in self.of.items() if spec is not None]
        self._others = others

    def check(self, value: Object, path: Path, asked: Asked) -> None:
        """Report the fields that are not read."""
        if self._others is not None and not self._known.issuperset(value):
            for name in value:
                if name not in self._known:
                    check_fields(self._others, value[name], (path, name), asked)
        for name, spec in self._nested:
            if name in value:
                check_fields(spec, value[name], (path, name), asked)


def check_fields(spec: Any, value: Any, path: Path, asked: Asked) -> None:
    """Report everything in ``value`` that is not read, according to ``spec``."""
    if spec is None or value is None:
        return
    kind = type(spec)
    if kind is Fields:
        if isinstance(value, dict):
            spec.check(value, path, asked)
    elif kind is Each:
        if isinstance(value, list):
            for at, item in enumerate(value):
                check_fields(spec.of, item, (path, at), asked)
        else:
            check_fields(spec.of, value, path, asked)
    elif kind is Kinds:
        if isinstance(value, dict):
            found = spec.kind_of(value)
            known = found is None or isinstance(found, str | bool)
            check_fields(spec.kinds.get(found, spec.others) if known else spec.others, value, path, asked)
    elif kind is Option:
        spec.read(asked, value)
        check_fields(spec.fields, value, path, asked)
    elif (spec.present or value not in _EMPTY) and value not in spec.harmless:
        asked.leave(_written(path), spec.why)


def _written(path: Path) -> str:
    """A path as text, such as ``messages[0].content``."""
    names: list[str] = []
    while path is not None:
        path, name = path
        names.append(f"[{name}]" if isinstance(name, int) else f".{name}")
    return "".join(reversed(names)).removeprefix(".")
