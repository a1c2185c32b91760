"""Convert tool schemas from JSON Schema to the OpenAPI subset that ``parameters`` accepts (GEM-16), and back.

Everything works on copies. What the subset cannot express is left out, or moved to the description if it would change
the meaning of a value.
"""

from collections.abc import Callable
from typing import Any

Schema = dict[str, Any]

TYPES = {
    "string": "STRING",
    "number": "NUMBER",
    "integer": "INTEGER",
    "boolean": "BOOLEAN",
    "array": "ARRAY",
    "object": "OBJECT",
}
# "only 'enum' and 'date-time' are supported for STRING type" (gemini-cli#3178, 2025-07); numbers have widths.
FORMATS = {
    "STRING": ("enum", "date-time"),
    "NUMBER": ("float", "double"),
    "INTEGER": ("int32", "int64"),
}
# Keys that are copied, with the types that their values must have.
PLAIN: dict[str, tuple[type, ...]] = {
    "title": (str,),
    "description": (str,),
    "pattern": (str,),
    "minimum": (int, float),
    "maximum": (int, float),
    "minItems": (int,),
    "maxItems": (int,),
    "minLength": (int,),
    "maxLength": (int,),
    "minProperties": (int,),
    "maxProperties": (int,),
}
ANY: Schema = {"type": "STRING"}
# Limits for schemas that refer to themselves or grow by references.
MAX_DEPTH, MAX_NODES = 32, 10_000


def object_schema(schema: Any) -> Schema:
    """``schema`` if its type is object, otherwise a copy of type object, as parameters must be.

    "The schema must describe an object where the properties are the parameters to the function" (google-genai 3.1.0)
    """
    if not isinstance(schema, dict):
        return {"type": "object", "properties": {}}
    if schema.get("type") == "object" and isinstance(schema.get("properties", {}), dict):
        return schema
    adapted = {**schema, "type": "object"}
    if not isinstance(adapted.get("properties", {}), dict):
        adapted["properties"] = {}
    return adapted


def to_openapi(schema: Schema) -> Schema:
    """A JSON Schema, converted to the subset."""
    return _Adapter(schema).adapt(schema, 0)


