"""Structured output: in the form of each protocol, judged by the SDKs' types, accepted by lint and the stand-ins."""

from enum import Enum
from typing import Any, Literal

import msgspec
import pydantic
import pytest
from hypothesis import given, settings, strategies as st
from jsonschema_rs import validator_for
from openai.lib._pydantic import _ensure_strict_json_schema
from support.providers import CONTEXT, MODELS, reach
from support.type_judges import JUDGES

import segue
from segue import Options
from segue.testing import StandIn
from segue.wire.common.output_schema import ANTHROPIC, MISTRAL, OPENAI, Unfit, strict_schema

PARIS = '{"name":"Paris","days":[{"date":"2026-11-18","degrees":18}],"sky":"clear","note":null}'


class Day(msgspec.Struct):
    date: str
    degrees: float


class Forecast(msgspec.Struct):
    """The weather of some days."""

    name: str
    days: list[Day]
    sky: Literal["clear", "cloudy"] = "clear"
    note: str | None = None


class Sky(Enum):
    CLEAR = "clear"
    CLOUDY = "cloudy"


class PydanticDay(pydantic.BaseModel):
    date: str = pydantic.Field(min_length=10, pattern=r"^\d{4}-")
    degrees: float = pydantic.Field(ge=-100, le=100)


class PydanticForecast(pydantic.BaseModel):
    name: str
    days: list[PydanticDay] = pydantic.Field(min_length=1, max_length=7)
    sky: Sky = Sky.CLEAR
    note: str | None = None


SCHEMA = {
    "title": "Weather forecast!",
    "type": "object",
    "properties": {"name": {"type": "string"}, "days": {"type": "array", "items": {"$ref": "#/$defs/Day"}}},
    "required": ["name", "days"],
    "$defs": {"Day": {"type": "object", "properties": {"date": {"type": "string", "format": "date"}}}},
}
FORMS: dict[str, Any] = {"msgspec": Forecast, "pydantic": PydanticForecast, "a JSON schema": SCHEMA}


def format_in(body: dict[str, Any]) -> Any:
    """The schema of the answer in a body of any protocol."""
    for path in (
        ("output_config", "format", "schema"),
        ("text", "format", "schema"),
        ("response_format", "json_schema", "schema"),
        ("generationConfig", "responseJsonSchema"),
        ("outputConfig", "textFormat", "structure", "jsonSchema", "schema"),
    ):
        value: Any = body
        for name in path:
            value = value.get(name) if isinstance(value, dict) else None
        if value is not None:
            return msgspec.json.decode(value) if isinstance(value, str) else value
    return None


