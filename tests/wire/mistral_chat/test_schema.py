"""Compare the tables of JSON Schema draft 7 with the library that mistral-common uses."""

from typing import Any

import jsonschema
from conftest import SOAK
from hypothesis import given, settings, strategies as st

from segue.wire.mistral_chat.schema import LISTS, NAMED, SCHEMAS, VALUES, faults, repaired

KEYWORDS = [*VALUES, *SCHEMAS, *LISTS, *NAMED, "items", "dependencies", "const", "default", "x-own"]
TEXTS = ["", "a", "string", "objct", "null", "[", "\\p{L}", "^a$"]
plain = st.none() | st.booleans() | st.integers(-2, 3) | st.sampled_from([0.5, 2.0]) | st.sampled_from(TEXTS)
values = plain | st.lists(plain, max_size=3)
schemas: st.SearchStrategy[Any] = st.recursive(
    values,
    lambda inner: st.dictionaries(
        st.sampled_from(KEYWORDS),
        inner | st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(TEXTS), inner, max_size=2),
        max_size=4,
    ),
    max_leaves=10,
)


def is_draft_7(schema: Any) -> bool:
    try:
        jsonschema.Draft7Validator.check_schema(schema)
    except jsonschema.exceptions.SchemaError:
        return False
    return True


@settings(max_examples=500 if SOAK else 300)
@given(schemas)
def test_the_tables_find_and_repair_what_the_library_refuses(schema: Any) -> None:
    assert (next(faults(schema, ""), None) is None) == is_draft_7(schema)
    mended = repaired(schema)
    assert isinstance(mended, dict)
    assert is_draft_7(mended)
    assert repaired(mended) is mended
    if isinstance(schema, dict) and is_draft_7(schema):
        assert mended is schema


def test_a_deep_schema_does_not_exhaust_the_stack() -> None:
    deep: Any = {"type": "objct"}
    for _ in range(5_000):
        deep = {"properties": {"a": deep}}
    assert list(faults(deep, "")) == []
    assert repaired({"type": "objct", "not": deep}) == {"not": deep}
