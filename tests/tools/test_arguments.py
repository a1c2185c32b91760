"""Arguments are checked against the schema: harmless mismatches are coerced, others are reported with their paths."""

import datetime
import enum
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypedDict

import jsonschema
import msgspec
import pytest
from hypothesis import given, strategies as st

import segue
from segue.tools import Tool, tool
from segue.tools.arguments import ArgumentChecker, InvalidArguments
from segue.types import ToolDefinition


class Unit(enum.Enum):
    CELSIUS = "c"
    FAHRENHEIT = "f"


@dataclass
class Place:
    city: str
    floor: int = 0


class Window(TypedDict, total=False):
    first: int


class Node(msgspec.Struct):
    value: int
    next: "Node | None" = None


def checks(schema: dict[str, Any], required: bool = True) -> ArgumentChecker:
    whole = {"type": "object", "properties": {"v": schema}, "required": ["v"] if required else []}
    whole["$defs"] = {"Point": {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}}
    return ArgumentChecker(Tool(ToolDefinition("t", "", whole), print))


POINT = {"$ref": "#/$defs/Point"}
STRINGS = {"type": "array", "items": {"type": "string"}}
INTEGERS = {"type": "array", "items": {"type": "integer"}}
COERCED: list[tuple[dict[str, Any], Any, Any]] = [
    ({"type": "integer"}, "3", 3),
    ({"type": "integer"}, " -3 ", -3),
    ({"type": "integer"}, 3.0, 3),
    ({"type": "integer"}, "3.0", 3),
    ({"type": "number"}, "3.5", 3.5),
    ({"type": "number"}, "3", 3),
    ({"type": "boolean"}, "true", True),
    ({"type": "boolean"}, "False", False),
    ({"type": "string"}, 3, "3"),
    ({"type": "string"}, 3.5, "3.5"),
    ({"type": "null"}, "null", None),
    ({"enum": [1, 2, 3]}, "2", 2),
    ({"enum": ["1", "2"]}, 2, "2"),
    ({"const": 5}, "5", 5),
    (POINT, '{"x": 1}', {"x": 1}),
    (POINT, {"x": "1"}, {"x": 1}),
    (POINT, '{"x": "1"}', {"x": 1}),
    (INTEGERS, "[1, 2]", [1, 2]),
    (INTEGERS, '["1", 2.0]', [1, 2]),
    (INTEGERS, 7, [7]),
    (INTEGERS, "7", [7]),
    (STRINGS, "one", ["one"]),
    ({"type": "array", "items": POINT}, {"x": 1}, [{"x": 1}]),
    ({"type": "object", "additionalProperties": {"type": "integer"}}, {"a": "1"}, {"a": 1}),
    ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "3", 3),
    ({"anyOf": [POINT, {"type": "null"}]}, {"x": "3"}, {"x": 3}),
    ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "null", None),
    ({"oneOf": [INTEGERS, {"type": "boolean"}]}, ["1"], [1]),
    ({"allOf": [{"type": "integer"}, {"minimum": 1}]}, "3", 3),
    ({"type": ["integer", "null"]}, "3", 3),
    ({"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}]}, ["1", 2], [1, "2"]),
]


@pytest.mark.parametrize(("schema", "value", "expected"), COERCED)
def test_a_harmless_mismatch_is_coerced(schema: dict[str, Any], value: Any, expected: Any) -> None:
    found = checks(schema).check({"v": value}).json["v"]
    assert found == expected and type(found) is type(expected)


VALID: list[tuple[dict[str, Any], Any]] = [
    ({"type": "string"}, "3"),
    ({"type": ["string", "integer"]}, "3"),
    ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, "3"),
    ({}, "3"),
    ({"type": "number"}, 3),
    (STRINGS, ["1", "[2]"]),
    (STRINGS, []),
    ({"type": "string"}, '{"x": 1}'),
]


@pytest.mark.parametrize(("schema", "value"), VALID)
def test_valid_arguments_stay_unchanged(schema: dict[str, Any], value: Any) -> None:
    assert checks(schema).check({"v": value}).json["v"] == value


