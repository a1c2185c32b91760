"""Tool schemas: unchanged where JSON Schema is accepted, otherwise converted to a subset of OpenAPI on a copy."""

import copy
from typing import Any

import msgspec
import pytest
from google.genai import types
from hypothesis import given, strategies as st

import segue
from segue.dialects import SCHEMA_SHAPES
from segue.render import encode, ingest, lint
from segue.types import Context, ToolDefinition, UserMessage
from segue.wire.common.schema import adapt
from segue.wire.google_generative_ai.schema import from_openapi, to_openapi

PROTOCOL = "google-generative-ai"
MODEL = segue.get_model("google/gemini-2.0-flash")
SUBSET = msgspec.structs.replace(MODEL, dialect=msgspec.structs.replace(MODEL.dialect, schema_form="gemini-subset"))


ANY = [{"type": kind, "nullable": True} for kind in ("STRING", "NUMBER", "BOOLEAN", "OBJECT")]


def declared(schema: Any, model: Any = SUBSET) -> tuple[dict[str, Any], list[str]]:
    """The declaration of a tool with this schema, and the reported changes."""
    tool = ToolDefinition("f", "", msgspec.json.encode(schema))
    request = encode(Context(messages=[UserMessage("Hi")], tools=[tool]), model)
    return request.body["tools"][0]["functionDeclarations"][0], [change.code for change in request.changes]


def prop(schema: Any) -> Any:
    """One property, adapted."""
    return subset({"type": "object", "properties": {"a": schema}})["properties"]["a"]


def subset(schema: Any) -> dict[str, Any]:
    return to_openapi(adapt(schema, SCHEMA_SHAPES["gemini-subset"]).schema)


def test_json_schema_is_sent_unchanged() -> None:
    schema = {"type": "object", "properties": {"a": {"type": ["array", "null"]}}, "oneOf": [{"required": ["a"]}]}
    assert declared(schema, MODEL) == ({"name": "f", "parametersJsonSchema": schema}, [])


def test_definitions_are_inlined_except_for_recursive_ones() -> None:
    loop = {"type": "object", "properties": {"next": {"$ref": "#/$defs/loop"}}}
    properties = {"a": {"$ref": "#/$defs/x", "title": "A"}, "b": {"$ref": "#/$defs/loop", "title": "B"}}
    schema = {"type": "object", "properties": properties, "$defs": {"x": {"type": "string"}, "loop": loop}}
    declaration, reported = declared(schema, MODEL)
    assert declaration["parametersJsonSchema"] == {
        "type": "object",
        "properties": {"a": {"title": "A", "type": "string"}, "b": {"anyOf": [{"$ref": "#/$defs/loop"}], "title": "B"}},
        "$defs": {"loop": loop},
    }
    assert reported == ["schema-adapted"]


@pytest.mark.parametrize("schema", [True, None, "x", [], {}, {"type": "string"}, {"type": "object", "properties": []}])
def test_a_schema_that_is_not_an_object_becomes_one_and_is_reported(schema: Any) -> None:
    declaration, reported = declared(schema, MODEL)
    assert declaration["parametersJsonSchema"]["type"] == "object"
    assert isinstance(declaration["parametersJsonSchema"].get("properties", {}), dict)
    assert reported == ["schema-adapted"]


def test_what_the_subset_can_express_is_only_renamed() -> None:
    schema = {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "where", "minLength": 1},
            "lines": {"type": "array", "items": {"type": "integer", "minimum": 0}},
            "mode": {"type": ["string", "null"], "enum": ["r", "w", None]},
            "either": {"anyOf": [{"type": "string"}, {"type": "boolean"}]},
        },
        "required": ["path"],
    }
    assert declared(schema) == (
        {
            "name": "f",
            "parameters": {
                "type": "OBJECT",
                "properties": {
                    "path": {"type": "STRING", "description": "where", "minLength": 1},
                    "lines": {"type": "ARRAY", "items": {"type": "INTEGER", "minimum": 0}},
                    "mode": {"type": "STRING", "enum": ["r", "w"], "nullable": True},
                    "either": {"anyOf": [{"type": "STRING"}, {"type": "BOOLEAN"}]},
                },
                "required": ["path"],
            },
        },
        ["schema-adapted"],
    )


def test_an_object_without_properties_has_no_parameters() -> None:
    assert declared({"type": "object", "properties": {}}) == ({"name": "f"}, [])
    assert declared({"type": "object"}) == ({"name": "f"}, [])
    assert declared({"type": "object", "additionalProperties": True}) == ({"name": "f"}, ["schema-adapted"])


