"""Compare the tables of keywords with the library that mistral-common, and by its error texts OpenAI, checks with."""

from typing import Any

import jsonschema
import pytest
from conftest import SOAK
from hypothesis import given, settings, strategies as st

from segue.dialects import SCHEMA_SHAPES
from segue.wire.common.schema import adapt, refused
from segue.wire.common.schema.keywords import DRAFTS, Draft, Notes, faults, well_formed

VALIDATORS = {"7": jsonschema.Draft7Validator, "2020-12": jsonschema.Draft202012Validator}
TEXTS = ["", "a", "string", "objct", "null", "[", "\\p{L}", "^a$"]


def schemas(draft: Draft) -> st.SearchStrategy[Any]:
    table = DRAFTS[draft]
    # `$id` and `$anchor` have patterns of their own, which no target is known to check.
    keywords = [*(set(table.values) - {"$id", "$ref", "$schema"}), *table.one, *table.several, *table.named]
    plain = st.none() | st.booleans() | st.integers(-2, 3) | st.sampled_from([0.5, 2.0]) | st.sampled_from(TEXTS)
    return st.recursive(
        plain | st.lists(plain, max_size=3),
        lambda inner: st.dictionaries(
            st.sampled_from(sorted([*keywords, "dependencies", "const", "default", "x-own"])),
            inner | st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(TEXTS), inner, max_size=2),
            max_size=4,
        ),
        max_leaves=10,
    )


def is_valid(schema: Any, draft: Draft) -> bool:
    """Whether a schema is valid, apart from its regular expressions."""
    try:
        VALIDATORS[draft].check_schema(schema, format_checker=jsonschema.FormatChecker(formats=()))
    except jsonschema.exceptions.SchemaError:
        return False
    return True


@settings(max_examples=500 if SOAK else 200)
@pytest.mark.parametrize("draft", ["7", "2020-12"])
@given(st.data())
def test_the_tables_find_and_repair_what_the_library_refuses(draft: Draft, data: st.DataObject) -> None:
    schema = data.draw(schemas(draft))
    assert (next(faults(schema, draft), None) is None) == is_valid(schema, draft)
    if not isinstance(schema, dict):
        return
    mended = well_formed(schema, draft, Notes())
    if draft == "7":  # in the other, lists in `items` are repaired later
        assert is_valid(mended, draft)
    assert well_formed(mended, draft, Notes()) is mended
    if is_valid(schema, draft):
        assert mended is schema


@settings(max_examples=300 if SOAK else 150)
@given(schemas("7"))
def test_mistral_gets_a_schema_that_the_library_accepts_with_all_of_its_checks(schema: Any) -> None:
    shape = SCHEMA_SHAPES["draft-7"]
    adapted = adapt(schema, shape).schema
    jsonschema.Draft7Validator.check_schema(adapted)
    is_whole = isinstance(schema, dict)
    try:
        jsonschema.Draft7Validator.check_schema(schema)
    except jsonschema.exceptions.SchemaError:
        is_whole = False
    assert (adapted == schema) == is_whole
    if isinstance(schema, dict):
        assert (list(refused(schema, shape, "")) == []) == is_whole


@settings(max_examples=300 if SOAK else 150)
@given(schemas("2020-12"))
def test_openai_gets_a_schema_that_the_library_accepts_with_all_of_its_checks(schema: Any) -> None:
    jsonschema.Draft202012Validator.check_schema(adapt(schema, SCHEMA_SHAPES["openai"]).schema)


@pytest.mark.parametrize("form", SCHEMA_SHAPES)
def test_a_deep_schema_does_not_exhaust_the_stack(form: Any) -> None:
    deep: Any = {"type": "objct"}
    for _ in range(5_000):
        deep = {"type": "object", "properties": {"a": deep}}
    adapted = adapt(deep, SCHEMA_SHAPES[form])
    assert any("nested deeper than 64 levels" in text for text in adapted.loosened)
    assert list(refused(adapted.schema, SCHEMA_SHAPES[form], "")) == []
    assert isinstance(list(refused(deep, SCHEMA_SHAPES[form], "")), list)


@pytest.mark.parametrize("form", SCHEMA_SHAPES)
def test_definitions_that_fan_out_stay_small(form: Any) -> None:
    names = [f"n{at}" for at in range(40)]
    for last in (names[0], "end"):
        definitions: dict[str, Any] = {
            name: {"type": "object", "properties": {key: {"$ref": f"#/$defs/{after}"} for key in "abcd"}}
            for name, after in zip(names, [*names[1:], last], strict=True)
        }
        definitions["end"] = {"type": "string"}
        schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/n0"}}, "$defs": definitions}
        adapted = adapt(schema, SCHEMA_SHAPES[form])
        assert len(str(adapted.schema)) < 1_000_000
        assert list(refused(adapted.schema, SCHEMA_SHAPES[form], "")) == []