REFUSED: list[tuple[dict[str, Any], Any, str]] = [
    ({"type": "integer"}, "three", 'v: "three" is not of type "integer"'),
    ({"type": "integer"}, 3.5, 'v: 3.5 is not of type "integer"'),
    ({"type": "integer"}, True, 'v: true is not of type "integer"'),
    ({"type": "integer"}, None, 'v: null is not of type "integer"'),
    ({"type": "integer"}, "", "v: "),
    ({"type": "integer"}, "9" * 5000, "…"),
    ({"type": "number"}, "Infinity", "v: "),
    ({"type": "number"}, "NaN", "v: "),
    ({"type": "boolean"}, 1, "v: "),
    ({"type": "string"}, {"x": 1}, "v: "),
    ({"enum": ["a", "b"]}, "c", "v: "),
    (POINT, {"x": "y"}, 'v.x: "y" is not of type "integer"'),
    (POINT, {}, 'v: "x" is a required property'),
    (INTEGERS, [1, "y"], 'v[1]: "y" is not of type "integer"'),
    (INTEGERS, "", "v: "),
    ({"anyOf": [POINT, {"type": "null"}]}, {"x": "y"}, 'v.x: "y" is not of type "integer"'),
    ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "x", "integer"),
    ({"type": "integer", "minimum": 5}, "3", "v: 3 is less than the minimum of 5"),
]


@pytest.mark.parametrize(("schema", "value", "reason"), REFUSED)
def test_other_mismatches_are_refused_with_their_path(schema: dict[str, Any], value: Any, reason: str) -> None:
    with pytest.raises(InvalidArguments) as caught:
        checks(schema).check({"v": value})
    assert reason in str(caught.value) and len(str(caught.value)) < 400


def test_all_faults_are_reported_up_to_a_limit() -> None:
    def f(a: int, b: int, c: list[int]) -> None: ...

    with pytest.raises(InvalidArguments) as caught:
        ArgumentChecker(tool(f)).check({"a": "x", "c": [1, "y"], "d": 1})
    assert [fault.split(":")[0] for fault in caught.value.faults if ":" in fault] == ["a", "c[1]"]
    assert any('"b" is a required' in fault for fault in caught.value.faults)
    assert any("'d' was unexpected" in fault for fault in caught.value.faults)
    with pytest.raises(InvalidArguments) as caught:
        ArgumentChecker(tool(f)).check({"a": 1, "b": 1, "c": ["x"] * 1000})
    assert len(caught.value.faults) == 10


def test_null_for_an_optional_argument_counts_as_missing() -> None:
    assert checks({"type": "integer"}, required=False).check({"v": None}).json == {}
    assert checks({"type": ["integer", "null"]}, required=False).check({"v": None}).json == {"v": None}


def test_values_reach_the_function_as_its_types() -> None:
    def f(
        place: Place,
        unit: Unit,
        node: Node,
        window: Window,
        day: datetime.date,
        path: Path,
        pair: tuple[int, str],
        names: set[str],
        by_number: dict[int, str],
        kind: Literal["a", 1] = 1,
    ) -> None: ...

    given = {
        "place": {"city": "Rome", "floor": "2"},
        "unit": "c",
        "node": {"value": 1, "next": {"value": "2"}},
        "window": {"first": 1.0},
        "day": "2026-01-02",
        "path": "a/b",
        "pair": [1, "x"],
        "names": ["a"],
        "by_number": {"1": "one"},
        "kind": "1",
    }
    assert ArgumentChecker(tool(f)).check(given).values == {
        "place": Place("Rome", 2),
        "unit": Unit.CELSIUS,
        "node": Node(1, Node(2)),
        "window": {"first": 1},
        "day": datetime.date(2026, 1, 2),
        "path": Path("a/b"),
        "pair": (1, "x"),
        "names": {"a"},
        "by_number": {1: "one"},
        "kind": 1,
    }


def test_a_type_that_refuses_a_value_is_reported_as_a_fault() -> None:
    @dataclass
    class Even:
        n: int

        def __post_init__(self) -> None:
            if self.n % 2:
                raise ValueError(f"{self.n} is odd")

    def f(day: datetime.date | None = None, even: Even | None = None) -> None: ...

    for arguments, reason in (({"day": "yesterday"}, "day: "), ({"even": {"n": 3}}, "even: 3 is odd")):
        with pytest.raises(InvalidArguments, match=reason):
            ArgumentChecker(tool(f)).check(arguments)


