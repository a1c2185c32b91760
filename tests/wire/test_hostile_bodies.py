"""Bodies of other clients, changed along every path: only errors of segue are raised.

The bodies are those of the rules' cases; each value in them is replaced by hostile ones, one at a time.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st
from support.hostile import mutants, paths, replaced

import segue
from segue.render.bodies import UNREAD
from segue.wire.registry import PROTOCOLS

CASES = Path(__file__).parents[1] / "cases" / "rules"


def bodies(protocol: str) -> list[Any]:
    """Every body of the rules' cases."""
    found = [json.loads(path.read_text()) for path in sorted((CASES / protocol).glob("*.json"))]
    return [case[kind] for case in found for kind in ("good", "bad")]


def read(body: Any, protocol: str | None) -> None:
    faults: list[str] = []
    try:
        assert isinstance(segue.ingest(body, protocol), segue.Context)
    except segue.SegueError as error:
        faults.append(str(error))
    assert not any(UNREAD in fault for fault in faults), "a reader should say what is wrong, and where"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_body_with_anything_anywhere_is_read_or_refused(protocol: str) -> None:
    for body in mutants(bodies(protocol)):
        read(body, protocol)
        read(body, None)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_same_as_json_text(protocol: str) -> None:
    for body in mutants(bodies(protocol)):
        try:
            text = json.dumps(body)  # with NaN, Infinity and escaped halves, as Python writes them
        except (RecursionError, ValueError):
            continue
        read(text, protocol)
        read(text.encode(), None)


@pytest.mark.parametrize("protocol", [*PROTOCOLS, None])
@pytest.mark.parametrize("body", [None, 3, 1.5, True, object()])
def test_a_body_that_is_not_an_object_is_refused_with_a_message(body: Any, protocol: str | None) -> None:
    with pytest.raises(segue.FormatError, match=r"a request body is a JSON object|of type object is not JSON"):
        segue.ingest(body, protocol)


def test_a_bare_list_is_not_linted_and_the_error_has_the_way_out() -> None:
    with pytest.raises(segue.FormatError, match=r'not a list; put a list of messages in one: \{"messages": \[…\]\}'):
        segue.lint([{"role": "user", "content": "hi"}])


@pytest.mark.parametrize("items", [[3], ["hi"], [{"role": "user", "content": "hi"}, None]])
def test_a_list_of_other_things_than_messages_is_refused(items: Any) -> None:
    for protocol in (*PROTOCOLS, None):
        with pytest.raises(segue.FormatError, match="list"):
            segue.ingest(items, protocol)


@pytest.mark.parametrize(
    "data", [b"", b"\xff", b"[" * 100_000, b"1e999", b"9" * 5000, b"NaN", b'"\\ud83d"', "\ud83d", '{"a":1', b"\x00"]
)
def test_bytes_that_are_no_body_are_refused(data: Any) -> None:
    with pytest.raises(segue.FormatError):
        segue.ingest(data)


def test_a_fault_says_where_it_is() -> None:
    with pytest.raises(segue.FormatError, match=r"^input\[0\]\.role: role \{\} is none of"):
        segue.ingest({"input": [{"type": "message", "role": {}, "content": "hi"}]}, "openai-responses")


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=4)
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(
        ["type", "role", "content", "text", "parts", "id", "name", "input", "messages", "contents", "tool_calls"]
    ), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@pytest.mark.parametrize("protocol", PROTOCOLS)
@given(data=st.data())
def test_a_body_with_several_faults_is_read_or_refused(protocol: str, data: st.DataObject) -> None:
    body = data.draw(st.sampled_from(bodies(protocol)))
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(list(paths(body))))
        body = replaced(body, path, data.draw(anything))
        if not isinstance(body, dict):
            break
    read(body, protocol)
