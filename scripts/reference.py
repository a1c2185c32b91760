"""Print the reference of the public API from signatures, docstrings and the comments of fields: docs/reference/.

`make docs` runs it. The pages are long and change with every docstring, so they are not in git.
"""

import ast
import inspect
import shutil
import textwrap
import tokenize
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from io import StringIO
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import segue

FOLDER = Path(__file__).parent.parent / "docs" / "reference"
APART = ("bulk", "events", "testing", "transcripts", "transport")
"""Modules whose names are not at the top level."""
MODULES = {**dict.fromkeys(segue._NAMES, "segue"), **{name: f"segue.{name}" for name in APART}}
"""The modules with public names, and where users find these names."""


class Entry(NamedTuple):
    """A public name: how it is written, what it says about itself, and its members."""

    name: str
    signature: str
    text: str
    members: tuple["Entry", ...] = ()
    fields: tuple[tuple[str, str], ...] = ()


def pages() -> dict[str, str]:
    """The text of every page, by the name of its file."""
    return {f"{room}.md": page(room) for room in MODULES}


def page(room: str) -> str:
    module = import_module(f"segue.{room}")
    parts = [f"# {MODULES[room]}: {room}" if MODULES[room] == "segue" else f"# {MODULES[room]}", text_of(module)]
    for entry in entries(room):
        parts += rendered(entry, "##")
    return "\n\n".join(parts) + "\n"


def entries(room: str) -> list[Entry]:
    """The public names of a room, in alphabetical order."""
    module = import_module(f"segue.{room}")
    return [entry(f"{MODULES[room]}.{name}", getattr(module, name)) for name in sorted(module.__all__)]


def rendered(each: Entry, level: str) -> Iterator[str]:
    yield f"{level} {each.name}"
    yield f"```py\n{each.signature}\n```"
    if each.text:
        yield each.text
    if each.fields:
        yield "\n".join(f"- `{field}`" + (f": {text}" if text else "") for field, text in each.fields)
    for member in each.members:
        yield from rendered(member, level + "#")


# -- names -------------------------------------------------------------------------------------------------------------


def entry(name: str, value: Any) -> Entry:
    if inspect.isclass(value):
        return of_class(name, value)
    if inspect.isroutine(value):
        return of_function(name, value)
    return of_alias(name)


def text_of(value: Any) -> str:
    return inspect.cleandoc(value.__doc__ or "")


def of_function(name: str, function: Callable[..., Any]) -> Entry:
    return Entry(name, header(inspect.unwrap(function), name.rpartition(".")[2]), text_of(function))


def header(function: Callable[..., Any], name: str) -> str:
    """The line with ``def``, as in the source, without ``self``."""
    function = getattr(function, "__func__", function)
    node = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    arguments = [*node.args.posonlyargs, *node.args.args]
    if arguments and arguments[0].arg in ("self", "cls"):
        (node.args.posonlyargs or node.args.args).pop(0)
    word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    returns = f" -> {ast.unparse(node.returns)}" if node.returns is not None else ""
    line = f"{word} {name}({ast.unparse(node.args)}){returns}"
    return line if len(line) <= 100 else broken(word, name, node.args, returns)


def broken(word: str, name: str, arguments: ast.arguments, returns: str) -> str:
    """One line for each argument."""
    parsed = ast.unparse(arguments)
    depth, start, parts = 0, 0, []
    for at, letter in enumerate(parsed):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            parts.append(parsed[start:at].strip())
            start = at + 1
    parts.append(parsed[start:].strip())
    return f"{word} {name}(\n" + "".join(f"    {part},\n" for part in parts) + f"){returns}"


# -- classes -----------------------------------------------------------------------------------------------------------


def of_class(name: str, kind: type) -> Entry:
    short = name.rpartition(".")[2]
    shown = [base.__name__ for base in kind.__bases__ if base is not object and not base.__name__.startswith("_")]
    bases = ", ".join(shown)
    signature = f"class {short}({bases})" if bases else f"class {short}"
    start = kind.__dict__.get("__init__")
    if inspect.isfunction(start) and start.__module__.startswith("segue"):
        signature += "\n\n" + header(start, short).removesuffix(" -> None").removeprefix("def ")
    text = text_of(kind) if "__doc__" in vars(kind) else ""
    return Entry(name, signature, text, tuple(members(short, kind)), tuple(fields(kind)))