@pytest.mark.parametrize(
    ("schema", "adapted"),
    [
        ({"type": ["string", "integer"]}, {"anyOf": [{"type": "STRING"}, {"type": "INTEGER"}]}),
        (
            {"type": ["string", "integer", "null"]},
            {"anyOf": [{"type": "STRING", "nullable": True}, {"type": "INTEGER", "nullable": True}]},
        ),
        ({"const": "x"}, {"type": "STRING", "enum": ["x"]}),
        ({"const": 3, "description": "n"}, {"type": "INTEGER", "description": "n (one of: 3)"}),
        ({"type": "integer", "enum": [1, 2]}, {"type": "INTEGER", "description": "(one of: 1, 2)"}),
        ({"type": "string", "enum": ["", "a"]}, {"type": "STRING", "description": '(one of: "", "a")'}),
        ({"type": "array"}, {"type": "ARRAY", "items": {"anyOf": ANY}}),
        ({"items": {"type": "number"}}, {"type": "ARRAY", "items": {"type": "NUMBER"}}),
        ({"type": "string", "format": "uri"}, {"type": "STRING", "description": "(format: uri)"}),
        ({"type": "integer", "exclusiveMinimum": 2}, {"type": "INTEGER", "minimum": 3}),
        ({"type": "string", "format": "date-time"}, {"type": "STRING", "format": "date-time"}),
        ({}, {"anyOf": [*ANY, {"type": "ARRAY", "items": {"anyOf": ANY}, "nullable": True}]}),
        (True, {"anyOf": [*ANY, {"type": "ARRAY", "items": {"anyOf": ANY}, "nullable": True}]}),
        ({"type": "object", "required": ["z"], "additionalProperties": False}, {"type": "OBJECT"}),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, {"type": "STRING", "nullable": True}),
        ({"oneOf": [{"type": "string"}, {"type": "number"}]}, {"anyOf": [{"type": "STRING"}, {"type": "NUMBER"}]}),
        (
            {
                "allOf": [
                    {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]},
                    {"properties": {"y": {"type": "number"}}, "required": ["y"]},
                ]
            },
            {
                "type": "OBJECT",
                "properties": {"x": {"type": "STRING"}, "y": {"type": "NUMBER"}},
                "required": ["x", "y"],
            },
        ),
    ],
)
def test_what_the_subset_cannot_express_is_approximated(schema: Any, adapted: Any) -> None:
    assert prop(schema) == adapted


def test_references_are_resolved_and_cycles_end() -> None:
    schema = {
        "type": "object",
        "properties": {"tree": {"$ref": "#/$defs/node"}, "lost": {"$ref": "#/nowhere"}, "far": {"$ref": "http://x"}},
        "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}},
    }
    declaration, reported = declared(schema)
    assert reported == ["schema-adapted"]
    assert declaration["parameters"]["properties"]["tree"]["properties"]["next"]["type"] == "OBJECT"
    assert "$ref" not in str(declaration)


KEYS = [
    "type",
    "properties",
    "items",
    "anyOf",
    "oneOf",
    "allOf",
    "enum",
    "const",
    "$ref",
    "required",
    "a",
    "format",
    "description",
    "nullable",
    "minLength",
    "propertyOrdering",
    "title",
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "a", "string", "object", "null"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_any_schema_becomes_one_that_google_accepts_and_that_stays_the_same(schema: Any) -> None:
    before = copy.deepcopy(schema)
    adapted = subset(schema)
    assert schema == before
    types.Schema.model_validate_json(msgspec.json.encode(adapted))
    tools = [{"functionDeclarations": [{"name": "f", "parameters": adapted}]}]
    body = {"contents": [{"role": "user", "parts": [{"text": "x"}]}], "tools": tools}
    assert lint(body, PROTOCOL) == []
    assert subset(from_openapi(adapted)) == adapted


def test_parameters_in_either_spelling_are_read_as_json_schema() -> None:
    parameters = {
        "type": "OBJECT",
        "properties": {
            "a": {"type": "STRING", "nullable": True, "min_length": "2"},
            "b": {"any_of": [{"type": "NUMBER"}]},
        },
    }
    body = {
        "contents": [{"parts": [{"text": "x"}]}],
        "tools": {"function_declarations": [{"name": "f", "parameters": parameters}, {"name": "g"}]},
    }
    f, g = ingest(body, PROTOCOL).tools
    assert f.schema == {
        "type": "object",
        "properties": {"a": {"type": ["string", "null"], "minLength": 2}, "b": {"anyOf": [{"type": "number"}]}},
    }
    assert g.schema == {"type": "object", "properties": {}}
