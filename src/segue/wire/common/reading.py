"""Helpers to read a request body: check the type of a value or raise a ``FormatError`` with its path."""

import re
from collections.abc import Sequence
from typing import Any

from ...errors import FormatError
from ...types import AssistantContent, AssistantMessage, Diagnostic, Model, ToolCall

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
    return as_text(value.get(name), f"{path}.{name}")


def optional_text(value: Object, name: str, path: str) -> str:
    """The text under this name, or an empty text if there is none."""
    return "" if value.get(name) is None else text_in(value, name, path)


def answer(
    protocol: str, model: Model | None, content: list[AssistantContent], now: int, notes: Sequence[Diagnostic] = ()
) -> AssistantMessage:
    """An answer of ``model``. Without a model its origin is unknown, so its signatures are never replayed."""
    return AssistantMessage(
        content=content,
        protocol=protocol if model is None else model.protocol,
        provider="" if model is None else model.provider,
        model="" if model is None else model.id,
        endpoint=None if model is None else model.endpoint,
        stop_reason="toolUse" if any(type(block) is ToolCall for block in content) else "stop",
        timestamp=now,
        diagnostics=list(notes),
    )


def _kind(value: Any) -> str:
    return "missing or null" if value is None else type(value).__name__
