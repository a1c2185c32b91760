"""JSONL: a file has values of one kind, bad lines are reported with their numbers, files are read line by line."""

import io
import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import given, strategies as st
from support import values

from segue.errors import FormatError
from segue.types import Context, Message, UserMessage, read_conversations, read_jsonl, write_jsonl

HI = b'{"role":"user","content":"hi"}\n'
TALK = b'{"messages":[{"role":"user","content":"hi"}]}\n'


@given(st.lists(values.messages, min_size=1) | st.lists(values.contexts, min_size=1))
def test_what_is_written_reads_back(items: list[Message] | list[Context]) -> None:
    file = io.BytesIO()
    write_jsonl(items, file)
    file.seek(0)
    assert [line.value for line in read_jsonl(file)] == items


def test_a_bad_line_is_reported_with_its_number_and_the_others_are_read() -> None:
    lines = [HI, b'{"role":"bot"}\n', b"\n", HI, b"{oops\n", b'{"role":"user","content":"\xff"}\n']
    found = list(read_jsonl(lines, "talk.jsonl"))
    assert [line.number for line in found] == [1, 2, 4, 5, 6]
    assert [str(line.value) for line in found if isinstance(line.value, FormatError)] == [
        "talk.jsonl:2: unknown role 'bot'; the roles are user, assistant and toolResult",
        "talk.jsonl:5: not JSON: object keys must be strings (byte 1)",
        "talk.jsonl:6: not UTF-8: byte 0xff at offset 26",
    ]
    assert [line.value for line in found if not isinstance(line.value, FormatError)] == [UserMessage("hi")] * 2


def test_a_file_holds_either_messages_or_conversations() -> None:
    assert str(list(read_jsonl([HI, TALK]))[1].value) == (
        "line 2: found a conversation, but the lines of this file are messages"
    )
    assert str(list(read_jsonl([TALK, HI]))[1].value) == (
        "line 2: found a message, but the lines of this file are conversations"
    )


def conversations(data: bytes) -> list[Context | FormatError]:
    return list(read_conversations(io.BytesIO(data), "f"))


def test_json_and_jsonl_are_distinguished() -> None:
    one = Context(messages=[UserMessage("hi")])
    pretty = b'{\n "messages":\n [{"role":"user","content":"hi"}]\n}\n'
    assert conversations(pretty) == [one]
    assert conversations(TALK) == [one]
    assert conversations(b"\n" + TALK + b"\n" + TALK) == [one, one]
    assert conversations(HI) == [one]
    assert conversations(HI + HI) == [Context(messages=[UserMessage("hi")] * 2)]


def test_a_bad_first_line_does_not_hide_the_good_ones() -> None:
    bad, good = conversations(b"{oops\n" + TALK)
    assert str(bad) == "f:1: not JSON: object keys must be strings (byte 1)"
    assert good == Context(messages=[UserMessage("hi")])


def test_many_bad_lines_do_not_hide_the_good_ones() -> None:
    *bad, good = conversations(b"{oops\n" * 5 + TALK)
    assert [str(item).partition(":")[2].partition(":")[0] for item in bad] == ["1", "2", "3", "4", "5"]
    assert good == Context(messages=[UserMessage("hi")])


def test_a_line_that_was_cut_off_does_not_hide_the_next_one() -> None:
    bad, good = conversations(TALK[:20] + b"\n" + TALK)
    assert str(bad) == "f:1: not JSON: the text ends in the middle of a value"
    assert good == Context(messages=[UserMessage("hi")])


def test_a_document_with_a_complete_message_on_a_line_is_one_document() -> None:
    document = b'{"messages":[\n {"role":"user","content":"hi"}\n]}\n'
    assert conversations(document) == [Context(messages=[UserMessage("hi")])]


def test_documents_of_other_tools_are_read_line_by_line_too() -> None:
    half = rb'{"role":"user","content":"\ud800"}' + b"\n"
    assert conversations(half + half) == [Context(messages=[UserMessage("\ufffd")] * 2)]
    assert conversations(b"\xef\xbb\xbf" + HI + HI) == [Context(messages=[UserMessage("hi")] * 2)]
    mixed = list(read_jsonl([TALK, half]))[1].value
    assert str(mixed) == "line 2: found a message, but the lines of this file are conversations"


def test_a_file_is_not_written_with_both_kinds() -> None:
    with pytest.raises(TypeError, match="messages or conversations, not both"):
        write_jsonl([UserMessage("hi"), Context(messages=[])], io.BytesIO())


def test_a_bad_document_is_reported_with_its_file() -> None:
    assert [str(item) for item in conversations(b'"hello"')] == ["f: expected a JSON object, found a string"]
    assert [str(item) for item in conversations(b"")] == ["f: not JSON: the text is empty"]


def test_a_file_of_100_megabytes_streams_line_by_line() -> None:
    line = b'{"messages":[{"role":"user","content":"' + b"x" * 100_000 + b'"}]}\n'

    def lines() -> Iterator[bytes]:
        for _ in range(1000):
            yield line

    tracemalloc.start()
    try:
        count = sum(isinstance(item.value, Context) for item in read_jsonl(lines()))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 1000
    assert peak < 5_000_000
