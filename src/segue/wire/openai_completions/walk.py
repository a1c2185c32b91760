"""Walk over a body of any shape: each function returns what it looks for, and skips the rest."""

from collections.abc import Callable, Iterator
from typing import Any

from ...dialects import OpenAICompletions
from ...rules import shared
from ...types import Model

Object = dict[str, Any]
Found = Iterator[tuple[str, str]]


def many(value: Any) -> list[Any]:
    """``value`` if it is a list, otherwise an empty one."""
    return value if isinstance(value, list) else []


def get(value: Any, *names: str) -> Any:
    """The value at the path of these names, or ``None``."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


@shared
def messages(body: Object) -> list[tuple[str, Object]]:
    return [
        (f"messages[{index}]", message)
        for index, message in enumerate(many(body.get("messages")))
        if isinstance(message, dict)
    ]


@shared
def dialogue(body: Object) -> list[tuple[str, Object]]:
    """All messages except system messages."""
    return [(path, message) for path, message in messages(body) if message.get("role") not in ("system", "developer")]


@shared
def answers(body: Object) -> list[tuple[str, Object]]:
    return [(path, message) for path, message in messages(body) if message.get("role") == "assistant"]


def calls(message: Object) -> list[Any]:
    return many(message.get("tool_calls"))


def call_ids(message: Object) -> list[str]:
    return [call["id"] for call in calls(message) if isinstance(get(call, "id"), str)]


@shared
def history_calls(body: Object) -> list[tuple[str, Any]]:
    return [
        (f"{path}.tool_calls[{index}]", call)
        for path, message in messages(body)
        for index, call in enumerate(calls(message))
    ]


@shared
def parts(body: Object) -> list[tuple[str, str, Object]]:
    """Path, role and part of each part of a message."""
    return [
        (f"{path}.content[{index}]", role_of(message), part)
        for path, message in messages(body)
        for index, part in enumerate(many(message.get("content")))
        if isinstance(part, dict)
    ]


def role_of(message: Object) -> str:
    role = message.get("role")
    return role if isinstance(role, str) else ""


def functions(body: Object) -> list[tuple[str, Object]]:
    return [(path, tool) for path, tool in tools(body) if not path.endswith(".custom")]


def tools(body: Object) -> list[tuple[str, Object]]:
    """The tools that have a name: functions, also those in the older ``functions``, and free-text tools."""
    older = enumerate(many(body.get("functions")))
    return [
        (f"tools[{index}].{kind}", tool[kind])
        for index, tool in enumerate(many(body.get("tools")))
        for kind in ("function", "custom")
        if isinstance(get(tool, kind), dict) and not is_builtin(tool)
    ] + [(f"functions[{index}]", function) for index, function in older if isinstance(function, dict)]


def is_builtin(tool: Any) -> bool:
    """Whether a tool, or a call, is of a function that the provider has itself. Only some have any."""
    return bool(get(tool, "type") == "builtin_function")


def is_off(body: Object) -> bool:
    """Whether the body switches reasoning off."""
    return (
        get(body.get("thinking"), "type") == "disabled"
        or body.get("enable_thinking") is False
        or body.get("reasoning_effort") == "none"
    )


def samples(body: Object, dialect: OpenAICompletions) -> bool:
    """Whether a model that reasons accepts sampling options in this request, because it does not reason in it."""
    effort = body.get("reasoning_effort")
    return not dialect.reasons_by_default if effort is None else effort == "none" and effort in dialect.effort


def is_empty(content: Any) -> bool:
    """Whether content has no text: null, an empty string, or only empty text parts."""
    if isinstance(content, list):
        return all(get(part, "type") == "text" and not get(part, "text") for part in content)
    return content is None or content == ""


def dialect_of(model: Model | None) -> OpenAICompletions | None:
    dialect = None if model is None else model.dialect
    return dialect if isinstance(dialect, OpenAICompletions) else None


def where(holds: Callable[[OpenAICompletions], bool]) -> Callable[[Model], bool]:
    """A condition on the model's dialect, for ``Rule.only``."""

    def only(model: Model) -> bool:
        dialect = dialect_of(model)
        return dialect is not None and holds(dialect)

    return only
