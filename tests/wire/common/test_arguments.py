"""Arguments of calls from any text: read strictly if they are JSON, otherwise marked."""

import json
from typing import Any

import pytest
from hypothesis import example, given, strategies as st

from segue.wire.common.arguments import read_arguments, read_so_far

TEXT = st.text(st.characters(codec="utf-8"), max_size=8)
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(TEXT, VALUES, max_size=4)
INDENT = st.none() | st.integers(0, 2)
# Words that damaged arguments are made of.
SCRAPS = st.lists(
    st.sampled_from(['{', '}', '[', ']', '"', "'", ":", ",", "\\", "\\u", "\\ud83d", "\\x", "\n", "\t", "\0", "1", "-",
                     "1e999", "e", ".", "null", "tru", "NaN", "Infinity", "key", " ", "é", "\ud800", "\x7f", "//"]),
    max_size=14,
).map("".join)  # fmt: skip


def is_json(value: Any) -> bool:
    """Whether ``value`` can be written as JSON and read again."""
    return bool(json.loads(json.dumps(value, allow_nan=False)) == value)


@given(st.text(st.characters()) | SCRAPS | SCRAPS.map(lambda scraps: '{"a": "' + scraps))
@example("[" * 100_000)
@example('{"a":' * 100_000)
@example('{"a": "' + "\\" * 10_001)
@example("{" * 2_000 + "}" * 2_000)
@example('{"a": 1' + "0" * 10_000 + "}")
def test_any_text_is_read_as_json_without_an_exception(text: str) -> None:
    found, reading = read_arguments(text)
    assert type(found) is dict and is_json(found)
    assert reading in ("strict", "repaired", "truncated", "unreadable")
    assert found == {} or reading != "unreadable"
    assert is_json(read_so_far(text))


@given(OBJECTS, INDENT, st.booleans())
def test_json_is_read_unchanged(whole: dict[str, Any], indent: int | None, ascii_only: bool) -> None:
    text = json.dumps(whole, indent=indent, ensure_ascii=ascii_only)
    assert read_arguments(text) == (whole, "strict")
    assert read_arguments(f" {text}\n") == (whole, "strict")


@given(st.text(st.characters()) | SCRAPS)
def test_arguments_read_strictly_are_what_json_reads(text: str) -> None:
    found, reading = read_arguments(text)
    if reading == "strict" and text.strip():
        assert found == json.loads(text)


@given(OBJECTS, INDENT, st.booleans(), st.data())
def test_cut_arguments_are_marked_and_agree_with_the_whole(
    whole: dict[str, Any], indent: int | None, ascii_only: bool, data: st.DataObject
) -> None:
    text = json.dumps(whole, indent=indent, ensure_ascii=ascii_only)
    cut = text[: data.draw(st.integers(0, len(text) - 1))]
    found, reading = read_arguments(cut)
    assert reading == ("truncated" if cut.strip() else "strict")
    assert_begins(found, whole)
    assert_begins(read_so_far(cut), whole)


def assert_begins(part: Any, whole: Any) -> None:
    """``part`` is what one sees of ``whole`` before all of it has come. A number may lack its last digits."""
    if isinstance(part, dict):
        assert isinstance(whole, dict) and list(part) == list(whole)[: len(part)]
        for name, value in part.items():
            assert_begins(value, whole[name])
    elif isinstance(part, list):
        assert isinstance(whole, list) and len(part) <= len(whole)
        for one, other in zip(part, whole, strict=False):
            assert_begins(one, other)
    elif isinstance(part, str):
        assert isinstance(whole, str) and whole.startswith(part)
    elif part is None or isinstance(part, bool):
        assert part is whole
    else:
        assert isinstance(whole, int | float) and not isinstance(whole, bool)


@given(OBJECTS, st.sampled_from(["\n", "\t", "\r", "\0", "\x1f", "\\d", "\\'", "\\x41", "\\u12", "\\ "]))
def test_control_characters_and_unknown_escapes_in_strings_are_repaired(whole: dict[str, Any], fault: str) -> None:
    """A raw control character is read as itself, and a backslash that escapes nothing as a backslash."""
    text = json.dumps(whole | {"fault": "@FAULT@"}).replace("@FAULT@", f"a{fault}b")
    assert read_arguments(text) == (whole | {"fault": f"a{fault}b"}, "repaired")


