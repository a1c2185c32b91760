"""JSON schemas for Python annotations. msgspec does most of it; paths, pydantic models and enumerations are added."""

import pathlib
from collections.abc import Iterator
from typing import Any

import msgspec

_JSON_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}
_PATHS = (pathlib.Path, pathlib.PurePath)


def schemas_of(annotations: list[Any]) -> tuple[tuple[dict[str, Any], ...], dict[str, Any]]:
    """Return the schemas of annotations, and the definitions that they share."""
    shared: dict[str, Any] = {}

    def custom_schema(kind: type) -> dict[str, Any]:
        if issubclass(kind, _PATHS):
            return {"type": "string"}
        if hasattr(kind, "model_json_schema"):  # a model of pydantic
            schema: dict[str, Any] = kind.model_json_schema(ref_template="#/$defs/{model}")
            shared.update(schema.pop("$defs", {}))
            return schema
        raise NotImplementedError

    schemas, components = msgspec.json.schema_components(
        annotations, schema_hook=custom_schema, ref_template="#/$defs/{name}"
    )
    return schemas, {**shared, **components}


def why_no_schema(annotation: Any) -> str | None:
    """Return the reason why an annotation has no JSON schema; ``None`` if it has one."""
    try:
        schemas_of([annotation])
    except Exception as error:  # noqa: BLE001, foreign types may raise anything
        reason = str(error).partition("\n")[0].rstrip(":") or type(error).__name__
        if isinstance(error, TypeError) and "custom types" in reason:
            name = annotation.__name__ if isinstance(annotation, type) else str(annotation)
            return f"{name} has no JSON schema"
        return reason
    return None


def convert_custom_type(kind: type, value: Any) -> Any:
    """Convert ``value`` to a type that msgspec does not know (its ``dec_hook``)."""
    if issubclass(kind, _PATHS) and isinstance(value, str):
        return kind(value)
    if hasattr(kind, "model_validate"):  # a model of pydantic
        return kind.model_validate(value)
    raise NotImplementedError


def default_entry(value: Any) -> dict[str, Any]:
    """The ``default`` entry of a schema; empty if the value cannot be written as JSON."""
    try:
        return {"default": msgspec.json.decode(msgspec.json.encode(value, enc_hook=_encode_path))}
    except Exception:  # noqa: BLE001, a default may be any object; the function uses it anyway
        return {}


def add_enum_types(schema: dict[str, Any]) -> None:
    """Add the type of every enumeration: some providers require it, and it helps small models."""
    for each in _subschemas(schema):
        values = each.get("enum")
        if isinstance(values, list) and "type" not in each:
            kinds = {_JSON_TYPES.get(type(value)) for value in values}
            if len(kinds) == 1 and None not in kinds:
                each["type"] = kinds.pop()


def _encode_path(value: Any) -> Any:
    if isinstance(value, _PATHS):
        return str(value)
    raise NotImplementedError


def _subschemas(schema: Any) -> Iterator[dict[str, Any]]:
    waiting = [schema]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            yield item
            waiting += [inner for key, inner in item.items() if key not in ("enum", "default", "const", "examples")]
        elif isinstance(item, list):
            waiting += item
