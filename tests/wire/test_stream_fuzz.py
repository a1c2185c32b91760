"""Damaged streams: whatever arrives, nothing is raised, exactly one event ends the answer, and memory is bounded."""

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st
from support import hostile
from support.streams import CASES, StreamCase, decoded

import segue
from segue.wire.common import sse
from segue.wire.registry import PROTOCOLS

STREAMED = [case for case in CASES if case.events is not None]
BY_PROTOCOL = {name: [case for case in STREAMED if case.protocol == name] for name in PROTOCOLS}

scalars = st.none() | st.booleans() | st.integers(-3, 10**19) | st.floats(allow_nan=False) | st.text(max_size=8)
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of everything in a JSON value."""
    found = [path] if path else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        found += places(item, (*path, key))
    return found


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    copy = json.loads(json.dumps(value))
    inner = copy
    for key in path[:-1]:
        inner = inner[key]
    if new is ...:
        del inner[path[-1]]
    else:
        inner[path[-1]] = new
    return copy


@st.composite
def damaged_events(draw: st.DrawFn, case: StreamCase) -> list[bytes]:
    """The events of a case with some left out, doubled, swapped, or with a value in them replaced or gone."""
    assert case.events is not None
    events = list(case.events)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(events) - 1))
        kind = draw(st.sampled_from(["drop", "double", "swap", "change", "change", "lose"]))
        if kind == "drop" and len(events) > 1:
            del events[at]
        elif kind == "double":
            events.insert(draw(st.integers(0, len(events))), events[at])
        elif kind == "swap":
            other = draw(st.integers(0, len(events) - 1))
            events[at], events[other] = events[other], events[at]
        elif isinstance(events[at].get("data"), dict | list) and (found := places(events[at]["data"])):
            path = draw(st.sampled_from(found))
            new = ... if kind == "lose" else draw(anything)
            events[at] = {**events[at], "data": replaced(events[at]["data"], path, new)}
    return [case._piece(event) for event in events]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@given(data=st.data())
def test_damaged_events_end_in_one_last_event(protocol: str, data: st.DataObject) -> None:
    case = data.draw(st.sampled_from(BY_PROTOCOL[protocol]))
    decoded(case.request(), data.draw(damaged_events(case)))


@pytest.mark.parametrize("protocol", PROTOCOLS)
@given(data=st.data())
def test_damaged_bytes_end_in_one_last_event(protocol: str, data: st.DataObject) -> None:
    case = data.draw(st.sampled_from(BY_PROTOCOL[protocol]))
    stream = bytearray(b"".join(case.pieces()))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(stream)))
        stream[at : at + data.draw(st.integers(0, 20))] = data.draw(st.binary(max_size=20))
    cut = data.draw(st.integers(0, len(stream)))
    decoded(case.request(), [bytes(stream[:cut]), bytes(stream[cut:])])


@pytest.mark.parametrize("protocol", PROTOCOLS)
@given(junk=st.binary(max_size=200))
def test_junk_ends_in_an_error(protocol: str, junk: bytes) -> None:
    case = BY_PROTOCOL[protocol][0]
    _, message = decoded(case.request(), [junk])
    assert message.stop_reason == "error"


@pytest.mark.parametrize("protocol", PROTOCOLS)
@given(body=anything)
def test_a_whole_answer_of_any_shape_is_a_message(protocol: str, body: Any) -> None:
    case = BY_PROTOCOL[protocol][0]
    decoded(case.request(), [json.dumps(body).encode()])


@pytest.mark.parametrize("protocol", PROTOCOLS)
@given(data=st.data())
def test_a_damaged_whole_answer_is_a_message(protocol: str, data: st.DataObject) -> None:
    whole = [case for case in CASES if case.protocol == protocol and isinstance(case.whole, dict)]
    case = data.draw(st.sampled_from(whole))
    path = data.draw(st.sampled_from(places(case.whole)))
    body = replaced(case.whole, path, data.draw(st.just(...) | anything))
    decoded(case.request(), [json.dumps(body).encode()])


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_anything_anywhere_in_a_whole_answer_is_a_message_that_can_be_stored(protocol: str) -> None:
    whole = [case for case in CASES if case.protocol == protocol and isinstance(case.whole, dict)]
    bodies = [case.whole for case in whole]
    for at, path in hostile.places(bodies):
        for new in hostile.HOSTILE:
            stored(whole[at], [json.dumps(hostile.replaced(bodies[at], path, new)).encode()])


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_anything_anywhere_in_a_stream_is_a_message_that_can_be_stored(protocol: str) -> None:
    """Each value of each shape of event is replaced by hostile ones, one at a time; the rest of the stream follows."""
    events = [(case, at) for case in BY_PROTOCOL[protocol] for at in range(len(case.events or ()))]
    events = [(case, at) for case, at in events if isinstance((case.events or [])[at].get("data"), dict)]
    documents = [(case.events or [])[at]["data"] for case, at in events]
    for index, path in hostile.places(documents):
        case, at = events[index]
        pieces = case.pieces()
        for new in hostile.HOSTILE:
            data = json.dumps(hostile.replaced(documents[index], path, new))
            pieces[at] = case._piece({**(case.events or [])[at], "data": data})
            stored(case, pieces)


def stored(case: StreamCase, pieces: list[bytes]) -> None:
    _, message = decoded(case.request(), pieces)
    data = segue.Context(messages=[message]).to_json()
    assert segue.Context.from_json(data).messages == [message]


@pytest.mark.parametrize("begin", [b"data: ", b"{", b"event: "])
def test_an_endless_event_is_refused(begin: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory stays bounded, whatever is sent."""
    monkeypatch.setattr(sse, "MAX_FRAME", 10_000)
    monkeypatch.setattr("segue.render.answer.MAX_FRAME", 10_000)
    case = BY_PROTOCOL["openai-completions"][0]
    decoder = segue.Decoder(case.request())
    decoder.feed(begin)
    fed = 0
    while decoder.message is None:
        decoder.feed(b"x" * 1_000)
        fed += 1_000
        assert fed < 20_000
    assert "10,000 bytes" in (decoder.message.error_message or "")