@pytest.mark.parametrize(
    ("text", "found", "reading"),
    [
        ("", {}, "strict"),
        (" \n", {}, "strict"),
        ("{}", {}, "strict"),
        ('{"a": 1, "a": 2}', {"a": 2}, "strict"),
        ('{"a": 12345678901234567890123}', {"a": 12345678901234567890123}, "strict"),
        ('{"a": 0.1, "b": 1e5, "c": -0.0}', {"a": 0.1, "b": 1e5, "c": 0.0}, "strict"),
        ('{"a": "\\ud83d\\ude00"}', {"a": "😀"}, "strict"),
        ('{"a": "\\ud800x"}', {"a": "\ufffdx"}, "strict"),
        # Repaired: what models write by mistake.
        ('{"path": "C:\\dir\\new"}', {"path": "C:\\dir\new"}, "repaired"),
        ('{"re": "\\d+\\."}', {"re": "\\d+\\."}, "repaired"),
        ('{"code": "a\n\tb"}', {"code": "a\n\tb"}, "repaired"),
        ('{"a\n": 1}', {"a\n": 1}, "repaired"),
        # Truncated: what had come.
        ("{", {}, "truncated"),
        ('{"a', {}, "truncated"),
        ('{"a": ', {}, "truncated"),
        ('{"a": "x', {"a": "x"}, "truncated"),
        ('{"a": "x\\', {"a": "x"}, "truncated"),
        ('{"a": "x\\\\', {"a": "x\\"}, "truncated"),
        ('{"a": "x\\u00e', {"a": "x"}, "truncated"),
        ('{"a": "x\\ud83d', {"a": "x"}, "truncated"),
        ('{"a": "x\\ud83d\\', {"a": "x"}, "truncated"),
        ('{"a": "x\\ud83d\\ude0', {"a": "x"}, "truncated"),
        ('{"a": "x\\\\ud83d', {"a": "x\\ud83d"}, "truncated"),
        ('{"a": "\\ud800 x', {"a": "\ufffd x"}, "truncated"),
        ('{"a": [1, {"b": "c', {"a": [1, {"b": "c"}]}, "truncated"),
        ('{"a": true, "b": fal', {"a": True}, "truncated"),
        ('{"a": 1, "b": -', {"a": 1}, "truncated"),
        ('{"code": "a\nb', {"code": "a\nb"}, "truncated"),
        ('{"re": "\\d+', {"re": "\\d+"}, "truncated"),
        # Text after the object is not JSON either: the call must not run.
        ('{"a": 1} {"a": 2}', {"a": 1}, "truncated"),
        ('{"a": 1}}', {"a": 1}, "truncated"),
        # Unreadable: nothing is guessed.
        ("[]", {}, "unreadable"),
        ("null", {}, "unreadable"),
        ('"{}"', {}, "unreadable"),
        ("17", {}, "unreadable"),
        ("Paris", {}, "unreadable"),
        ("{city: 'Paris'}", {}, "unreadable"),
        ('{"a": Paris}', {}, "unreadable"),
        ('{"a": NaN}', {}, "unreadable"),
        ('{"a": Infinity}', {}, "unreadable"),
        ('{"a": 1e999}', {}, "unreadable"),
        ('{"a": 1,}', {}, "unreadable"),
    ],
)
def test_how_arguments_are_read(text: str, found: dict[str, Any], reading: str) -> None:
    assert read_arguments(text) == (found, reading)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", {}),
        ("x", {}),
        ('{"a": "x', {"a": "x"}),
        ('{"a": 1}', {"a": 1}),
        ('{"a": "x\\ud83d', {"a": "x"}),
        ("[1", {}),
    ],
)
def test_streaming_arguments_are_read_as_far_as_they_go(text: str, found: dict[str, Any]) -> None:
    assert read_so_far(text) == found
