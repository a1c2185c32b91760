"""The schema of structured output in a strict form: targets that guarantee it accept only a part of JSON Schema.

Changes keep every value of the caller's type possible, or leave out constraints that the target cannot enforce;
``segue.parse`` checks those afterwards. All of them are reported. A schema that has no strict form is ``Unfit``.
"""

from typing import Any, NamedTuple

from ...dialects import valid_name
from ...types import ResponseFormat
from .outgoing import Outgoing

Schema = dict[str, Any]
Out = Outgoing[Any]


class OutputShape(NamedTuple):
    """What a strict target accepts."""

    all_required: bool = False
    """Whether all properties must be required."""
    refused: frozenset[str] = frozenset()
    """Constraints that it refuses."""
    formats: frozenset[str] | None = None
    """The formats of strings that it knows; ``None``: any."""
    recursive: bool = True
    """Whether a definition may refer to itself."""
    conjunctions: bool = True
    """Whether ``allOf`` is accepted."""


_FORMATS = frozenset({"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"})
_OBJECTS = frozenset({"propertyNames", "minProperties", "maxProperties", "unevaluatedProperties", "dependentRequired"})
_ARRAYS = frozenset({"contains", "minContains", "maxContains", "uniqueItems", "unevaluatedItems"})
_STRINGS = frozenset({"minLength", "maxLength"})
_NUMBERS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})

# "all fields must be required", "additionalProperties: false must always be set", unsupported keywords and formats:
# SDK openai 3.49.0 (lib/_pydantic.py) and pydantic-ai 2.66.0 (profiles/openai.py), 2026-11.
OPENAI = OutputShape(all_required=True, refused=_OBJECTS | _ARRAYS | _STRINGS, formats=_FORMATS, conjunctions=False)
# SDK anthropic 2.8.0 (lib/_parse/_transform.py) moves all constraints to descriptions; "recursive schemas" are not
# supported (platform.claude.com, "Structured outputs", 2026-11).
ANTHROPIC = OutputShape(
    refused=_OBJECTS | _ARRAYS | _STRINGS | _NUMBERS | {"pattern", "minItems", "maxItems"},
    formats=_FORMATS | {"uri"},
    recursive=False,
)
# SDK mistralai (extra/utils/_pydantic_helper.py) closes all objects and changes nothing else, 2026-11.
MISTRAL = OutputShape()

_ANNOTATIONS = frozenset({"title", "default", "examples", "$schema", "$id", "$comment", "discriminator", "deprecated"})
_TYPED = frozenset({"type", "$ref", "anyOf", "allOf", "enum", "const"})


class Unfit(Exception):
    """A schema that has no strict form; the text is the reason."""


def strict_schema(schema: Schema, shape: OutputShape) -> tuple[Schema, list[str]]:
    """The schema in a strict form, and what was changed. ``Unfit`` if it has none."""
    changes: dict[str, None] = {}
    try:
        made = _strict(schema, shape, changes)
    except RecursionError:
        raise Unfit("it is nested too deeply") from None
    if not shape.recursive and _is_recursive(made):
        raise Unfit("a definition refers to itself")
    return made, list(changes)


def _strict(schema: Any, shape: OutputShape, changes: dict[str, None]) -> Schema:
    if not isinstance(schema, dict):
        raise Unfit("a part of it accepts any value")
    made: Schema = {keyword: value for keyword, value in schema.items() if keyword not in _ANNOTATIONS}
    if "oneOf" in made:
        made["anyOf"] = [*made.pop("oneOf"), *made.get("anyOf", [])]
    _check(made, shape)
    if "$ref" in made:
        return {"$ref": made["$ref"]} | _definitions(made, shape, changes)
    for keyword in [each for each in made if each in shape.refused]:
        if (keyword, made[keyword]) not in (("minItems", 0), ("minItems", 1)):
            changes[f"without {keyword}"] = None
            del made[keyword]
    if shape.formats is not None and made.get("format", "date") not in shape.formats:
        changes[f"without the format {made.pop('format')}"] = None
    for keyword in ("anyOf", "allOf", "prefixItems"):
        if keyword in made:
            made[keyword] = [_strict(each, shape, changes) for each in made[keyword]]
    if "items" in made and made["items"] is not False:
        made["items"] = _strict(made["items"], shape, changes)
    if made.get("type") == "object" or "properties" in made:
        _close(made, shape, changes)
    return made | _definitions(made, shape, changes)


