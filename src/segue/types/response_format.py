"""Structured output: the JSON that an answer should consist of, and reading it from the answer."""

from collections.abc import Mapping
from typing import Any, TypeVar, overload

import msgspec
from msgspec import Raw, Struct

from ..errors import FormatError
from .messages import AssistantMessage
from .numbers import refuse_non_finite
from .text import scrub_json

T = TypeVar("T")

NAME = "answer"
"""The name of a schema without a title."""
_FENCE = "```"


class ResponseFormat(Struct, frozen=True):
    """The form of an answer: a JSON schema of an object, and a name for it. ``Options`` makes it from a schema or a
    type."""

    name: str
    schema_json: Raw

    @classmethod
    def of(cls, wanted: Any) -> "ResponseFormat":
        """The format for a JSON schema (a dict), or for a type of msgspec, pydantic or the standard library."""
        if isinstance(wanted, ResponseFormat):
            return wanted
        schema = _inlined(scrub_json(dict(wanted)) if isinstance(wanted, Mapping) else _schema_of(wanted))
        if schema.get("type") in ("json_schema", "json_object"):
            raise ValueError("option response_format is the JSON schema itself, without an object around it")
        if schema.setdefault("type", "object" if "properties" in schema else None) != "object":
            raise ValueError("option response_format must describe an object; put any other value in a field of one")
        refuse_non_finite(schema)
        try:
            data = msgspec.json.encode(schema)
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            raise ValueError(f"option response_format is not JSON: {error}") from None
        return cls(_name_of(wanted, schema), Raw(data))

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema as a new Python value."""
        schema: dict[str, Any] = msgspec.json.decode(self.schema_json)
        return schema

    def __hash__(self) -> int:
        return hash((self.name, bytes(self.schema_json)))


def _name_of(wanted: Any, schema: Mapping[str, Any]) -> str:
    title = wanted.__name__ if isinstance(wanted, type) else schema.get("title")
    return title if isinstance(title, str) and title else NAME


def _schema_of(kind: Any) -> dict[str, Any]:
    """The schema of a type."""
    from .type_schemas import add_enum_types, schemas_of, why_no_schema

    reason = why_no_schema(kind)
    if reason is not None:
        raise TypeError(f"option response_format: {reason}; pass a JSON schema, or a type that has one")
    (root,), shared = schemas_of([kind])
    schema = root | ({"$defs": shared} if shared else {})
    add_enum_types(schema)
    return schema


def _inlined(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with a definition in place of a reference at its root, and with the definitions that it refers to."""
    shared = schema.get("$defs")
    if not isinstance(shared, dict):
        return schema
    root = {keyword: value for keyword, value in schema.items() if keyword != "$defs"}
    seen: set[str] = set()
    while isinstance(name := root.get("$ref"), str) and name not in seen:
        seen.add(name)
        target = shared.get(name.removeprefix("#/$defs/"))
        if isinstance(target, dict):
            root = target | {keyword: value for keyword, value in root.items() if keyword != "$ref"}
    used = msgspec.json.encode([root, shared]).decode()
    kept = {name: each for name, each in shared.items() if f'"#/$defs/{name}"' in used}
    return root | ({"$defs": kept} if kept else {})


# -- reading ---------------------------------------------------------------------------------------------------------


@overload
def parse(message: AssistantMessage, kind: type[T]) -> T: ...


@overload
def parse(message: AssistantMessage, kind: Any) -> Any: ...


def parse(message: AssistantMessage, kind: Any) -> Any:
    """Read the JSON in the text of an answer as a value of ``kind``: a type of msgspec, pydantic or the standard
    library, or a JSON schema (a dict), for which the result is checked JSON.

    A ``FormatError`` states why it is not such a value. JSON in a block of Markdown code is read, too.
    """
    if not isinstance(message, AssistantMessage):
        raise TypeError(f"parse reads an AssistantMessage, not a {type(message).__name__}")
    text = _text_of(message)
    try:
        return _checked(text, kind) if isinstance(kind, Mapping) else _converted(text, kind)
    except FormatError as error:
        if message.stop_reason != "length":
            raise
        reason = f"the answer reached its limit of length, so its JSON is not complete ({error.reason})"
        raise FormatError(reason, path=error.path) from None


def _text_of(message: AssistantMessage) -> str:
    if message.failed:
        raise FormatError(f"the answer failed: {message.error_message or message.stop_reason}")
    text = _unfenced(message.text)
    if not text.strip():
        calls = ", ".join(call.name for call in message.tool_calls)
        raise FormatError(f"the answer has no text; it calls {calls}" if calls else "the answer has no text")
    return text


def _unfenced(text: str) -> str:
    """The JSON in a block of Markdown that is the whole text; any other text as it is."""
    # An expression that finds the end of the block would take quadratic time for a text of blanks.
    first, _, rest = text.strip().partition("\n")
    is_block = first.rstrip().lower() in (_FENCE, f"{_FENCE}json") and rest.endswith(_FENCE)
    return rest.removesuffix(_FENCE) if is_block else text


def _converted(text: str, kind: Any) -> Any:
    from .type_schemas import convert_custom_type

    data = text.encode("utf-8", "replace")
    if hasattr(kind, "model_validate_json"):  # a model of pydantic
        try:
            return kind.model_validate_json(data)
        except ValueError as error:
            raise _pydantic_fault(error) from None
    try:
        return msgspec.json.decode(data, type=kind, dec_hook=convert_custom_type)
    except (msgspec.DecodeError, RecursionError, ValueError) as error:
        reason, _, path = str(error).partition(" - at `$")
        raise FormatError(f"the answer does not have the form: {reason}", path=_path(path.rstrip("`"))) from None


def _pydantic_fault(error: ValueError) -> FormatError:
    faults = error.errors() if hasattr(error, "errors") else []
    if not faults:
        return FormatError(f"the answer does not have the form: {error}")
    first = faults[0]
    path = "".join(f"[{each}]" if isinstance(each, int) else f".{each}" for each in first.get("loc", ()))
    return FormatError(f"the answer does not have the form: {first.get('msg')}", path=_path(path))


def _checked(text: str, schema: Mapping[str, Any]) -> Any:
    """The JSON in ``text``, if it fits the schema."""
    import jsonschema_rs

    try:
        value = msgspec.json.decode(text.encode("utf-8", "replace"))
    except (msgspec.DecodeError, RecursionError) as error:
        raise FormatError(f"the answer does not have the form: {error}") from None
    try:
        fault = next(jsonschema_rs.validator_for(dict(schema), retriever=_refuse_to_fetch).iter_errors(value), None)
    except (ValueError, TypeError, LookupError) as error:
        raise TypeError(f"this is not a JSON schema: {error}") from None
    if fault is not None:
        path = "".join(f"[{each}]" if isinstance(each, int) else f".{each}" for each in fault.instance_path)
        raise FormatError(f"the answer does not have the form: {fault.message}", path=_path(path))
    return value


def _refuse_to_fetch(uri: str) -> Any:
    """A schema must be complete: nothing is fetched from the network."""
    raise LookupError(f"{uri} is not part of the schema")


def _path(path: str) -> str:
    return path.removeprefix(".")
