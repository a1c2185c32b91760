"""References: definitions are put in the places that refer to them.

Recursive definitions cannot be: they stay references to ``$defs`` at the root, or, where a target has no references at
all, are written out for a few levels and left open below.
"""

from collections.abc import Iterator
from itertools import count
from typing import Any
from urllib.parse import unquote

from ....dialects import SchemaRefs
from ....types.text import whole_number
from ..checks import Place
from .keywords import ANNOTATIONS, MAX_DEPTH, Notes, Schema, inner, mapped
from .merge import conjoined

MAX_COPIES = 10_000
"""How many schemas may be copied: definitions that refer to each other can grow without limit."""
LEVELS = 2
"""How often a recursive definition is written out inside itself, where references do not exist."""


def without_references(root: Schema, refs: SchemaRefs, notes: Notes) -> Schema:
    """The schema as a target reads it; the same object if there is nothing to change."""
    if refs == "keep" or not any("$ref" in schema for schema in _everything(root)):
        return root
    return _Inliner(root, refs, notes).inlined()


def resolved_root(root: Schema, notes: Notes) -> Schema:
    """The schema with a definition in place of a reference at the root, which must be an object itself."""
    seen: set[str] = set()
    while isinstance(reference := root.get("$ref"), str) and reference not in seen:
        seen.add(reference)
        beside = {keyword: value for keyword, value in root.items() if keyword != "$ref"}
        target = pointed_at(root, reference)
        root = conjoined(beside, {} if reference == "#" or target is None else target, None, notes)
        notes.change("the definition of the root is written out")
    return root


def pointed_at(root: Schema, reference: str) -> Any:
    """The schema that a reference within the document points at; ``None`` if there is none."""
    if not reference.startswith("#"):
        return None
    found: Any = root
    if reference != "#" and not reference.startswith("#/"):
        return next((each for each in _everything(root) if each.get("$anchor") == reference[1:]), None)
    for step in reference.split("/")[1:]:
        step = unquote(step).replace("~1", "/").replace("~0", "~")
        if isinstance(found, dict):
            found = found.get(step)
        elif isinstance(found, list) and (place := whole_number(step)) is not None and place < len(found):
            found = found[place]
        else:
            return None
    return found if isinstance(found, dict | bool) else None


def _everything(root: Schema) -> list[Schema]:
    """The schema and all schemas inside it."""
    waiting: list[Any] = [root]
    found: list[Schema] = []
    while waiting:
        schema = waiting.pop()
        if isinstance(schema, dict):
            found.append(schema)
            waiting += [each for _, each in inner(schema)]
    return found


_DOCUMENT = frozenset({"$defs", "definitions", "discriminator"})
"""Definitions, and an annotation of OpenAPI that refers to them."""


