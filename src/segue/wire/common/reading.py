"""Helpers to read a request body: check the type of a value or raise a ``FormatError`` with its path."""

import re
from collections.abc import Sequence
from typing import Any

from ...errors import FormatError
from ...types import (
    AssistantContent,
    AssistantMessage,
    Diagnostic,
    Model,
    ToolCall,
    ToolResultContent,
    ToolResultMessage,
    UserContent,
    UserMessage,
    unchecked,
)

Object = dict[str, Any]

DATA_URL = re.compile(r"data:([^;,]*)(?:;[^;,]*)*;base64,(.*)", re.DOTALL)
"""An image inside a URL: its media type and its base64 data."""


def as_object(value: Any, path: str) -> Object:
    if not isinstance(value, dict):
        raise FormatError(f"must be an object, not {_kind(value)}", path=path)
    return value


def as_list(value: Any, path: str) -> list[Any]:
    if not isinstance(value, list):
        raise FormatError(f"must be a list, not {_kind(value)}", path=path)
    return value


def as_text(value: Any, path: str) -> str:
    if not isinstance(value, str):
        raise FormatError(f"must be a text, not {_kind(value)}", path=path)
    return value


def text_in(value: Object, name: str, path: str) -> str:
    """The text under this name."""
    text = value.get(name)
    return text if type(text) is str else as_text(text, f"{path}.{name}")


def optional_text(value: Object, name: str, path: str) -> str:
    """The text under this name, or an empty text if there is none."""
    return "" if value.get(name) is None else text_in(value, name, path)


def answer(
    protocol: str, model: Model | None, content: list[AssistantContent], now: int, notes: Sequence[Diagnostic] = ()
) -> AssistantMessage:
    """An answer of ``model``. Without a model its origin is unknown, so its signatures are never replayed."""
    message: AssistantMessage = unchecked(
        AssistantMessage,
        content=content,
        protocol=protocol if model is None else model.protocol,
        provider="" if model is None else model.provider,
        model="" if model is None else model.id,
        endpoint=None if model is None else model.endpoint,
        stop_reason="toolUse" if ToolCall in map(type, content) else "stop",
        timestamp=now,
        diagnostics=list(notes),
    )
    return message


def user_message(content: list[UserContent]) -> UserMessage:
    """A message of the user, of blocks that were read."""
    message: UserMessage = unchecked(UserMessage, content)
    return message


def result_message(call: str, name: str, content: list[ToolResultContent], is_error: bool = False) -> ToolResultMessage:
    """The result of a call, of blocks that were read."""
    message: ToolResultMessage = unchecked(ToolResultMessage, call, name, content, is_error)
    return message


def tool_call(call: str, name: str, arguments: Object, signature: str | None = None) -> ToolCall:
    """A call whose id, name and arguments were read."""
    block: ToolCall = unchecked(ToolCall, call, name, arguments, signature or None)
    return block


def _kind(value: Any) -> str:
    return "missing or null" if value is None else type(value).__name__
