"""Pieces of calls find their calls, however little they say."""

from typing import Any

import pytest

import segue
from segue.types import ToolCall
from segue.wire.common.answer import Answer
from segue.wire.common.call_deltas import CallDeltas

MODEL = segue.get_model("mistral/mistral-large-latest")


def piece(index: int | None = None, id: str | None = None, name: str | None = None, arguments: Any = "") -> Any:  # noqa: A002, the field's name
    return {"index": index, "id": id, "function": {"name": name, "arguments": arguments}}


def taken(*deltas: list[Any]) -> list[tuple[str, str, dict[str, Any]]]:
    """Id, name and arguments of every call; no id where one had to be made."""
    answer = Answer(MODEL)
    calls = CallDeltas(answer)
    for delta in deltas:
        assert len(calls.add(delta)) == len(delta)
    given = {each.get("id") for delta in deltas for each in delta}
    answer.finish("stop", {"stop": "stop"})
    assert answer.finished is not None
    blocks = [block for block in answer.finished.content if isinstance(block, ToolCall)]
    assert len({block.id for block in blocks}) == len(blocks) or None not in given
    return [(block.id if block.id in given else "", block.name, block.arguments) for block in blocks]


A, B = ("a", "f", {"x": 1}), ("b", "g", {"y": 2})
NO_A, NO_B = ("", "f", {"x": 1}), ("", "g", {"y": 2})


@pytest.mark.parametrize(
    ("why", "deltas", "expected"),
    [
        (
            "by index, interleaved",
            [
                [piece(0, "a", "f")],
                [piece(1, "b", "g", '{"y"')],
                [piece(0, arguments='{"x": 1}'), piece(1, arguments=":2}")],
            ],
            [A, B],
        ),
        ("indices that begin anywhere", [[piece(7, "a", "f", '{"x": 1}')], [piece(3, "b", "g", '{"y": 2}')]], [A, B]),
        (
            "no index, by id",
            [[piece(None, "a", "f", '{"x"')], [piece(None, "b", "g", '{"y": 2}')], [piece(None, "a", None, ": 1}")]],
            [A, B],
        ),
        ("no index, no later id: the last call", [[piece(None, "a", "f", '{"x"')], [piece(arguments=": 1}")]], [A]),
        (
            "no index, whole calls in one delta",
            [[piece(None, "a", "f", '{"x": 1}'), piece(None, "b", "g", '{"y": 2}')]],
            [A, B],
        ),
        (
            "nothing but names",
            [[piece(None, None, "f", '{"x": 1}')], [piece(None, None, "g", '{"y": 2}')]],
            [NO_A, NO_B],
        ),
        (
            "one tool twice, without ids",
            [[piece(0, None, "f", '{"x": 1}')], [piece(0, None, "f", '{"x": 1}')]],
            [NO_A, NO_A],
        ),
        ("no arguments and no ids", [[piece(0, None, "f")], [piece(0, None, "g")]], [("", "f", {}), ("", "g", {})]),
        (
            "every index 0, by id",
            [[piece(0, "a", "f", '{"x"')], [piece(0, None, None, ": 1}")], [piece(0, "b", "g", '{"y": 2}')]],
            [A, B],
        ),
        (
            "every index 0, interleaved by id",
            [
                [piece(0, "a", "f", '{"x"')],
                [piece(0, "b", "g", '{"y"')],
                [piece(0, "a", "f", ": 1}")],
                [piece(0, "b", "g", ": 2}")],
            ],
            [A, B],
        ),
        (
            "id and name in every piece",
            [[piece(0, "a", "f", '{"x"')], [piece(0, "a", "f", ": ")], [piece(0, "a", "f", "1}")]],
            [A],
        ),
        ("the name in every piece, no id", [[piece(0, None, "f", '{"x"')], [piece(0, None, "f", ": 1}")]], [NO_A]),
        ("a new id in every piece, as of vLLM", [[piece(0, "a", "f", '{"x"')], [piece(0, "z", None, ": 1}")]], [A]),
        (
            "id and name late",
            [[piece(0, None, None, '{"x"')], [piece(0, None, "f", ": 1")], [piece(0, "a", None, "}")]],
            [A],
        ),
        (
            "the name in pieces",
            [[piece(0, "a", "wea")], [piece(0, None, "ther")], [piece(0, None, None, '{"x": 1}')]],
            [("a", "weather", {"x": 1})],
        ),
        (
            "one id for two indices",
            [[piece(0, "a", "f", '{"x": 1}')], [piece(1, "a", "g", '{"y": 2}')]],
            [A, ("a", "g", {"y": 2})],
        ),
        ("arguments as an object", [[piece(0, "a", "f", {"x": 1})], [piece(1, "b", "g", {"y": 2})]], [A, B]),
        (
            "arguments null, function null",
            [[piece(0, "a", "f", None)], [{"index": 0, "function": None}], [piece(0, None, None, '{"x": 1}')]],
            [A],
        ),
        ('the id "null"', [[piece(0, "null", "f", '{"x": 1}'), piece(1, "null", "g", '{"y": 2}')]], [NO_A, NO_B]),
        (
            "an object inside arguments begins no call",
            [[piece(0, None, "f", '{"x": ')], [piece(0, None, "f", '{"y": 2}')], [piece(0, None, "f", "}")]],
            [("", "f", {"x": {"y": 2}})],
        ),
    ],
)
def test_pieces_find_their_calls(why: str, deltas: list[list[Any]], expected: list[Any]) -> None:
    assert taken(*deltas) == expected, why


def test_calls_of_a_whole_answer_are_never_joined() -> None:
    answer = Answer(MODEL)
    made = CallDeltas(answer).whole([piece(0, "a", "f", '{"x": 1}'), piece(0, "a", "f", {"x": 1}), {"id": None}])
    assert [(call.id, call.name, call.so_far) for call in made] == [
        ("a", "f", '{"x": 1}'),
        ("a", "f", '{"x":1}'),
        ("", "", ""),
    ]