def _check(schema: Schema, shape: OutputShape) -> None:
    """Raise ``Unfit`` where there is no strict form."""
    if _TYPED.isdisjoint(schema):
        raise Unfit("a part of it accepts any value")
    if not shape.conjunctions and "allOf" in schema:
        raise Unfit("it has allOf")
    for keyword in ("not", "if", "patternProperties", "dependentSchemas"):
        if keyword in schema:
            raise Unfit(f"it has {keyword}")
    if schema.get("type") == "array" and "items" not in schema and "prefixItems" not in schema:
        raise Unfit("the elements of a list may be anything")


def _definitions(schema: Schema, shape: OutputShape, changes: dict[str, None]) -> Schema:
    shared = schema.get("$defs")
    if not isinstance(shared, dict):
        return {}
    return {"$defs": {name: _strict(each, shape, changes) for name, each in shared.items()}}


def _close(made: Schema, shape: OutputShape, changes: dict[str, None]) -> None:
    """Close an object: no other properties, and as a strict target wants it, no optional ones."""
    properties = made.get("properties")
    if made.get("additionalProperties", False) is not False or not isinstance(properties, dict):
        raise Unfit("an object may have any properties")
    if "additionalProperties" not in made:
        changes["objects have no other properties"] = None
    made["additionalProperties"] = False
    made["properties"] = {name: _strict(each, shape, changes) for name, each in properties.items()}
    if shape.all_required and set(made.get("required", ())) != set(properties):
        changes["all properties are required"] = None
        made["required"] = list(properties)


def _is_recursive(schema: Schema) -> bool:
    """Whether a definition refers to itself, to the root, or to something that is not there."""
    uses = {f"#/$defs/{name}": set(_references(each)) for name, each in schema.get("$defs", {}).items()}
    uses[""] = set(_references({keyword: value for keyword, value in schema.items() if keyword != "$defs"}))
    done: set[str] = set()
    while ready := {name for name, used in uses.items() if used <= done} - done:
        done |= ready
    return done != set(uses)


def _references(value: Any) -> list[str]:
    if isinstance(value, dict):
        own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
        return own + [found for each in value.values() for found in _references(each)]
    return [found for each in value for found in _references(each)] if isinstance(value, list) else []


# -- for encoders ----------------------------------------------------------------------------------------------------


def wanted_format(out: Out, tools: bool) -> ResponseFormat | None:
    """The format that the options ask for, if the target has structured output; otherwise that is reported.

    ``tools``: the request has tools.
    """
    wanted = out.options.response_format
    if wanted is None or not isinstance(wanted, ResponseFormat):
        return None
    if out.dialect.structured_output == "no":
        out.drop_option("response_format", "this model is not known to have structured output")
        return None
    if out.dialect.structured_output == "alone" and (tools or out.options.stream):
        out.drop_option("response_format", "this model has it only without tools and without streaming")
        return None
    return wanted


def note_changes(out: Out, changes: list[str]) -> None:
    """Report how the schema was changed."""
    if changes:
        out.note("schema-adapted", None, f"response_format: {', '.join(changes)}")


def named_format(out: Out, wanted: ResponseFormat, shape: OutputShape) -> Schema:
    """Name, schema and ``strict``, as OpenAI and those that follow it have them. Without a strict form, the schema is
    sent as it is, and the target follows it without a guarantee."""
    name = valid_name(wanted.name, "dashes")
    try:
        schema, changes = strict_schema(wanted.schema, shape)
    except Unfit as reason:
        note_changes(out, [f"it cannot be enforced, because {reason}"])
        return {"name": name, "schema": wanted.schema, "strict": False}
    note_changes(out, changes)
    return {"name": name, "schema": schema, "strict": True}


def closed_schema(out: Out, wanted: ResponseFormat, shape: OutputShape) -> Schema | None:
    """The schema in the strict form; ``None`` if it has none, which is reported."""
    try:
        schema, changes = strict_schema(wanted.schema, shape)
    except Unfit as reason:
        out.drop_option("response_format", f"this model cannot follow the schema, because {reason}")
        return None
    note_changes(out, changes)
    return schema
