"""The OpenAPI subset that ``parameters`` have (GEM-16): types in capitals, and the way back to JSON Schema.

``wire/common/schema`` adapts schemas to the subset.
"""

from collections.abc import Callable
from typing import Any

from ...types.text import whole_number
from ..common.schema.subset import FORMATS as _FORMATS

Schema = dict[str, Any]

TYPES = {name: name.upper() for name in ("string", "number", "integer", "boolean", "array", "object")}
FORMATS = {TYPES[name]: formats for name, formats in _FORMATS.items()}


def to_openapi(schema: Schema) -> Schema:
    """A schema of the subset, with types in capitals."""
    made = dict(schema)
    if "type" in made:
        made["type"] = TYPES[made["type"]]
    if "items" in made:
        made["items"] = to_openapi(made["items"])
    if "anyOf" in made:
        made["anyOf"] = [to_openapi(each) for each in made["anyOf"]]
    if "properties" in made:
        made["properties"] = {name: to_openapi(each) for name, each in made["properties"].items()}
    return made


# -- back ------------------------------------------------------------------------------------------------------------


def from_openapi(schema: Any) -> Any:
    """A schema of the subset as JSON Schema. ``None`` (no parameters) is an object without properties."""
    if schema is None:
        return {"type": "object", "properties": {}}
    if not isinstance(schema, dict):
        return schema
    nullable = schema.get("nullable") is True
    back: Schema = {}
    for key, value in schema.items():
        if key != "nullable":
            name, read = _BACK.get(key, (key, None))
            back[name] = value if read is None else read(value)
    if nullable:
        if isinstance(back.get("type"), str):
            back["type"] = [back["type"], "null"]
        if isinstance(back.get("enum"), list):
            back["enum"] = [*back["enum"], None]
    return back


def _type(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


def _each(value: Any) -> Any:
    return [from_openapi(item) for item in value] if isinstance(value, list) else value


def _values(value: Any) -> Any:
    return {name: from_openapi(item) for name, item in value.items()} if isinstance(value, dict) else value


def _number(value: Any) -> Any:
    """A number; 64-bit integers may be texts."""
    number = whole_number(value) if isinstance(value, str) else None
    return value if number is None else number


_SIZES = ("minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties")
# For each key, in both spellings: its name in JSON Schema, and a function that converts its value.
_BACK: dict[str, tuple[str, Callable[[Any], Any] | None]] = {
    "type": ("type", _type),
    "items": ("items", from_openapi),
    "anyOf": ("anyOf", _each),
    "any_of": ("anyOf", _each),
    "properties": ("properties", _values),
    "property_ordering": ("propertyOrdering", None),
    **{name: (name, _number) for name in _SIZES},
    **{name.replace("I", "_i").replace("L", "_l").replace("P", "_p"): (name, _number) for name in _SIZES},
}
