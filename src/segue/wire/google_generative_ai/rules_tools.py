"""Rules about tools: their names, their schemas, and what cannot be combined with them."""

import re
from typing import Any

from ...dialects import SCHEMA_SHAPES
from ...rules import Rule
from ...types import Model
from ..common.checks import Place, path_of, repeated, schema_fault, shown
from ..common.schema import refused
from .rules_contents import ENCODER, Found, only
from .schema import FORMATS, TYPES
from .shapes import declarations, get, many, parts_with, snake

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,63}").fullmatch
# google-genai 3.1.0, types.Schema, without fields that older endpoints refuse with "Cannot find field".
SCHEMA_KEYS = (
    "anyOf",
    "default",
    "description",
    "enum",
    "example",
    "format",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "nullable",
    "pattern",
    "properties",
    "propertyOrdering",
    "required",
    "title",
    "type",
)
_KEYS = frozenset(SCHEMA_KEYS) | {snake(name) for name in SCHEMA_KEYS}
_TYPES = frozenset(TYPES.values()) | {"NULL", "TYPE_UNSPECIFIED"}


def _names(body: dict[str, Any], model: Model | None) -> Found:
    named = [(path, get(declaration, "name")) for path, declaration in declarations(body)]
    for path, kind, held in parts_with(body, "functionCall", "functionResponse"):
        name = get(held, "name")
        if name:  # a missing name is GEM-17
            named.append((f"{path}.{kind}", name))
    for path, name in named:
        if not isinstance(name, str) or not _NAME(name):
            yield f"{path}.name", f"{shown(name)!r} is not a valid name"


def _single(body: dict[str, Any], model: Model | None) -> Found:
    named = ((f"{path}.name", get(declaration, "name")) for path, declaration in declarations(body))
    return repeated(named, "the function")


# -- schemas ---------------------------------------------------------------------------------------------------------


def _schemas(body: dict[str, Any], model: Model | None) -> Found:
    for path, declaration in declarations(body):
        schema = get(declaration, "parameters")
        if schema is not None:
            yield from _schema(schema, f"{path}.parameters")
            if get(declaration, "parametersJsonSchema") is not None:
                yield f"{path}.parametersJsonSchema", "not allowed together with parameters"


def _json_schemas(body: dict[str, Any], model: Model | None) -> Found:
    for path, declaration in declarations(body):
        schema, path = get(declaration, "parametersJsonSchema"), f"{path}.parametersJsonSchema"
        if isinstance(schema, dict) and schema_fault(schema) == "":  # otherwise GEM-27
            yield from refused(schema, SCHEMA_SHAPES["gemini"], path)


def _schema(root: Any, path: str) -> Found:
    """Check a schema. Paths are built only for faults, because a schema may be nested deeply."""
    waiting: list[tuple[Place, Any]] = [(None, root)]
    while waiting:
        place, schema = waiting.pop()
        for where, fault in _schema_faults(schema):
            yield ".".join(part for part in (path, path_of(place), where) if part), fault
        if not isinstance(schema, dict):
            continue
        properties = schema.get("properties")
        if isinstance(properties, dict):
            waiting += [(((place, "properties"), name), each) for name, each in properties.items()]
        if schema.get("items") is not None:
            waiting.append(((place, "items"), schema["items"]))
        variants = get(schema, "anyOf")
        if isinstance(variants, list):
            waiting += [(((place, "anyOf"), at), each) for at, each in enumerate(variants)]


def _schema_faults(schema: Any) -> Found:
    """The faults of a schema itself, without those below it."""
    if not isinstance(schema, dict):
        yield "", "a schema must be an object"
        return
    for key in schema:
        if key not in _KEYS:
            yield shown(key), "not a field of a schema in this API"
    yield from _kind_faults(schema)


def _kind_faults(schema: dict[str, Any]) -> Found:
    name = schema.get("type")
    kind = name.upper() if isinstance(name, str) else None
    if name is not None and kind not in _TYPES:
        yield "type", f"must be one known type, not {shown(name)!r}"
    if kind == "ARRAY" and schema.get("items") is None:
        yield "items", "an array must have items"
    if schema.get("properties") and kind not in (None, "OBJECT"):
        yield "properties", "only an object may have properties"
    known = FORMATS.get(kind or "")
    if kind == "STRING" and known and schema.get("format") is not None and schema["format"] not in known:
        yield "format", f"a string cannot have the format {shown(schema['format'])!r}"
    if "enum" in schema:
        yield from _enum_faults(schema["enum"], kind)
    required, properties = schema.get("required"), schema.get("properties")
    if isinstance(required, list):
        for name in required:
            if not isinstance(properties, dict) or not isinstance(name, str) or name not in properties:
                yield "required", f"{shown(name)!r} is not a property"


