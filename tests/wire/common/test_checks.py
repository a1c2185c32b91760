"""What rules of several protocols look for."""

from typing import Any

import pytest

from segue.wire.common.checks import (
    arguments_fault,
    empty_keys,
    half_characters,
    path_of,
    repeated,
    schema_fault,
    shown,
)


def test_half_characters_are_found_in_texts_and_in_keys_with_their_paths() -> None:
    body = {"a": ["x", {"b": "\ud83d"}], "c\udc00": 1, "d": "\U0001f600"}
    assert [path for path, _ in half_characters(body)] == ["", "a[1].b"]


def test_a_path_can_be_printed_and_is_never_longer_than_it_is_useful() -> None:
    place: Any = None
    for _ in range(10_000):
        place = (place, "name" * 100)
    assert len(path_of(place)) < 3_000
    assert path_of(place).startswith("…")
    assert path_of(((None, "messages"), 0)) == "messages[0]"


def test_empty_keys_are_found_at_any_depth() -> None:
    assert [path for path, _ in empty_keys({"a": [{"": 1}]}, "input")] == ["input.a[0]"]
    assert [path for path, _ in empty_keys({"": {"": 1}}, "input")] == ["input", "input"]
    assert list(empty_keys({"a": [{}, "", None]}, "input")) == []
    assert list(empty_keys("no object", "input")) == []


@pytest.mark.parametrize("text", ["{}", ' {"a": [1, {"b": null}]} ', '{"a": "\\ud83d\\ude00"}', '{"": 1}'])
def test_arguments_are_a_json_object(text: str) -> None:
    assert arguments_fault(text) == ""


@pytest.mark.parametrize(
    "given", ["", "{", '{"a":', "[]", "1", "null", "{'a': 1}", "{} {}", '{"a": "\\ud83d"}', '{"a": NaN}', None, {}, 1]
)
def test_other_arguments_are_refused(given: Any) -> None:
    assert arguments_fault(given) != ""


def test_only_names_are_compared_and_empty_ones_are_not() -> None:
    named = [("a", "x"), ("b", ""), ("c", ""), ("d", None), ("e", {}), ("f", "x"), ("g", "y")]
    assert [path for path, _ in repeated(named, "the tool")] == ["f"]


def test_the_root_of_a_schema_is_an_object() -> None:
    assert schema_fault({"type": "object"}) == ""
    for schema in ({}, {"type": "array"}, {"type": ["object"]}, [], None, {"properties": {}}):
        assert schema_fault(schema) != ""


@pytest.mark.parametrize("value", ["\ud83d", "x" * 10_000, [[]], {"a": {}}, None, True, 1.5])
def test_a_value_in_a_message_is_one_short_line_that_can_be_printed(value: Any) -> None:
    assert len(shown(value)) <= 81
    shown(value).encode()