class _Adapter:
    """Converts one schema; keeps its root for references."""

    def __init__(self, root: Schema) -> None:
        self.root = root
        self.nodes = 0

    def adapt(self, schema: Any, depth: int) -> Schema:
        self.nodes += 1
        if not isinstance(schema, dict) or depth > MAX_DEPTH or self.nodes > MAX_NODES:
            return dict(ANY)
        schema, nullable = self._flat(schema, depth)
        variants = schema.get("anyOf", [])
        if variants:
            # "When using any_of, it must be the only field set" (Vertex, Graphenium#37, 2026-07).
            members = [self.adapt(variant, depth + 1) for variant in variants]
            return {"anyOf": [{**member, "nullable": True} if nullable else member for member in members]}
        adapted = self._single(schema, depth)
        return {**adapted, "nullable": True} if nullable else adapted

    # -- alternatives ------------------------------------------------------------------------------------------------

    def _flat(self, schema: Schema, depth: int) -> tuple[Schema, bool]:
        """The schema without references, joins, lists of types and ``null``; and whether it may be null."""
        schema = self._joined(self._resolved(schema), depth)
        schema = {("anyOf" if key == "oneOf" else key): value for key, value in schema.items()}
        nullable = schema.get("nullable") is True
        kinds = schema.get("type")
        if kinds is None or isinstance(kinds, (str, list)):
            names = kinds if isinstance(kinds, list) else [kinds]
            nullable = nullable or "null" in names
            names = [name for name in names if name != "null"]
            schema["type"] = names[0] if names else None
            if len(names) > 1:
                rest = {key: value for key, value in schema.items() if key not in ("type", "description", "nullable")}
                schema = {"anyOf": [{**rest, "type": name} for name in names]}
        variants = schema.get("anyOf")
        if not isinstance(variants, list):
            schema.pop("anyOf", None)
            return schema, nullable
        kept = [variant for variant in variants if not _is_null(variant)]
        nullable = nullable or len(kept) < len(variants)
        outer = {key: value for key, value in schema.items() if key != "anyOf"}
        if len(kept) == 1 and isinstance(kept[0], dict):
            inner, deeper = self._flat({**outer, **kept[0]}, depth + 1) if depth < MAX_DEPTH else ({}, False)
            return inner, nullable or deeper
        if outer.get("type") == "object":  # keep the properties; which of them go together is left out
            return outer, nullable
        return ({"anyOf": kept} if kept else outer), nullable

    def _resolved(self, schema: Schema) -> Schema:
        """Follow ``$ref`` within the document; keys next to it are kept."""
        seen = 0
        while isinstance(schema.get("$ref"), str) and seen < MAX_DEPTH:
            seen += 1
            target = self._target(schema["$ref"])
            beside = {key: value for key, value in schema.items() if key != "$ref"}
            schema = {**target, **beside}
        return schema

    def _target(self, reference: str) -> Schema:
        found: Any = self.root
        for step in reference.removeprefix("#").strip("/").split("/"):
            if step:
                found = found.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(found, dict) else None
        return found if isinstance(found, dict) and reference.startswith("#") else {}

    def _joined(self, schema: Schema, depth: int) -> Schema:
        """``allOf`` as one schema: properties and requirements are joined; for other keys the first value counts."""
        members = schema.get("allOf")
        if not isinstance(members, list):
            return dict(schema)
        joined = {key: value for key, value in schema.items() if key != "allOf"}
        for member in members if depth < MAX_DEPTH else []:
            if not isinstance(member, dict):
                continue
            member = self._joined(self._resolved(member), depth + 1)
            for key, value in member.items():
                before = joined.get(key)
                if isinstance(before, dict) and isinstance(value, dict) and key == "properties":
                    joined[key] = {**value, **before}
                elif isinstance(before, list) and isinstance(value, list) and key == "required":
                    joined[key] = [*before, *(name for name in value if name not in before)]
                else:
                    joined.setdefault(key, value)
        return joined

    # -- one kind of value -------------------------------------------------------------------------------------------

    def _single(self, schema: Schema, depth: int) -> Schema:
        values = schema["enum"] if isinstance(schema.get("enum"), list) else []
        if "const" in schema:
            values = [schema["const"]]
        kind = _kind(schema, values)
        adapted: Schema = {"type": kind}
        for key, allowed in PLAIN.items():
            value = schema.get(key)
            if isinstance(value, allowed) and not isinstance(value, bool):
                adapted[key] = value
        if schema.get("format") in FORMATS.get(kind, ()):
            adapted["format"] = schema["format"]
        self._add_values(adapted, kind, values)
        if kind == "ARRAY":  # ".items: missing field."
            adapted["items"] = self.adapt(schema.get("items"), depth + 1)
        if kind == "OBJECT":
            self._add_properties(adapted, schema, depth)
        if None in values:
            adapted["nullable"] = True
        return adapted

    def _add_values(self, adapted: Schema, kind: str, values: list[Any]) -> None:
        """``.enum: only allowed for STRING type``, and no value may be empty."""
        texts = [value for value in values if isinstance(value, str) and value]
        if kind == "STRING" and texts:
            adapted["enum"] = texts
        elif kind != "STRING" and values:
            values_text = "One of: " + ", ".join(str(value) for value in values if value is not None)
            adapted["description"] = (
                f"{adapted['description']} {values_text}" if "description" in adapted else values_text
            )
        if adapted.get("format") == "enum" and "enum" not in adapted:
            del adapted["format"]

    def _add_properties(self, adapted: Schema, schema: Schema, depth: int) -> None:
        found = schema.get("properties")
        if not isinstance(found, dict) or not found:
            return
        properties = adapted["properties"] = {str(name): self.adapt(each, depth + 1) for name, each in found.items()}
        for key in ("required", "propertyOrdering"):
            names = schema[key] if isinstance(schema.get(key), list) else []
            names = [name for name in names if isinstance(name, str) and name in properties]
            if names:
                adapted[key] = names


def _is_null(variant: Any) -> bool:
    return isinstance(variant, dict) and variant.get("type") in ("null", ["null"])


def _kind(schema: Schema, values: list[Any]) -> str:
    """The type, or the one that the other keys imply: a schema without one is refused ("didn't specify the schema type
    field", Vertex, gemini-cli#2282, new-api#3022, 2025-06 to 2026-02)."""
    name = schema.get("type")
    if isinstance(name, str) and name.lower() in TYPES:
        return TYPES[name.lower()]
    if "properties" in schema:
        return "OBJECT"
    if "items" in schema:
        return "ARRAY"
    numbers = [value for value in values if isinstance(value, (int, float)) and not isinstance(value, bool)]
    if numbers and len(numbers) == len(values):
        return "INTEGER" if all(isinstance(value, int) for value in numbers) else "NUMBER"
    return "STRING"


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
    return int(value) if isinstance(value, str) and value.isdecimal() else value


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