def members(short: str, kind: type) -> Iterator[Entry]:
    """Public methods and properties, also of bases that are not public themselves."""
    seen: set[str] = set()
    for base in kind.__mro__:
        if base is not kind and (not base.__module__.startswith("segue") or base.__name__ in segue.__all__):
            continue
        for name, value in vars(base).items():
            if name.startswith("_") or name in seen:
                continue
            found = member(f"{short}.{name}", value)
            if found is not None:
                seen.add(name)
                yield found._replace(text=found.text or inherited_text(kind, name))


def inherited_text(kind: type, name: str) -> str:
    """What a base says about a method that a class overrides."""
    texts = (text_of(getattr(base, name)) for base in kind.__mro__[1:] if hasattr(base, name))
    return next(filter(None, texts), "")


def member(name: str, value: Any) -> Entry | None:
    if isinstance(value, property):
        function = value.fget
        assert function is not None
        node = header(function, name.rpartition(".")[2])
        return Entry(name, f"@property\n{node}", text_of(function))
    if isinstance(value, staticmethod | classmethod):
        word = "@staticmethod" if isinstance(value, staticmethod) else "@classmethod"
        return Entry(name, f"{word}\n{header(value.__func__, name.rpartition('.')[2])}", text_of(value.__func__))
    if inspect.isfunction(value) and value.__module__.startswith("segue"):
        return of_function(name, value)
    return None


def fields(kind: type) -> Iterator[tuple[str, str]]:
    """The fields of a class and of its bases, with the comment before them or the string after them."""
    for base in reversed(kind.__mro__):
        if base.__module__.startswith("segue") and not issubclass(base, Exception):
            yield from own_fields(base)


def own_fields(kind: type) -> Iterator[tuple[str, str]]:
    source = Path(import_module(kind.__module__).__file__ or "").read_text()
    found = [node for node in tree_of(source).body if isinstance(node, ast.ClassDef) and node.name == kind.__name__]
    body: list[ast.stmt] = found[0].body if found else []
    comments = comments_of(source)
    for node, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign) and is_field(node):
            yield ast.unparse(node), described(node, after, comments)


def is_field(node: ast.AnnAssign) -> bool:
    is_class_variable = ast.unparse(node.annotation).startswith("ClassVar")
    return isinstance(node.target, ast.Name) and not node.target.id.startswith("_") and not is_class_variable


@cache
def tree_of(source: str) -> ast.Module:
    return ast.parse(source)


@cache
def comments_of(source: str) -> dict[int, str]:
    """Comments that have a line of their own, by its number."""
    lines = source.splitlines()
    return {
        token.start[0]: token.string.removeprefix("#").strip()
        for token in tokenize.generate_tokens(StringIO(source).readline)
        if token.type == tokenize.COMMENT and lines[token.start[0] - 1].lstrip().startswith("#")
    }


def described(node: ast.stmt, after: ast.stmt | None, comments: dict[int, str]) -> str:
    if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str):
        return " ".join(after.value.value.split())
    lines: list[str] = []
    number = node.lineno - 1
    while number in comments:
        lines.insert(0, comments[number])
        number -= 1
    return " ".join(lines)


# -- aliases -----------------------------------------------------------------------------------------------------------


def of_alias(name: str) -> Entry:
    """A name for a union or another type: its assignment, wherever it is made, and the string or comment with it."""
    short = name.rpartition(".")[2]
    for module in segue_modules():
        for node, after, comments in assignments(module):
            target = node.targets[0]
            if isinstance(target, ast.Name) and target.id == short:
                return Entry(name, f"{short} = {ast.unparse(node.value)}", described(node, after, comments))
    raise LookupError(f"{name} is not assigned in any module")


@cache
def segue_modules() -> tuple[ModuleType, ...]:
    root = Path(segue.__file__).parent
    names = sorted(path.relative_to(root.parent).with_suffix("") for path in root.rglob("*.py"))
    public = [name for name in names if name.parts[1] in MODULES and name.name != "__init__"]
    return tuple(import_module(".".join(name.parts)) for name in public)


@cache
def assignments(module: ModuleType) -> list[tuple[ast.Assign, ast.stmt | None, dict[int, str]]]:
    source = Path(module.__file__ or "").read_text()
    body, comments = tree_of(source).body, comments_of(source)
    pairs = zip(body, [*body[1:], None], strict=True)
    return [(node, after, comments) for node, after in pairs if isinstance(node, ast.Assign)]


if __name__ == "__main__":
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    for file, text in pages().items():
        (FOLDER / file).write_text(text)
