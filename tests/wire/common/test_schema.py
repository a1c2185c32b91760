"""Tool schemas in the form of each target: accepted by its rules, not changed without need, and never stricter than
before."""

import copy
from typing import Any, get_args

import jsonschema
import msgspec
import pytest
from conftest import SOAK
from hypothesis import assume, given, settings, strategies as st
from support.schema_values import MODELS, SCHEMAS, TOOLS, values
from support.targets import distinct_on_the_wire
from support.type_judges import JUDGES

import segue
from segue.dialects import SCHEMA_SHAPES, SchemaForm, SchemaShape
from segue.types import Context, Model, ToolDefinition, UserMessage
from segue.wire.common.schema import adapt, refused
from segue.wire.google_generative_ai.schema import from_openapi, to_openapi
from segue.wire.registry import PROTOCOLS

MODERN = SchemaShape(root="any", tuples="prefixItems")
"""Draft 2020-12 as written, for validation: lists in `items` are of an older draft."""
FORMS: list[SchemaForm] = list(get_args(SchemaForm))
SWITCHES = ("enable_thinking", "thinking", "preserve_thinking")
"""Fields of single providers that the SDK of OpenAI does not have; without a level, no other provider gets them."""
TARGETS = {
    f"{name} ({protocol})": model for protocol in PROTOCOLS for name, model in distinct_on_the_wire(protocol).items()
}


def json_schema(form: SchemaForm, schema: Any) -> Any:
    """An adapted schema in draft 2020-12, for validation."""
    if form == "gemini-subset":
        return from_openapi(to_openapi(schema))
    return adapt(schema, MODERN).schema if form == "draft-7" else schema


def accepts(schema: Any, value: Any) -> bool:
    return jsonschema.Draft202012Validator(schema).is_valid(value)


# -- pydantic --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TARGETS)
def test_schemas_of_pydantic_break_no_rule_of_any_target_and_have_the_types_of_its_sdk(name: str) -> None:
    model: Model = TARGETS[name]
    tools = [ToolDefinition(each.lower(), "", of.model_json_schema()) for each, of in MODELS.items()]
    request = segue.encode(Context(messages=[UserMessage("Go")], tools=tools), model)
    assert segue.lint(request.json(), model.protocol, model) == []
    sdk = getattr(model.dialect, "sdk", "openai")
    table = f"{model.protocol.replace('-', '_')}/shape{'' if sdk == 'openai' else f'_{sdk}'}.json"
    body = {name: value for name, value in msgspec.json.decode(request.json()).items() if name not in SWITCHES}
    if body.pop("anthropic_version", None):  # on Vertex, the model is in the path
        body["model"] = model.id
    assert JUDGES[table](body) == []
    assert [tool.schema for tool in tools] == [of.model_json_schema() for of in MODELS.values()]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", MODELS)
def test_schemas_of_pydantic_are_valid_json_schema_in_every_form(name: str, form: SchemaForm) -> None:
    schema = MODELS[name].model_json_schema()
    before = copy.deepcopy(schema)
    adapted = adapt(schema, SCHEMA_SHAPES[form])
    assert schema == before
    assert list(refused(adapted.schema, SCHEMA_SHAPES[form], "")) == []
    jsonschema.Draft202012Validator.check_schema(json_schema(form, adapted.schema))
    again = adapt(adapted.schema, SCHEMA_SHAPES[form])
    assert (again.schema, again.text) == (adapted.schema, None)


@settings(max_examples=300 if SOAK else 150)
@given(st.data(), st.sampled_from(sorted(MODELS)), st.sampled_from(FORMS))
def test_arguments_that_pydantic_accepts_are_accepted_by_every_form(
    data: st.DataObject, name: str, form: SchemaForm
) -> None:
    schema = MODELS[name].model_json_schema()
    value = data.draw(values(schema))
    assume(accepts(schema, value) and not _lists_in_lists(value))
    MODELS[name].model_validate_json(msgspec.json.encode(value))
    assert accepts(json_schema(form, adapt(schema, SCHEMA_SHAPES[form]).schema), value)


# -- any schema ------------------------------------------------------------------------------------------------------


@settings(max_examples=600 if SOAK else 300)
@given(st.data(), TOOLS, st.sampled_from(FORMS))
def test_no_form_accepts_less_than_the_schema_did(data: st.DataObject, schema: Any, form: SchemaForm) -> None:
    before = copy.deepcopy(schema)
    adapted = adapt(schema, SCHEMA_SHAPES[form])
    assert schema == before
    assert list(refused(adapted.schema, SCHEMA_SHAPES[form], "")) == []
    modern = adapt(schema, MODERN).schema
    value = data.draw(values(schema))
    assume(isinstance(value, dict) and accepts(modern, value))
    assume(form != "gemini-subset" or not _lists_in_lists(value))
    assert accepts(json_schema(form, adapted.schema), value), adapted.schema


@settings(max_examples=300 if SOAK else 150)
@given(st.data(), TOOLS, st.sampled_from(FORMS))
def test_what_a_form_accepts_beyond_the_schema_is_reported(data: st.DataObject, schema: Any, form: SchemaForm) -> None:
    modern = adapt(schema, MODERN)
    adapted = adapt(schema, SCHEMA_SHAPES[form])
    value = data.draw(values(modern.schema) | values(json_schema(form, adapted.schema)))
    assume(isinstance(value, dict) and accepts(json_schema(form, adapted.schema), value))
    assert accepts(modern.schema, value) or adapted.loosened


@given(SCHEMAS | st.none() | st.booleans() | st.integers() | st.text(max_size=2), st.sampled_from(FORMS))
def test_anything_becomes_a_schema_that_the_form_accepts_and_that_stays_the_same(schema: Any, form: SchemaForm) -> None:
    adapted = adapt(schema, SCHEMA_SHAPES[form])
    assert list(refused(adapted.schema, SCHEMA_SHAPES[form], "")) == []
    assert adapt(adapted.schema, SCHEMA_SHAPES[form]).schema == adapted.schema


def _lists_in_lists(value: Any) -> bool:
    """Whether a list contains a list, which the subset cannot express for values of any type."""
    if isinstance(value, list):
        return any(isinstance(each, list) or _lists_in_lists(each) for each in value)
    return isinstance(value, dict) and any(map(_lists_in_lists, value.values()))


# -- names of properties ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["", "rule_name[]", "a b", "größe", "a" * 65])
def test_a_property_whose_name_is_refused_is_no_longer_described_but_still_accepted(name: str) -> None:
    schema = {
        "type": "object",
        "properties": {name: {"type": "string"}, "city": {"type": "string"}},
        "required": [name, "city"],
        "additionalProperties": False,
    }
    assert list(refused(schema, SCHEMA_SHAPES["2020-12"], ""))
    adapted = adapt(schema, SCHEMA_SHAPES["2020-12"])
    assert adapted.schema == {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    assert "is left out" in str(adapted.text)
