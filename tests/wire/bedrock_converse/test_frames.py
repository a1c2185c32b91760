"""Frames are read as botocore's parser reads them, in pieces of any size, and damage raises."""

import json
import struct
from itertools import accumulate, pairwise
from time import process_time
from typing import Any
from zlib import crc32

import pytest
from botocore.eventstream import EventStreamBuffer, ParserError
from hypothesis import given, strategies as st

from segue.testing.eventstream import frame, framed, header
from segue.wire.bedrock_converse.frames import MAX_HEADERS, EventStream, strings
from segue.wire.common.frame import MAX_FRAME, BrokenStream, Frame

FIXED = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
names = st.text(min_size=1, max_size=20) | st.sampled_from([":event-type", ":message-type", ":content-type"])
texts = st.text(max_size=30) | st.sampled_from(["event", "exception", "error", "contentBlockDelta"])


def sized(value: bytes) -> bytes:
    return struct.pack("!H", len(value)) + value


def of_fixed_size(kind: int) -> st.SearchStrategy[tuple[int, bytes]]:
    return st.tuples(st.just(kind), st.binary(min_size=FIXED[kind], max_size=FIXED[kind]))


values = st.one_of(
    st.sampled_from(list(FIXED)).flatmap(of_fixed_size),
    st.tuples(st.just(6), st.binary(max_size=30).map(sized)),
    st.tuples(st.just(7), texts.map(lambda text: sized(text.encode()))),
)
headers = st.dictionaries(names, values, max_size=5).map(
    lambda found: b"".join(header(name, kind, value) for name, (kind, value) in found.items())
)
payloads = st.binary(max_size=200) | st.text(max_size=30).map(lambda text: json.dumps({"p": text}).encode())
frames = st.builds(framed, headers, payloads)


def fed(data: bytes, sizes: list[int]) -> list[Frame]:
    """The frames of ``data``, fed in pieces of these sizes and then the rest."""
    stream = EventStream()
    ends = [*accumulate(sizes), len(data)]
    found = [found for start, end in pairwise([0, *ends]) for found in stream.feed(data[start:end])]
    return found + stream.close()


def judged(data: bytes) -> list[Any]:
    buffer = EventStreamBuffer()
    buffer.add_data(data)
    return list(buffer)


@given(st.lists(frames, max_size=6), st.lists(st.integers(0, 60), max_size=20))
def test_frames_are_read_as_botocore_reads_them_however_they_are_cut(frames_in: list[bytes], sizes: list[int]) -> None:
    data = b"".join(frames_in)
    theirs = judged(data)
    for ours in (fed(data, sizes), fed(data, []), fed(data, [1] * len(data))):
        assert len(ours) == len(theirs)
        for (name, payload), message in zip(ours, theirs, strict=True):
            assert payload == message.payload or not message.payload
            headers = {key: value for key, value in message.headers.items() if isinstance(value, str)}
            kind = headers.get(":message-type")
            if kind == "exception":
                assert name.decode() == f"exception:{headers.get(':exception-type', '')}"
            elif kind == "error":
                assert name.decode() == f"error:{headers.get(':error-code', '')}"
            else:
                assert name.decode() == headers.get(":event-type", "")


@given(headers)
def test_headers_of_every_type_are_read_as_botocore_reads_them(block: bytes) -> None:
    [message] = judged(framed(block, b""))
    assert strings(block) == {key: value for key, value in message.headers.items() if isinstance(value, str)}


@given(st.data())
def test_a_changed_bit_anywhere_is_found_by_both_and_earlier_frames_are_kept(data: st.DataObject) -> None:
    whole = data.draw(st.lists(frames, max_size=3))
    damaged = bytearray(data.draw(frames))
    damaged[data.draw(st.integers(0, len(damaged) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    stream, before, theirs = EventStream(), b"".join(whole), EventStreamBuffer()
    try:
        assert len(stream.feed(before + damaged)) == len(whole)
    except BrokenStream:
        assert not whole
    with pytest.raises(BrokenStream):
        stream.close()
    theirs.add_data(before + damaged)
    for _ in whole:
        next(theirs)
    with pytest.raises(ParserError):
        next(theirs)


def test_damage_is_raised_at_the_next_call_and_all_later_calls() -> None:
    stream = EventStream()
    assert stream.feed(frame("messageStart", b"{}") + b"\xff" * 20) == [(b"messageStart", b"{}")]
    for _ in range(2):
        with pytest.raises(BrokenStream, match="checksum"):
            stream.feed(frame("messageStop", b"{}"))
    with pytest.raises(BrokenStream, match="checksum"):
        stream.close()


@pytest.mark.parametrize("kept", [1, 11, 12, 40, -1])
def test_a_stream_that_ends_inside_a_frame_is_broken(kept: int) -> None:
    stream = EventStream()
    assert stream.feed(frame("messageStop", b'{"stopReason":"end_turn"}')[:kept]) == []
    with pytest.raises(BrokenStream, match="ends inside a frame"):
        stream.close()


@pytest.mark.parametrize(
    ("total", "length"), [(MAX_FRAME + 1, 0), (2**32 - 1, 0), (1 << 20, MAX_HEADERS + 1), (15, 0), (0, 0), (116, 101)]
)
def test_impossible_lengths_are_refused_before_buffering(total: int, length: int) -> None:
    lengths = struct.pack("!II", total, length)
    with pytest.raises(BrokenStream, match="bytes"):
        EventStream().feed(lengths + struct.pack("!I", crc32(lengths)))


@pytest.mark.parametrize(
    "block",
    [
        b"\x05:name",  # cut after the name
        b"\x01a\x07\x00\x09short",  # a string longer than what is there
        b"\x01a\x05\x00",  # half a number
        b"\x01a\x0a",  # a type that there is not
        b"\x01a\x07\x00\x01\xff",  # no UTF-8
        header("a", 7, sized(b"1")) * 2,  # twice
    ],
)
def test_headers_that_cannot_be_read_are_a_broken_stream(block: bytes) -> None:
    with pytest.raises(BrokenStream, match="header"):
        EventStream().feed(framed(block, b"{}"))


def test_any_buffer_of_bytes_may_be_fed() -> None:
    data = frame("messageStart", b"{}")
    assert EventStream().feed(bytearray(data)) == EventStream().feed(data)


def test_headers_are_not_collected_without_end() -> None:
    stream = EventStream()
    for number in range(1_000):
        assert stream.feed(frame(f"event{number}", b"1")) == [(f"event{number}".encode(), b"1")]
    assert len(stream._kinds) < 100


def seconds(data: bytes, size: int) -> float:
    """The time to read ``data`` in pieces of ``size``."""
    stream, pieces = EventStream(), [data[at : at + size] for at in range(0, len(data), size)]
    before = process_time()
    for piece in pieces:
        stream.feed(piece)
    stream.close()
    return process_time() - before


@pytest.mark.parametrize(
    ("data", "size"),
    [
        (frame("contentBlockDelta", b"x" * 1_000_000), 1),  # one byte at a time
        (frame("contentBlockDelta", b"x" * 32_000_000), 4_096),  # a large frame
        (frame("contentBlockDelta", b"x" * 100) * 100_000, 1 << 30),  # many frames at once
    ],
    ids=["bytes", "large", "many"],
)
def test_the_cost_of_a_byte_does_not_grow(data: bytes, size: int) -> None:
    """Each needs a fraction of a second; reading bytes repeatedly, or copying the rest, would need minutes."""
    assert seconds(data, size) < 5