def test_a_tool_may_change_its_arguments_without_changing_the_call() -> None:
    call = {"v": [1, 2]}
    found = checks(INTEGERS).check(call)
    found.values["v"].append(3)
    assert call == {"v": [1, 2]} and found.json == {"v": [1, 2]}


BROKEN: list[Any] = [
    {"type": "objekt"},
    {"type": "object", "properties": {"a": {"type": 3}}},
    {"$ref": "#/$defs/nowhere"},
    {"$ref": "http://127.0.0.1:9/schema"},
    {"properties": {"a": {"pattern": "("}}},
    "[]",
    "true",
]


@pytest.mark.parametrize("schema", BROKEN, ids=str)
def test_an_invalid_schema_is_a_setting_error_and_nothing_is_fetched(schema: Any) -> None:
    with pytest.raises(segue.SettingError, match="tool 't': its parameters are not a JSON schema") as caught:
        segue.Scheduler([Tool(ToolDefinition("t", "", schema), print)])
    assert "\n" not in str(caught.value)


def test_a_definition_without_a_schema_accepts_any_arguments() -> None:
    given = {"a": 1, "b": [{"c": None}]}
    assert ArgumentChecker(Tool(ToolDefinition("t"), print)).check(given).values == given


def test_references_to_any_part_of_the_schema_work() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"anyOf": [{"$ref": "#/properties/a"}, {"type": "null"}]}},
    }
    made = ArgumentChecker(Tool(ToolDefinition("t", "", schema), print))
    assert made.check({"a": "1", "b": 2}).json == {"a": 1, "b": 2}
    with pytest.raises(InvalidArguments):
        made.check({"b": "x"})


def test_nested_unions_are_tried_a_limited_number_of_times() -> None:
    branch = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Any"}, "n": {"type": "integer"}}}
    other = {**branch, "required": ["m"]}
    schema = {
        "type": "object",
        "properties": {"v": {"$ref": "#/$defs/Any"}},
        "$defs": {"Any": {"anyOf": [branch, other]}},
    }
    value: Any = {"n": "no number"}
    for _ in range(45):
        value = {"next": value}
    with pytest.raises(InvalidArguments, match="nested too deeply"):
        ArgumentChecker(Tool(ToolDefinition("t", "", schema), print)).check({"v": value})


SCHEMAS = st.recursive(
    st.sampled_from([{"type": kind} for kind in ("integer", "number", "string", "boolean", "null")] + [{}])
    | st.lists(st.sampled_from([1, 2, "1", "a", True, None]), min_size=1, unique_by=repr).map(lambda of: {"enum": of}),
    lambda inner: st.one_of(
        inner.map(lambda items: {"type": "array", "items": items}),
        st.dictionaries(st.sampled_from("ab"), inner).map(lambda names: {"type": "object", "properties": names}),
        st.lists(inner, min_size=1, max_size=3).map(lambda branches: {"anyOf": branches}),
    ),
    max_leaves=6,
)
NUMBERS = st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(max_size=5) | NUMBERS.map(json.dumps),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
        | inner.map(lambda value: json.dumps(value))
    ),
    max_leaves=5,
)


def is_valid(schema: Any, value: Any) -> bool:
    """Whether another validator accepts it."""
    return bool(jsonschema.Draft202012Validator(schema).is_valid(value))


@given(SCHEMAS, VALUES)
def test_accepted_arguments_are_valid_and_valid_ones_are_accepted_unchanged(schema: Any, value: Any) -> None:
    """Coercion never accepts what another validator refuses, and never changes a valid value."""
    made = checks(schema)
    try:
        found = made.check({"v": value}).json
    except InvalidArguments:
        assert not is_valid(schema, value)
        return
    assert is_valid(schema, found["v"])
    if is_valid(schema, value):
        assert found["v"] == value
    assert made.check(found).json == found


@given(VALUES)
def test_a_value_as_json_text_is_the_same_value(value: Any) -> None:
    """A typed parameter accepts its values also as JSON text."""
    kinds = {bool: "boolean", int: "integer", float: "number", dict: "object", list: "array"}
    kind = kinds.get(type(value))
    if kind is None or (isinstance(value, float) and not math.isfinite(value)):
        return
    assert checks({"type": kind}).check({"v": json.dumps(value)}).json == {"v": value}
