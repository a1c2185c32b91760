"""Iterate over the parts of a body that may be any JSON. Values of an unexpected shape are skipped.

The lists for all messages are computed once per run and shared by the rules.
"""

from collections.abc import Iterator
from itertools import chain
from typing import Any, NamedTuple

from ...rules import shared

Json = dict[str, Any]
Found = Iterator[tuple[str, str]]


class Turn(NamedTuple):
    """Adjacent messages of one role, which the API joins before it checks them."""

    role: str
    path: str
    blocks: list[tuple[str, Json]]
    # How many of the blocks are in the first message of the turn.
    first: int = 0


def items(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """The items of a list, with their paths."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield f"{path}[{index}]", item


def objects(value: Any, path: str) -> Iterator[tuple[str, Json]]:
    """The items of a list that are objects, with their paths."""
    return ((where, item) for where, item in items(value, path) if isinstance(item, dict))


@shared
def messages(body: Json) -> list[tuple[str, Json]]:
    return list(objects(body.get("messages"), "messages"))


def content(holder: Json, path: str) -> Iterator[tuple[str, Json]]:
    """The blocks of a message or result; a plain text is one block."""
    value = holder.get("content")
    if isinstance(value, str):
        return iter([(f"{path}.content", {"type": "text", "text": value})])
    return objects(value, f"{path}.content")


@shared
def blocks(body: Json) -> list[tuple[str, str, Json]]:
    """Path, role and block for every block directly in a message."""
    found = []
    for path, message in messages(body):
        role = message.get("role")
        for where, block in content(message, path):
            found.append((where, role if isinstance(role, str) else "", block))
    return found


@shared
def nested(body: Json) -> list[tuple[str, str, Json]]:
    """The same, including blocks inside results, search results and documents, and in documents of results."""
    found = []
    for path, role, block in blocks(body):
        for where, inner in [(path, block), *_inside(path, block)]:
            found.append((where, role, inner))
            found += [(at, role, part) for at, part in _inside_document(where, inner)]
    return found


def _inside(path: str, block: Json) -> Iterator[tuple[str, Json]]:
    return content(block, path) if kind(block) in ("tool_result", "search_result", "mcp_tool_result") else iter(())


def _inside_document(path: str, block: Json) -> Iterator[tuple[str, Json]]:
    source = block.get("source") if kind(block) == "document" else None
    return content(source, f"{path}.source") if isinstance(source, dict) else iter(())


@shared
def _by_type(body: Json) -> dict[str, list[tuple[str, Json]]]:
    found: dict[str, list[tuple[str, Json]]] = {}
    for path, _, block in nested(body):
        found.setdefault(kind(block), []).append((path, block))
    return found


def of_type(body: Json, *kinds: str) -> Iterator[tuple[str, Json]]:
    """Blocks of these types, also inside results; those of the first type first."""
    found = _by_type(body)
    return chain.from_iterable(found.get(name, ()) for name in kinds)


@shared
def turns(body: Json) -> list[Turn]:
    """All messages, joined by role. A ``system`` message does not separate them."""
    joined: list[Turn] = []
    for path, message in messages(body):
        role = message.get("role")
        if role not in ("user", "assistant"):
            continue
        inside = list(content(message, path))
        if not joined or joined[-1].role != role:
            joined.append(Turn(role, path, inside, len(inside)))
        else:
            joined[-1].blocks.extend(inside)
    return joined


def kind(block: Json) -> str:
    value = block.get("type")
    return value if isinstance(value, str) else ""


def tools(body: Json) -> Iterator[tuple[str, Json]]:
    return objects(body.get("tools"), "tools")


@shared
def declared(body: Json) -> list[tuple[str, Json]]:
    """The tools of the request, and those that a message defines (``tool_addition``)."""
    found = list(tools(body))
    for path, block in of_type(body, "tool_addition"):
        tool = block.get("tool")
        if isinstance(tool, dict) and isinstance(tool.get("definition"), dict):
            found.append((f"{path}.tool.definition", tool["definition"]))
    return found


def continues_thread(body: Json) -> bool:
    """Whether the server has the messages before those of the request."""
    thread = body.get("thread")
    return isinstance(thread, dict) and kind(thread) == "continue"


def text(block: Json, name: str) -> str:
    """A field if it is a text, otherwise ""."""
    value = block.get(name)
    return value if isinstance(value, str) else ""
