"""Convert a JSON value to another JSON type if both mean the same: ``"3"`` to 3, ``"true"`` to true, 3.0 to 3."""

import json
import math
from collections.abc import Callable
from typing import Any

FAILED = object()
"""Returned where a value cannot be converted."""


def to_integer(value: Any) -> Any:
    number = to_number(value)
    if isinstance(number, float):
        return int(number) if number.is_integer() else FAILED
    return number


def to_number(value: Any) -> Any:
    if isinstance(value, str):
        value = _parse(value.strip())
    elif not isinstance(value, float):
        return FAILED
    if type(value) is int:
        return value
    return value if type(value) is float and math.isfinite(value) else FAILED


def to_boolean(value: Any) -> Any:
    text = value.strip().lower() if isinstance(value, str) else ""
    return {"true": True, "false": False}.get(text, FAILED)


def to_null(value: Any) -> Any:
    return None if isinstance(value, str) and value.strip().lower() in ("null", "none") else FAILED


def to_string(value: Any) -> Any:
    return json.dumps(value) if type(value) in (int, float) else FAILED


def to_object(value: Any) -> Any:
    parsed = _parse(value) if isinstance(value, str) else value
    return parsed if isinstance(parsed, dict) else FAILED


def to_array(value: Any) -> Any:
    parsed = _parse(value) if isinstance(value, str) else value
    return parsed if isinstance(parsed, list) else FAILED


def _parse(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return FAILED


CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "integer": to_integer,
    "number": to_number,
    "boolean": to_boolean,
    "null": to_null,
    "object": to_object,
    "array": to_array,
    "string": to_string,
}
"""By the type that the schema requires."""


def reads_same(one: Any, other: Any) -> bool:
    """Whether two scalars have the same text: 3, 3.0 and ``"3"`` have."""
    return _as_text(one) == _as_text(other)


def _as_text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, str) else json.dumps(value)
