"""Walking over a body that may be anything: each function gives what has the shape it looks for and skips the rest."""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from ...dialects import OpenAICompletions
from ...types import Model

Object = dict[str, Any]
Found = Iterator[tuple[str, str]]


def many(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def get(value: Any, *names: str) -> Any:
    """What stands below these names, or None."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def messages(body: Object) -> Iterator[tuple[str, Object]]:
    for index, message in enumerate(many(body.get("messages"))):
        if isinstance(message, dict):
            yield f"messages[{index}]", message


def spoken(body: Object) -> list[tuple[str, Object]]:
    """All messages but those of the system."""
    return [(path, message) for path, message in messages(body) if message.get("role") not in ("system", "developer")]


def answers(body: Object) -> Iterator[tuple[str, Object]]:
    return ((path, message) for path, message in messages(body) if message.get("role") == "assistant")


def calls(message: Object) -> list[Any]:
    return many(message.get("tool_calls"))


def call_ids(message: Object) -> list[str]:
    return [call["id"] for call in calls(message) if isinstance(get(call, "id"), str)]


def history_calls(body: Object) -> Iterator[tuple[str, Any]]:
    for path, message in messages(body):
        for index, call in enumerate(calls(message)):
            yield f"{path}.tool_calls[{index}]", call


def parts(body: Object) -> Iterator[tuple[str, str, Object]]:
    """Path, role and part, for each part of each message with a list of them."""
    for path, message in messages(body):
        for index, part in enumerate(many(message.get("content"))):
            if isinstance(part, dict):
                yield f"{path}.content[{index}]", str(message.get("role")), part


def functions(body: Object) -> Iterator[tuple[str, Object]]:
    for index, tool in enumerate(many(body.get("tools"))):
        if isinstance(get(tool, "function"), dict):
            yield f"tools[{index}].function", tool["function"]


def is_empty(content: Any) -> bool:
    """No text at all: null, an empty string, or parts of which none holds anything."""
    if isinstance(content, list):
        return all(get(part, "type") == "text" and not get(part, "text") for part in content)
    return content is None or content == ""


def json_object(text: Any) -> bool:
    """Whether ``text`` is a JSON object written as a string."""
    if not isinstance(text, str):
        return False
    try:
        return isinstance(msgspec.json.decode(text), dict)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return False


def strings(value: Any) -> Iterator[tuple[str, str]]:
    """Every string in ``value`` with its path, keys too. Nesting costs no stack."""
    waiting: list[tuple[str, Any]] = [("", value)]
    while waiting:
        path, item = waiting.pop()
        if isinstance(item, str):
            yield path, item
        elif isinstance(item, list):
            waiting += [(f"{path}[{index}]", below) for index, below in enumerate(item)]
        elif isinstance(item, dict):
            waiting += [(f"{path}.{name}".removeprefix("."), below) for name, below in item.items()]
            waiting += [(path, name) for name in item]


def dialect_of(model: Model | None) -> OpenAICompletions | None:
    dialect = None if model is None else model.dialect
    return dialect if isinstance(dialect, OpenAICompletions) else None


def where(holds: Callable[[OpenAICompletions], bool]) -> Callable[[Model], bool]:
    """A condition on the model's dialect, for ``Rule.only``."""

    def only(model: Model) -> bool:
        dialect = dialect_of(model)
        return dialect is not None and holds(dialect)

    return only
