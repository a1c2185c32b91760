"""Documents with arbitrary values in any place are read, or refused with a one-line error of segue."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st
from support.hostile import mutants

import segue
from segue.types.jsonl import read_conversations, read_jsonl

SAMPLE: Any = json.loads((Path(__file__).parent / "sample.json").read_text())
TEXTS = [json.dumps(document) for document in mutants([SAMPLE])]
MESSAGES = [json.dumps(message) for message in mutants(SAMPLE["messages"])]


def read(data: bytes | str) -> segue.Context | None:
    try:
        return segue.Context.from_json(data)
    except segue.FormatError as error:
        assert_one_line(error)
        return None


def assert_one_line(error: segue.FormatError) -> None:
    assert str(error) and len(str(error).splitlines()) == 1


def test_a_conversation_with_arbitrary_values_is_read_or_refused() -> None:
    for text in TEXTS:
        for data in (text, text.encode()):
            context = read(data)
            if context is not None:
                assert read(context.to_json()) == context


def test_a_file_of_messages_with_arbitrary_values_reports_each_bad_line() -> None:
    lines = [f"{message}\n".encode() for message in MESSAGES]
    found = list(read_jsonl(lines, "file.jsonl"))
    assert len(found) == len(lines)
    for line in found:
        if isinstance(line.value, segue.FormatError):
            assert_one_line(line.value)


@pytest.mark.parametrize("texts", [TEXTS, MESSAGES], ids=["conversations", "messages"])
def test_a_file_with_arbitrary_lines_is_read(texts: list[str]) -> None:
    for step in range(0, len(texts), 40):
        for found in read_conversations([f"{text}\n".encode() for text in texts[step : step + 40]], "file"):
            assert isinstance(found, segue.Context | segue.FormatError)


@pytest.mark.parametrize(
    "data",
    [b"", b"\xff", b"[" * 100_000, b'{"messages":' * 100_000, b"1e999", b"9" * 5000, b"NaN", b"\x00", b'"\\ud83d"'],
)
def test_bytes_that_are_not_a_conversation_are_refused(data: bytes) -> None:
    assert read(data) is None
    assert all(isinstance(line.value, segue.FormatError) for line in read_jsonl([data]))
    assert all(isinstance(found, segue.FormatError) for found in read_conversations([data]))


@given(data=st.binary(max_size=60), at=st.integers(0, 2000), size=st.integers(0, 40))
def test_damaged_bytes_are_read_or_refused(data: bytes, at: int, size: int) -> None:
    document = json.dumps(SAMPLE).encode()
    damaged = document[:at] + data + document[at + size :]
    read(damaged)
    list(read_jsonl(damaged.splitlines(keepends=True)))
    list(read_conversations(damaged.splitlines(keepends=True)))


@given(text=st.text(st.characters(), max_size=40), window=st.integers() | st.none())
def test_overflow_is_decided_for_any_text_and_any_window(text: str, window: int | None) -> None:
    message = segue.AssistantMessage(
        content=[], protocol="p", provider="cerebras", model="m", stop_reason="error", error_message=text
    )
    assert segue.is_context_overflow(message, window) in (True, False)
