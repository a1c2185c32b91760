"""What members of the family refuse in the schemas of tools, by their forms (``dialects/schemas.py``)."""

from collections.abc import Iterator

from ...dialects import SCHEMA_SHAPES, SchemaForm
from ...rules import Check, Rule
from ...types import Model
from ..common.checks import openai_schema_fault, schema_fault
from ..common.schema import recursive, refused
from . import walk
from .walk import Found, Object, where

_SCHEMA = "wire/common/schema"


def _schemas(body: Object) -> Iterator[tuple[str, Object]]:
    """The schemas whose root is an object, with their paths."""
    for path, function in walk.functions(body):
        schema = function.get("parameters")
        if not schema_fault(schema):
            yield f"{path}.parameters", function


def _roots(body: Object, model: Model | None) -> Found:
    for path, function in walk.functions(body):
        fault = schema_fault(function["parameters"]) if function.get("parameters") is not None else ""
        if fault:
            yield f"{path}.parameters", fault


def _plain_roots(body: Object, model: Model | None) -> Found:
    for path, function in _schemas(body):
        if fault := openai_schema_fault(function["parameters"], function.get("strict") is True):
            yield path, fault


def _of_form(form: SchemaForm) -> Check:
    """A check of everything that a form refuses, except for the root (OAC-22, OAC-22b)."""

    def check(body: Object, model: Model | None) -> Found:
        for path, function in _schemas(body):
            found = refused(function["parameters"], SCHEMA_SHAPES[form], path)
            yield from (fault for fault in found if not fault[1].startswith("the root of a schema"))

    return check


def _references(body: Object, model: Model | None) -> Found:
    """References; recursive ones only where there are none at all."""
    shape, dialect = SCHEMA_SHAPES["openai"]._replace(refs="none"), walk.dialect_of(model)
    for path, function in _schemas(body):
        found = [each for each in refused(function["parameters"], shape, path) if each[0].endswith(".$ref")]
        if dialect is None or dialect.schema_refs == "none" or not recursive(function["parameters"]):
            yield from found


RULES: tuple[Rule, ...] = (
    Rule(
        number="OAC-22",
        title="The parameters of a function are a schema of type object",
        answers="Invalid schema for function '…': schema must be a JSON Schema of 'type: \"object\"'",
        source="error text of OpenAI, many reports until 2026",
        prevented_by=_SCHEMA,
        check=_roots,
    ),
    Rule(
        number="OAC-22b",
        title="No alternatives at the root of a schema; a strict schema is closed",
        answers="schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level / "
        "'additionalProperties' is required to be supplied and to be false.",
        source="nspady/google-calendar-mcp#39, 2025-06; letta-ai/letta#3137, 2026-01",
        prevented_by=_SCHEMA,
        check=_plain_roots,
        only=where(lambda dialect: dialect.strict_keys),
    ),
    Rule(
        number="OAC-22c",
        title="A schema is valid in draft 2020-12; arrays have items, and patterns are regular expressions of Python",
        answers="Invalid schema for function '…': In context=('properties', '…'), array schema missing items. / "
        "[{'type': 'number'}, …] is not of type 'object', 'boolean' / '…' is not a 'regex'",
        source="vercel/ai#2271; fastcore#798, 2026-04; litellm#40485, 2026-09; vercel/ai#20021, 2026-08",
        prevented_by=_SCHEMA,
        check=_of_form("openai"),
        only=where(lambda dialect: dialect.openai_fields and dialect.schema_form == "openai"),
    ),
    Rule(
        number="KIM-10",
        title="A schema is in Moonshot's flavor: types are stated, and only annotations are beside anyOf and $ref",
        answers="tools.function.parameters is not a valid moonshot flavored json schema, details: <At path '…': when "
        "using anyOf, type should be defined in anyOf items instead of the parent schema>",
        source="MoonshotAI/kimi-cli#2061 and #1595, opencode#37496, pi#4138, kimi-code#1610, 2026-04 to 2026-08; the "
        "validator MoonshotAI/walle, 2026-11 (its newest version accepts some of this)",
        prevented_by=_SCHEMA,
        check=_of_form("moonshot"),
        only=where(lambda dialect: dialect.schema_form == "moonshot"),
    ),
    Rule(
        number="XAI-05",
        title="items is one schema; tuples have prefixItems",
        answers="'items' must be a schema (object or boolean), not an array. For tuple validation use 'prefixItems' "
        "instead.",
        source="hermes-agent#20976, 2026-05",
        prevented_by=_SCHEMA,
        check=_of_form("xai"),
        only=where(lambda dialect: dialect.schema_form == "xai"),
    ),
    Rule(
        number="ORT-06",
        title="Schemas for Gemini are of its OpenAPI subset: no references, one type, enums of strings only",
        answers='Invalid JSON payload received. Unknown name "const" at '
        "'tools[0].function_declarations[0]."
        "parameters': Cannot find field.",
        source="pydantic-ai#3617, 2025-12, and providers/openrouter.py of 2.66.0, 2026-11; OmniRoute#13464, 2026-09",
        prevented_by=_SCHEMA,
        check=_of_form("gemini-subset"),
        only=where(lambda dialect: dialect.schema_form == "gemini-subset"),
    ),
    Rule(
        number="AZU-06",
        title="A schema has no references",
        answers="(an error; its text is not recorded)",
        source="Grok on Azure: pydantic-ai#10987 and providers/azure.py of 2.66.0, 2026-11",
        prevented_by=_SCHEMA,
        check=_references,
        only=where(lambda dialect: dialect.schema_refs == "none"),
    ),
    Rule(
        number="ZAI-07",
        title="Definitions are written where they are used",
        answers="",
        source="GLM-5.3 writes nested arguments as strings where the schema is a $ref: pydantic-ai#10243, 2026-10; "
        "pydantic-ai inlines for Qwen and Llama, too (profiles/qwen.py and meta.py of 2.66.0, 2026-11)",
        prevented_by=_SCHEMA,
        check=_references,
        severity="warning",
        only=where(lambda dialect: dialect.schema_refs == "inline" and dialect.schema_form != "moonshot"),
    ),
)
