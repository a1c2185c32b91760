"""Helpers to read a request body: check the type of a value or raise a ``FormatError`` with its path.

A path may be that inside a part: what reads the parts adds the ``place`` of the part, so that paths are made for errors
alone.
"""

import re
from collections.abc import Callable, Iterator
from operator import length_hint
from typing import Any

from msgspec.structs import replace

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
MakeAnswer = Callable[[list[AssistantContent], list[Diagnostic]], AssistantMessage]
"""Makes an answer of its blocks, and of notes on how they were read."""

DATA_URL = re.compile(r"data:([^;,]*)(?:;[^;,]*)*;base64,(.*)", re.DOTALL)
"""An image inside a URL: its media type and its base64 data."""


def as_object(value: Any, path: str = "") -> Object:
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


def text_in(value: Object, name: str, path: str = "") -> str:
    """The text under this name."""
    text = value.get(name)
    return text if type(text) is str else as_text(text, f"{path}.{name}" if path else name)


def optional_text(value: Object, name: str, path: str = "") -> str:
    """The text under this name, or an empty text if there is none."""
    return "" if value.get(name) is None else text_in(value, name, path)


def place(path: str, parts: list[Any], rest: Iterator[Any]) -> str:
    """The path of the part that was read last; ``rest`` iterates over ``parts``, the list at ``path``."""
    return f"{path}[{len(parts) - length_hint(rest) - 1}]"


def read_each(parts: list[Any], path: str, read: Callable[[Any], None]) -> None:
    """Read every part of the list at ``path``; an error gets the place of its part."""
    rest = iter(parts)
    try:
        for part in rest:
            read(part)
    except FormatError as error:
        raise error.below(place(path, parts, rest)) from None


def answers(protocol: str, model: Model | None, now: int) -> MakeAnswer:
    """A function that makes the answers of ``model``. Without a model their origin is unknown, so their signatures are
    never replayed."""
    blank: AssistantMessage = unchecked(
        AssistantMessage,
        content=[],
        protocol=protocol if model is None else model.protocol,
        provider="" if model is None else model.provider,
        model="" if model is None else model.id,
        endpoint=None if model is None else model.endpoint,
        stop_reason="stop",
        timestamp=now,
    )

    def make(content: list[AssistantContent], notes: list[Diagnostic]) -> AssistantMessage:
        reason = "toolUse" if ToolCall in map(type, content) else "stop"
        return replace(blank, content=content, stop_reason=reason, diagnostics=notes)

    return make


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
