"""Walk over a body that may be any JSON: what does not have the expected shape is skipped."""

from collections.abc import Iterator
from itertools import chain
from typing import Any

from ...rules import shared
from .shapes import MADE_BY_MODEL, Item, kind_of

Body = dict[str, Any]
Found = Iterator[tuple[str, str]]


def objects(value: Any, path: str) -> Iterator[tuple[str, Item]]:
    """The entries of a list that are objects, with their paths."""
    if isinstance(value, list):
        for at, entry in enumerate(value):
            if isinstance(entry, dict):
                yield f"{path}[{at}]", entry


@shared
def items(body: Body) -> list[tuple[str, str, Item]]:
    """Path, kind and item of everything in the input; the kind is "" if it is unknown."""
    found = []
    for path, item in objects(body.get("input"), "input"):
        kind = kind_of(item)
        found.append((path, kind if isinstance(kind, str) else "", item))
    return found


@shared
def _by_kind(body: Body) -> dict[str, list[tuple[str, Item]]]:
    found: dict[str, list[tuple[str, Item]]] = {}
    for path, kind, item in items(body):
        found.setdefault(kind, []).append((path, item))
    return found


def of_kind(body: Body, *kinds: str) -> Iterator[tuple[str, Item]]:
    """Items of these kinds; those of the first kind first."""
    found = _by_kind(body)
    return chain.from_iterable(found.get(kind, ()) for kind in kinds)


def parts(item: Item, name: str, path: str) -> Iterator[tuple[str, Item]]:
    """The parts of a message (``content``) or of a result (``output``)."""
    return objects(item.get(name), f"{path}.{name}")


@shared
def all_parts(body: Body) -> list[tuple[str, Item]]:
    """The parts of all messages and results."""
    found: list[tuple[str, Item]] = []
    for path, item in of_kind(body, "message", "function_call_output", "custom_tool_call_output"):
        found += parts(item, "content", path)
        found += parts(item, "output", path)
    return found


def call_id(kind: str, item: Item) -> str:
    """The id by which a call and its output belong together; "" if there is none, as in a search by the server."""
    return text(item, "id" if kind == "local_shell_call_output" else "call_id")


def text(item: Item, name: str) -> str:
    """A member that should be a string; "" if it is not."""
    value = item.get(name)
    return value if isinstance(value, str) else ""


def made_by_model(kind: str, item: Item) -> bool:
    return kind in MADE_BY_MODEL or (kind == "message" and item.get("role") == "assistant")


def has_state(body: Body) -> bool:
    """Whether a part of the conversation is on the server and not in the body."""
    return any(body.get(name) for name in ("previous_response_id", "conversation", "prompt"))