class _Inliner:
    """Puts definitions in the places that refer to them."""

    def __init__(self, root: Schema, refs: SchemaRefs, notes: Notes) -> None:
        self.root = root
        self.refs = refs
        self.notes = notes
        self.sizes: dict[str, int] = {}
        self.copies = 0
        self.recursive = recursive(root)
        self.kept: dict[str, str] = {}  # references that stay, with the names of their definitions
        self.open: list[str] = []  # the recursive definitions that are being written out

    def inlined(self) -> Schema:
        inlined: Schema = self._visit(self.root, None)
        definitions: Schema = {}
        while missing := [(reference, name) for reference, name in self.kept.items() if name not in definitions]:
            for reference, name in missing:
                definitions[name] = self._visit(pointed_at(self.root, reference), ((None, "$defs"), name))
        return inlined | {"$defs": definitions} if definitions else inlined

    def _visit(self, schema: Any, place: Place) -> Any:
        if not isinstance(schema, dict):
            return schema
        if not _DOCUMENT.isdisjoint(schema):
            schema = {keyword: value for keyword, value in schema.items() if keyword not in _DOCUMENT}
        if isinstance(reference := schema.get("$ref"), str):
            return self._resolved(schema, reference, place)
        return mapped(schema, place, self.notes, self._visit)

    def _resolved(self, schema: Schema, reference: str, place: Place) -> Any:
        beside = {keyword: value for keyword, value in schema.items() if keyword != "$ref"}
        target = pointed_at(self.root, reference)
        if target is None:
            self.notes.loosen(place, f"{reference!r} refers to nothing")
            return self._visit(beside, place)
        is_far = max(_depth(place), len(self.open)) > MAX_DEPTH or self._copies(reference, target) > MAX_COPIES
        if self.refs == "inline" and (is_far or reference in self.recursive):
            return self._kept(reference, beside, place)
        if is_far or self.open.count(reference) >= LEVELS:
            self.notes.loosen(place, f"{reference.rpartition('/')[2]} is open from here on")
            return _open(conjoined(beside, target, place, self.notes))
        self.notes.change("definitions are inlined")
        self.open.append(reference)
        inlined = self._visit(conjoined(beside, target, place, self.notes), place)
        self.open.pop()
        return inlined

    def _copies(self, reference: str, target: Any) -> int:
        """How many schemas have been copied, with one more copy of ``target``."""
        if reference not in self.sizes:
            self.sizes[reference] = len(_everything(target)) if isinstance(target, dict) else 1
        self.copies += self.sizes[reference]
        return self.copies

    def _kept(self, reference: str, beside: Schema, place: Place) -> Schema:
        """A reference that stays, to a definition at the root. What was beside it goes around it."""
        name = self.kept.get(reference)
        if name is None:
            stem = reference.rpartition("/")[2].replace("~1", "_").replace("~0", "_").removeprefix("#") or "root"
            name = next(each for each in _names(stem) if each not in self.kept.values())
            self.kept[reference] = name
            if reference in self.recursive:
                self.notes.change(f"{name} is recursive and stays a reference")
        return apart(beside | {"$ref": f"#/$defs/{name}"}, place, self.notes)


def apart(schema: Schema, place: Place, notes: Notes) -> Schema:
    """A reference with nothing beside it: annotations go around it."""
    beside = {keyword: value for keyword, value in schema.items() if keyword in ANNOTATIONS}
    if len(beside) < len(schema) - 1:
        notes.loosen(place, "keywords beside a reference are left out")
    return {"anyOf": [{"$ref": schema["$ref"]}]} | beside if beside else {"$ref": schema["$ref"]}


def _open(schema: Schema) -> Schema:
    """An open schema of the same type."""
    return {keyword: schema[keyword] for keyword in ("type", "title", "description") if keyword in schema}


def _names(stem: str) -> Iterator[str]:
    yield stem
    yield from (f"{stem}_{at}" for at in count(2))


def _depth(place: Place) -> int:
    depth = 0
    while place is not None:
        place, depth = place[0], depth + 1
    return depth


def recursive(root: Schema) -> set[str]:
    """The references whose definitions refer to themselves, directly or through others."""
    bare = {keyword: value for keyword, value in root.items() if keyword not in ("$defs", "definitions")}
    uses: dict[str, set[str]] = {}
    waiting = [schema["$ref"] for schema in _everything(root) if isinstance(schema.get("$ref"), str)]
    while waiting:
        reference = waiting.pop()
        if reference in uses:
            continue
        target = bare if reference == "#" else pointed_at(root, reference)
        found = _everything(target) if isinstance(target, dict) else []
        uses[reference] = {schema["$ref"] for schema in found if isinstance(schema.get("$ref"), str)}
        waiting += uses[reference]
    return {reference for reference in uses if _reaches(uses, reference)}


def _reaches(uses: dict[str, set[str]], start: str) -> bool:
    seen: set[str] = set()
    waiting = [*uses[start]]
    while waiting:
        reference = waiting.pop()
        if reference == start:
            return True
        if reference not in seen:
            seen.add(reference)
            waiting += uses.get(reference, ())
    return False
