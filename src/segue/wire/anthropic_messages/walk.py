"""Ways through a body that may be any JSON: whatever is not of the shape that is looked for is passed over."""

from collections.abc import Iterator
from typing import Any, NamedTuple

Json = dict[str, Any]
Found = Iterator[tuple[str, str]]


class Turn(NamedTuple):
    """Messages of one role in a row, as the API joins them before it looks at them."""

    role: str
    path: str
    blocks: list[tuple[str, Json]]


def items(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """The entries of a list with their paths."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield f"{path}[{index}]", item


def objects(value: Any, path: str) -> Iterator[tuple[str, Json]]:
    """The entries of a list that are objects."""
    return ((where, item) for where, item in items(value, path) if isinstance(item, dict))


def messages(body: Json) -> Iterator[tuple[str, Json]]:
    return objects(body.get("messages"), "messages")


def content(holder: Json, path: str) -> Iterator[tuple[str, Json]]:
    """The blocks of a message or result; a bare text is one block."""
    value = holder.get("content")
    if isinstance(value, str):
        return iter([(f"{path}.content", {"type": "text", "text": value})])
    return objects(value, f"{path}.content")


def blocks(body: Json) -> Iterator[tuple[str, str, Json]]:
    """Path, role and block of every block that stands directly in a message."""
    for path, message in messages(body):
        role = message.get("role")
        for where, block in content(message, path):
            yield where, role if isinstance(role, str) else "", block


def nested(body: Json) -> Iterator[tuple[str, str, Json]]:
    """The same with the blocks inside of results and search results."""
    for path, role, block in blocks(body):
        yield path, role, block
        if block.get("type") in ("tool_result", "search_result", "mcp_tool_result"):
            for where, inner in content(block, path):
                yield where, role, inner


def of_type(body: Json, *kinds: str) -> Iterator[tuple[str, Json]]:
    """Blocks of these types, inside of results, too."""
    return ((path, block) for path, _, block in nested(body) if kind(block) in kinds)


def turns(body: Json) -> list[Turn]:
    """All messages, joined by role. A ``system`` message in between separates nothing."""
    joined: list[Turn] = []
    for path, message in messages(body):
        role = message.get("role")
        if role not in ("user", "assistant"):
            continue
        if not joined or joined[-1].role != role:
            joined.append(Turn(role, path, []))
        joined[-1].blocks.extend(content(message, path))
    return joined


def kind(block: Json) -> str:
    value = block.get("type")
    return value if isinstance(value, str) else ""


def tools(body: Json) -> Iterator[tuple[str, Json]]:
    return objects(body.get("tools"), "tools")


def text(block: Json, name: str) -> str:
    """A member that is a text, or ""."""
    value = block.get(name)
    return value if isinstance(value, str) else ""
