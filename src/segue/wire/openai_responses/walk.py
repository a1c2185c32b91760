"""Ways through a body that may be any JSON: whatever is not of the shape that is looked for is passed over."""

from collections.abc import Iterator
from typing import Any

from .shapes import MADE_BY_MODEL, Item, kind_of

Body = dict[str, Any]
Found = Iterator[tuple[str, str]]


def objects(value: Any, path: str) -> Iterator[tuple[str, Item]]:
    """The entries of a list that are objects, with their paths."""
    if isinstance(value, list):
        for at, entry in enumerate(value):
            if isinstance(entry, dict):
                yield f"{path}[{at}]", entry


def items(body: Body) -> Iterator[tuple[str, str, Item]]:
    """Path, kind and item of everything in the input; the kind is "" where it is none."""
    for path, item in objects(body.get("input"), "input"):
        kind = kind_of(item)
        yield path, kind if isinstance(kind, str) else "", item


def of_kind(body: Body, *kinds: str) -> Iterator[tuple[str, Item]]:
    return ((path, item) for path, kind, item in items(body) if kind in kinds)


def parts(item: Item, name: str, path: str) -> Iterator[tuple[str, Item]]:
    """The parts of a message (``content``) or of a result (``output``)."""
    return objects(item.get(name), f"{path}.{name}")


def all_parts(body: Body) -> Iterator[tuple[str, Item]]:
    """The parts of all messages and results."""
    for path, item in of_kind(body, "message", "function_call_output", "custom_tool_call_output"):
        yield from parts(item, "content", path)
        yield from parts(item, "output", path)


def text(item: Item, name: str) -> str:
    """A member that should be a string; "" if it is none."""
    value = item.get(name)
    return value if isinstance(value, str) else ""


def made_by_model(kind: str, item: Item) -> bool:
    return kind in MADE_BY_MODEL or (kind == "message" and item.get("role") == "assistant")


def has_state(body: Body) -> bool:
    """Whether a part of the conversation is on the server, where nobody can look."""
    return any(body.get(name) for name in ("previous_response_id", "conversation", "prompt"))