@pytest.mark.parametrize("tools", [True, False], ids=["with tools", "without tools"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("protocol", MODELS)
def test_bodies_with_a_format_have_the_types_of_the_sdk_and_pass_lint(protocol: str, form: str, tools: bool) -> None:
    model = MODELS[protocol]
    context = CONTEXT if tools else "Weather in Paris?"
    request = segue.encode(context, model, Options(max_tokens=500, response_format=FORMS[form]))
    if tools and protocol == "google-generative-ai":  # Gemini 2.5
        assert [change.detail for change in request.changes if change.code == "option-dropped"] == [
            "response_format: this model does not accept it together with tools"
        ]
        return
    assert format_in(request.body)["type"] == "object"
    assert [each for each in segue.lint(request.body, protocol, model) if each.severity == "error"] == []
    assert JUDGES[f"{protocol.replace('-', '_')}/shape.json"](request.body) == []


@pytest.mark.parametrize("streams", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("protocol", MODELS)
def test_stand_ins_accept_a_format_and_the_answer_is_parsed(protocol: str, form: str, streams: bool) -> None:
    model = MODELS[protocol]
    options = Options(max_tokens=500, response_format=FORMS[form], stream=streams)
    with StandIn(model.provider, protocol=protocol, script=[PARIS]) as server:
        answer = segue.complete_sync("Weather in Paris?", model, options, connection=reach(server))
        assert not server.refused and format_in(server.requests[0]) is not None
    value = segue.parse(answer, FORMS[form])
    assert (value["name"] if isinstance(value, dict) else value.name) == "Paris"


@pytest.mark.parametrize(
    "name", ["deepseek/deepseek-v4-pro", "minimax/MiniMax-M2.5", "openai/gpt-4", "anthropic/claude-3-7-sonnet-20250219"]
)
def test_a_target_without_it_reports_that_and_gets_nothing_else(name: str) -> None:
    plain = segue.encode(CONTEXT, name)
    request = segue.encode(CONTEXT, name, Options(response_format=Forecast))
    assert request.body == plain.body  # no forced tool, no text in the prompt
    [change] = [each for each in request.changes if each not in plain.changes]
    assert (change.code, change.lossy) == ("option-dropped", True) and change.detail.startswith("response_format: ")


def test_groq_gets_it_only_without_tools_and_streaming() -> None:
    wanted = Options(response_format=Forecast)
    model = "groq/openai/gpt-oss-120b"
    assert "response_format" in segue.encode("Hi", model, wanted).body
    for request in (
        segue.encode(CONTEXT, model, wanted),
        segue.encode("Hi", model, msgspec.structs.replace(wanted, stream=True)),
    ):
        assert "response_format" not in request.body
        assert "option-dropped" in {change.code for change in request.changes}


# -- strict schemas --------------------------------------------------------------------------------------------------


def test_a_strict_schema_of_openai_is_the_one_that_its_sdk_makes() -> None:
    """Except for keywords that its API refuses, which the SDK leaves to the caller."""
    made, changes = strict_schema(Options(response_format=Forecast).response_format.schema, OPENAI)  # type: ignore[union-attr]
    sdk = _ensure_strict_json_schema(Options(response_format=Forecast).response_format.schema, path=(), root={})  # type: ignore[union-attr]

    def without_annotations(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: without_annotations(each) for key, each in value.items() if key not in ("title", "default")}
        return [without_annotations(each) for each in value] if isinstance(value, list) else value

    assert made == without_annotations(sdk)
    assert changes == ["objects have no other properties", "all properties are required"]


def test_constraints_that_claude_refuses_are_left_out_and_reported() -> None:
    request = segue.encode("Hi", "anthropic/claude-sonnet-5", Options(response_format=PydanticForecast))
    text = msgspec.json.encode(format_in(request.body))
    assert not any(word in text for word in (b"minimum", b"maximum", b"minLength", b"pattern", b"maxItems"))
    assert b'"minItems":1' in text  # 0 and 1 are accepted
    [change] = [each for each in request.changes if each.code == "schema-adapted"]
    assert {"without minimum", "without pattern", "without maxItems"} <= {*change.detail.split(": ")[1].split(", ")}


OPEN: dict[str, Any] = {
    "a dict": {
        "type": "object",
        "properties": {"prices": {"type": "object", "additionalProperties": {"type": "number"}}},
    },
    "any value": {"type": "object", "properties": {"anything": {}}},
    "a list of anything": {"type": "object", "properties": {"things": {"type": "array"}}},
    "not": {"type": "object", "properties": {"a": {"type": "string", "not": {"const": ""}}}},
}


@pytest.mark.parametrize("name", OPEN)
def test_a_schema_without_a_strict_form_is_followed_without_a_guarantee_or_dropped(name: str) -> None:
    wanted = Options(response_format=OPEN[name])
    openai = segue.encode("Hi", "openai/gpt-5.1", wanted)
    assert openai.body["text"]["format"]["schema"] == OPEN[name] and openai.body["text"]["format"]["strict"] is False
    assert [change.code for change in openai.changes] == ["schema-adapted"]
    claude = segue.encode("Hi", "anthropic/claude-sonnet-5", wanted)
    assert "output_config" not in claude.body and [change.code for change in claude.changes] == ["option-dropped"]


def test_a_recursive_schema_is_dropped_where_it_is_refused() -> None:
    class Node(msgspec.Struct):
        name: str
        children: "list[Node]"

    Node.__annotations__["children"] = list[Node]
    wanted = Options(response_format=Node)
    assert segue.encode("Hi", "openai/gpt-5.1", wanted).body["text"]["format"]["strict"] is True
    [change] = segue.encode("Hi", "anthropic/claude-sonnet-5", wanted).changes
    assert "a definition refers to itself" in change.detail


SCALARS: list[Any] = [
    {"type": "string"},
    {"type": "integer", "minimum": 0},
    {"type": ["string", "null"]},
    {"enum": ["a", "b"]},
    {"const": 1},
]


def an_object(properties: dict[str, Any], required: int) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [*properties][:required]}


def compounds(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    properties = st.dictionaries(st.sampled_from(["a", "b", "c"]), children, min_size=1, max_size=3)
    arrays = st.builds(lambda each: {"type": "array", "items": each, "maxItems": 3}, children)
    unions = st.builds(lambda each: {"anyOf": [each, {"type": "null"}]}, children)
    return st.builds(an_object, properties, st.integers(0, 3)) | arrays | unions


@given(st.recursive(st.sampled_from(SCALARS), compounds, max_leaves=6), st.data())
@settings(max_examples=40)
def test_complete_answers_fit_both_schemas_and_what_fits_the_strict_one_fits_the_other(inner: Any, data: Any) -> None:
    schema = {"type": "object", "properties": {"value": inner}, "required": ["value"]}
    value = {"value": data.draw(answers(inner))}
    partial = {"value": data.draw(answers(inner, partly=True))}
    for shape in (OPENAI, MISTRAL, ANTHROPIC):
        strict, stored = validator_for(strict_schema(schema, shape)[0]), validator_for(schema)
        assert strict.is_valid(value) and stored.is_valid(value)
        assert stored.is_valid(partial) or not strict.is_valid(partial)


def answers(schema: Any, partly: bool = False) -> st.SearchStrategy[Any]:
    """Values of a schema of the test above; ``partly``: some properties are missing."""
    if "anyOf" in schema:
        return st.one_of(*[answers(each, partly) for each in schema["anyOf"]])
    if "enum" in schema or "const" in schema:
        return st.sampled_from(schema.get("enum", [schema.get("const")]))
    match schema.get("type"):
        case "object":
            parts = {name: answers(each, partly) for name, each in schema["properties"].items()}
            return st.fixed_dictionaries({} if partly else parts, optional=parts if partly else None)
        case "array":
            return st.lists(answers(schema["items"], partly), max_size=3)
        case "integer":
            return st.integers(0, 9)
        case "null":
            return st.none()
        case _:
            return st.text(max_size=3)


def test_what_has_no_strict_form_says_why() -> None:
    with pytest.raises(Unfit, match="an object may have any properties"):
        strict_schema(OPEN["a dict"], ANTHROPIC)
