"""An independent check: the request types of the openai SDK, with unknown members refused and iterables read."""

import types
import typing
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import typing_extensions
from openai._types import SequenceNotStr
from openai.types.responses.response_create_params import (
    ResponseCreateParamsNonStreaming,
    ResponseCreateParamsStreaming,
)
from pydantic import ConfigDict, TypeAdapter, ValidationError

_built: dict[Any, Any] = {}


def _strict(kind: Any) -> Any:
    """The same type with lists instead of iterables, and without unknown members."""
    if typing_extensions.is_typeddict(kind):
        return _closed(kind)
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is None or origin is typing.Literal:
        return kind
    if origin in (typing_extensions.Required, typing_extensions.NotRequired, typing_extensions.Annotated):
        return _strict(inner[0])
    arguments = tuple(_strict(argument) for argument in inner)
    if origin in (typing.Union, types.UnionType):
        return typing.Union[arguments]  # noqa: UP007 - the members are only known here
    if origin in (list, Iterable, Sequence, SequenceNotStr):
        return list[arguments]  # type: ignore[valid-type]
    return origin[arguments]


def _closed(kind: Any) -> Any:
    if kind in _built:
        return _built[kind]
    _built[kind] = dict[str, Any]  # a type that contains itself is not checked one level down
    hints = typing_extensions.get_type_hints(kind, include_extras=True)
    members = {
        name: (typing_extensions.Required if _is_required(hint) else typing_extensions.NotRequired)[_strict(hint)]
        for name, hint in hints.items()
    }
    closed = typing_extensions.TypedDict(kind.__name__, members)  # type: ignore[operator]
    closed.__pydantic_config__ = ConfigDict(extra="forbid", strict=True)
    _built[kind] = closed
    return closed


def _is_required(hint: Any) -> bool:
    return typing.get_origin(hint) is typing_extensions.Required


@cache
def _adapter(streams: bool) -> TypeAdapter[Any]:
    return TypeAdapter(_closed(ResponseCreateParamsStreaming if streams else ResponseCreateParamsNonStreaming))


def faults(body: dict[str, Any]) -> list[str]:
    """Every fault of a body by the SDK's types; for an item, the faults of each kind of item."""
    try:
        _adapter(body.get("stream") is True).validate_python(body)
    except ValidationError as error:
        return [f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors(include_url=False)]
    return []