def _enum_faults(values: Any, kind: str | None) -> Found:
    if kind not in (None, "STRING"):
        yield "enum", "only a string may have an enum"
    for at, value in enumerate(values if isinstance(values, list) else []):
        if not isinstance(value, str) or not value:
            yield f"enum[{at}]", "a value must be a non-empty text"


def _roots(body: dict[str, Any], model: Model | None) -> Found:
    for path, declaration in declarations(body):
        for name in ("parameters", "parametersJsonSchema"):
            schema = get(declaration, name)
            if isinstance(schema, dict) and isinstance(schema.get("type"), str):
                schema = {"type": schema["type"].lower()}
            fault = schema_fault(schema) if schema is not None else ""
            if fault:
                yield f"{path}.{name}", fault


# -- exclusions ------------------------------------------------------------------------------------------------------


def _json_answers(body: dict[str, Any], model: Model | None) -> Found:
    config = get(body, "generationConfig")
    if get(config, "responseMimeType") == "application/json" and any(True for _ in declarations(body)):
        yield (
            "generationConfig.responseMimeType",
            "JSON answers together with functions, which models before Gemini 3 do not accept",
        )


def _cached(body: dict[str, Any], model: Model | None) -> Found:
    if get(body, "cachedContent"):
        for name in ("tools", "toolConfig", "systemInstruction"):
            found = get(body, name)
            if found is not None and (name != "tools" or many(found)):
                yield name, "not allowed together with cachedContent"


RULES: tuple[Rule, ...] = (
    Rule(
        number="GEM-15",
        title="function names begin with a letter or _ and have at most 64 letters, digits and _.:-",
        answers="Invalid function name. Must start with a letter or an underscore.",
        source="cline/cline#7339, google-gemini/gemini-cli#7869, 2025-11",
        prevented_by="projection/passes/names.py",
        check=_names,
    ),
    Rule(
        number="GEM-16",
        title="parameters is a subset of OpenAPI, not JSON Schema",
        answers="Invalid JSON payload received. Unknown name: Cannot find field.",
        source="IBM/mcp-cli#170, zed-industries/zed#44875, musistudio/llms#20, azure-devops-mcp#145, 2025-2026; "
        "google-genai 3.1.0, types.Schema",
        prevented_by="wire/common/schema",
        check=_schemas,
    ),
    Rule(
        number="GEM-27",
        title="parameters are a schema of type object",
        answers="functionDeclaration parameters schema should be of type OBJECT",
        source="spring-projects/spring-ai#1373, 2024; diegosouzapw/OmniRoute#3360, 2026-06",
        prevented_by="wire/common/schema",
        check=_roots,
    ),
    Rule(
        number="GEM-30",
        title="parametersJsonSchema is a JSON Schema, in which nothing is beside a reference",
        answers="Schema.ref was set alongside unsupported fields.",
        source="gemini-cli-mcp-openai-bridge#10, 2026-05; hermes-agent#98928, 2026-08",
        prevented_by="wire/common/schema",
        check=_json_schemas,
    ),
    Rule(
        number="GEM-29",
        title="function names are unique",
        answers="Duplicate function declaration found: …",
        source="owndev/Open-WebUI-Functions#135, 2026-02",
        prevented_by="projection/pipeline.py",
        check=_single,
    ),
    Rule(
        number="GEM-23",
        title="before Gemini 3, functions and JSON answers exclude each other",
        answers="Function calling with a response mime type: 'application/json' is unsupported",
        source="Simpleyyt/ai-manus#101, 2025",
        prevented_by=ENCODER,
        check=_json_answers,
        only=only(lambda dialect: not dialect.json_with_tools),
    ),
    Rule(
        number="GEM-25",
        title="with cached content there are no tools, tool config or system instruction",
        answers="Tool config, tools and system instruction should not be set in the request when using cached content.",
        source="quoted in the source of pydantic-ai, models/google.py, 2026",
        prevented_by=ENCODER,
        check=_cached,
    ),
)
