"""Server-sent events: cut anywhere, with every end of line, they are what other parsers make of them."""

from itertools import pairwise

import httpx2
import pytest
from hypothesis import given, strategies as st
from openai._streaming import SSEDecoder

from segue.wire.common import sse
from segue.wire.common.frame import BrokenStream, Frame
from segue.wire.common.sse import ServerSentEvents

Pieces = list[bytes]


def frames(pieces: Pieces) -> list[Frame]:
    parser = ServerSentEvents()
    parsed = [frame for piece in pieces for frame in parser.feed(piece)]
    return [*parsed, *parser.close()]


def with_text(pieces: Pieces) -> list[tuple[str, str]]:
    """Name and text of each event that says anything."""
    return [(name.decode(), data.decode()) for name, data in frames(pieces) if name or data]


# -- judges ----------------------------------------------------------------------------------------------------------


def by_openai(data: bytes) -> list[tuple[str, str]]:
    found = [(event.event or "", event.data) for event in SSEDecoder().iter_bytes(iter([data]))]
    return [event for event in found if any(event)]


def by_httpx2(data: bytes) -> list[tuple[str, str]]:
    headers, asked = {"content-type": "text/event-stream"}, httpx2.Request("POST", "http://localhost")
    answer = httpx2.Response(200, headers=headers, content=data, request=asked)
    found = [("" if event.event == "message" else event.event, event.data) for event in httpx2.EventSource(answer)]
    return [event for event in found if any(event)]


# -- streams ---------------------------------------------------------------------------------------------------------

WORDS = st.text(st.sampled_from('ab: {}"é✓\u2028\x85\x0b\x1c\0'), max_size=6)
LINES = st.one_of(
    st.builds("data: {}".format, WORDS),
    st.builds("data:{}".format, WORDS),
    st.builds("event: {}".format, st.sampled_from(["ping", "delta", "", "a:b"])),
    st.builds(": {}".format, WORDS),
    st.sampled_from(
        ["", "", "", "data", "event", "id: 7", "retry: 5", "retry: x", ":", "nonsense", "datax: 1", " data: 1"]
    ),
)
ENDS = st.sampled_from(["\n", "\r\n", "\r"])


@st.composite
def streams(draw: st.DrawFn) -> bytes:
    lines = draw(st.lists(LINES, max_size=12))
    return "".join(line + draw(ENDS) for line in lines).encode()


def cut(data: bytes, places: list[int]) -> Pieces:
    ends = sorted({0, len(data), *(place for place in places if place < len(data))})
    return [data[start:end] for start, end in pairwise(ends)]


CUTS = st.lists(st.integers(0, 120), max_size=8)


@given(streams())
def test_events_are_those_of_the_openai_sdk_and_of_httpx2(data: bytes) -> None:
    closed = data + b"\n\n"  # the judges drop a last event without its empty line
    assert with_text([closed]) == by_openai(closed) == by_httpx2(closed)


@given(streams(), CUTS)
def test_it_does_not_matter_where_the_bytes_are_cut(data: bytes, places: list[int]) -> None:
    assert frames(cut(data, places)) == frames([data])
    assert frames([data[at : at + 1] for at in range(len(data))]) == frames([data])


@given(streams(), CUTS, st.booleans())
def test_pieces_without_bytes_do_not_matter(data: bytes, places: list[int], first: bool) -> None:
    pieces = [each for piece in cut(data, places) for each in ([b"", piece] if first else [piece, b""])]
    assert frames(pieces) == frames([data])


@given(streams(), CUTS)
def test_a_byte_order_mark_does_not_matter(data: bytes, places: list[int]) -> None:
    marked = b"\xef\xbb\xbf" + data
    assert frames(cut(marked, places)) == frames([data])


@given(streams())
def test_an_event_is_returned_with_the_byte_that_completes_it(data: bytes) -> None:
    """Nothing is held back until more comes, whatever ends the lines."""
    closed = data + b"\n\n"
    parser = ServerSentEvents()
    parsed = [frame for at in range(len(closed)) for frame in parser.feed(closed[at : at + 1])]
    assert parsed == frames([closed]) and parser.close() == []


@given(st.lists(st.binary(max_size=30), max_size=6))
def test_any_bytes_at_all_can_be_read(pieces: Pieces) -> None:
    frames(pieces)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"data: a\n\n", [(b"", b"a")]),
        (b"data:a\n\n", [(b"", b"a")]),
        (b"data:  a\n\n", [(b"", b" a")]),
        (b"data: a\r\n\r\n", [(b"", b"a")]),
        (b"data: a\r\r", [(b"", b"a")]),
        (b"data: a\r\n\n", [(b"", b"a")]),
        (b"event: x\ndata: a\n\n", [(b"x", b"a")]),
        (b"data: a\nevent: x\n\n", [(b"x", b"a")]),
        (b"event: x\nevent: y\ndata: a\n\n", [(b"y", b"a")]),
        (b"event: x\ndata: a\ndata: b\n\n", [(b"x", b"a\nb")]),
        (b"data: {\ndata: }\n\n", [(b"", b"{\n}")]),
        (b"data: a\n\nevent: x\ndata: b\n\n", [(b"", b"a"), (b"x", b"b")]),
        (b"event: x\ndata: a\n\ndata: b\n\n", [(b"x", b"a"), (b"", b"b")]),
        (b"event: x\ndata: a\nevent: y\ndata: b\n\n", [(b"y", b"a\nb")]),
        (b"eventevent: x\ndata: a\n\n", [(b"", b"a")]),
        (b"event: xevent: y\ndata: a\n\n", [(b"xevent: y", b"a")]),
        (b"data\n\n", [(b"", b"")]),
        (b"event: ping\n\n", [(b"ping", b"")]),
        (b": heartbeat\n\n:\n\n\n\n", []),
        (b"id: 1\nretry: 10\n\n", []),
        (b"id: 1\ndata: a\n\n", [(b"", b"a")]),
        (b"data: a\n\n\n\ndata: b\n\n", [(b"", b"a"), (b"", b"b")]),
        (b"\n\ndata: a\n\n", [(b"", b"a")]),
        ("data: é\u2028✓\n\n".encode(), [(b"", "é\u2028✓".encode())]),
        (b"data: a\x0bb\x1cc\x85\n\n", [(b"", b"a\x0bb\x1cc\x85")]),
        (b"event: \xff\ndata: \xff\n\n", [(b"\xff", b"\xff")]),
    ],
)
def test_events_are_parsed(data: bytes, expected: list[Frame]) -> None:
    assert frames([data]) == expected
    assert frames([data[at : at + 1] for at in range(len(data))]) == expected


@pytest.mark.parametrize("end", [b"", b"\n", b"\r", b"\r\n"])
def test_the_last_event_is_returned_without_its_empty_line(end: bytes) -> None:
    assert frames([b"data: a\n\nevent: x\ndata: b" + end]) == [(b"", b"a"), (b"x", b"b")]
    parser = ServerSentEvents()
    parser.feed(b"data: b" + end)
    assert parser.close() == [(b"", b"b")] and parser.close() == []


def test_an_event_that_never_ends_breaks_the_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "MAX_FRAME", 100)
    parser = ServerSentEvents()
    assert parser.feed(b"data: " + b"a" * 94) == []
    with pytest.raises(BrokenStream, match="more than 100 bytes"):
        parser.feed(b"a")


def test_many_events_may_be_more_than_one_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "MAX_FRAME", 100)
    assert len(frames([b"data: 12345\n\n" * 50])) == 50
    assert len(frames([b"data: 12345\n\n"] * 50)) == 50
