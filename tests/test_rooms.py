"""A room is imported through its ``__init__``, so that its other modules can change freely."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import segue

SOURCE = Path(segue.__file__).parent

PUBLIC_MODULES = {
    "agent.events": "the events of a turn, for `segue.events`",
    "dialects.bedrock_converse": "the types of its fields, whose names another protocol has as well",
    "dialects.openai_completions": "the types of its fields, whose names another protocol has as well",
    "rules.shape": "a language of its own: tables of fields",
    "testing.local": "the settings of the local model's server, with short names",
    "tools.call_texts": "fixed texts",
    "types.codec": "read and write: short names that need their module",
    "types.formatting": "texts, values and amounts in short, for commands and pages",
    "types.events": "the events of a stream, for `segue.events`",
    "types.secret": "what may be shown, used wherever text from outside is",
    "types.media": "media types and base64, used wherever files are",
    "types.printable": "text that is safe to show",
    "types.text": "cleaning text, used everywhere",
    "types.texts": "fixed texts",
    "types.type_schemas": "JSON schemas of Python types, for tools and structured output",
}
"""Modules that other rooms import directly, and why."""


class Import(NamedTuple):
    """``from .room.module import name``, as ``importer`` has it."""

    importer: str
    room: str
    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.importer}: {self.name} of {'.'.join(filter(None, (self.room, self.module)))}"


def imports_across_rooms() -> Iterator[Import]:
    for file in sorted(SOURCE.rglob("*.py")):
        package = file.relative_to(SOURCE).parent.parts
        importer = ".".join((*package, file.stem))
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and node.level:
                above = package[: len(package) - node.level + 1]
                room, *below = (*above, *(node.module or "").split("."))
                if room and room != importer.split(".")[0]:
                    for alias in node.names:
                        yield Import(importer, room, ".".join(below), alias.name)


@cache
def imports() -> tuple[Import, ...]:
    return tuple(imports_across_rooms())


def is_allowed(used: Import) -> bool:
    if f"{used.room}.{used.module}" in PUBLIC_MODULES:
        return True
    # A voice reads the bodies of its protocol with the functions of that protocol's folder, and an adapter the messages
    # of its framework with the converter for them.
    owners = {"wire": "testing.voices.", "transcripts": "adapters."}
    return not used.module or used.importer.startswith(owners.get(used.room, " "))


def exported_by(room: str) -> set[str]:
    """The names that the ``__init__`` of a room exports: those of ``__all__``, and those imported ``as`` themselves."""
    tree = ast.parse((SOURCE / room / "__init__.py").read_text())
    names: set[str] = set()
    for node in tree.body:
        match node:
            case ast.ImportFrom():
                names |= {alias.asname for alias in node.names if alias.asname == alias.name}
            case ast.Assign(targets=[ast.Name("__all__")]):
                names |= set(ast.literal_eval(node.value))
            case ast.Assign(targets=[ast.Name(name)]) | ast.AnnAssign(target=ast.Name(name)):
                names.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case _:
                pass
    return names


def test_rooms_are_imported_through_their_init() -> None:
    assert [str(used) for used in imports() if not is_allowed(used)] == []


def test_what_another_room_imports_is_exported() -> None:
    missing: dict[str, set[str]] = {}
    for room in sorted({used.room for used in imports() if (SOURCE / used.room).is_dir()}):
        wanted = {used.name for used in imports() if used.room == room and not used.module}
        submodules = {file.stem for file in (SOURCE / room).iterdir()}
        missing[room] = wanted - exported_by(room) - submodules - {"*"}
    assert {room: names for room, names in missing.items() if names} == {}


def test_every_public_module_is_used_by_another_room() -> None:
    assert {f"{used.room}.{used.module}" for used in imports()} >= PUBLIC_MODULES.keys()
