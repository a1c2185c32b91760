"""Large files of Claude Code: work and memory grow with the file, and a progress bar shows how far it is."""

import json
import re
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st
from support.terminals import on_terminal

from bench.claude_code_file import write_file
from segue import transcripts
from segue.cli import found_transcripts
from segue.transcripts.reading import in_tags


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of 2 MB."""
    return write_file(tmp_path_factory.mktemp("large") / "large.jsonl", 2_000_000)


def calls_of_reading(path: Path) -> int:
    """How many functions are called to read a file."""
    count = 0

    def profile(frame: Any, event: str, arg: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(profile)
    try:
        transcripts.read(path)
    finally:
        sys.setprofile(None)
    return count


def test_work_grows_with_the_file(large: Path, tmp_path: Path) -> None:
    """Each turn has a row of a hook that is on no path: walking from each of them to the root is quadratic."""
    small = write_file(tmp_path / "small.jsonl", 200_000)
    transcripts.read(small)
    size = large.stat().st_size / small.stat().st_size
    assert calls_of_reading(large) < 1.2 * size * calls_of_reading(small)


def test_work_grows_with_the_file_if_all_rows_before_are_missing(tmp_path: Path) -> None:
    path = write_file(tmp_path / "all.jsonl", 400_000)
    rows = path.read_bytes().splitlines(keepends=True)
    few, many = tmp_path / "few.jsonl", tmp_path / "many.jsonl"
    few.write_bytes(b"".join(row.replace(b'parentUuid":"5', b'parentUuid":"x') for row in rows[:40]))
    many.write_bytes(b"".join(row.replace(b'parentUuid":"5', b'parentUuid":"x') for row in rows[:200]))
    assert len(transcripts.read(many).messages) == 100
    assert calls_of_reading(many) < 1.4 * 5 * calls_of_reading(few)


def test_rows_are_dropped_while_the_conversation_grows(large: Path) -> None:
    """The peak is at most twice the conversation; without the rows of the file, which are larger than that."""
    transcripts.read(large)
    tracemalloc.start()
    try:
        log = transcripts.read(large).log
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(log) > 500
    assert peak < 2 * kept


def test_unusual_rows_are_read_like_usual_ones(large: Path, tmp_path: Path) -> None:
    """A field of another type than usual makes a row unusual, which takes the slower road to the same messages."""
    rows = large.read_bytes().splitlines(keepends=True)[:40]
    usual, unusual = tmp_path / "usual.jsonl", tmp_path / "unusual.jsonl"
    usual.write_bytes(b"".join(rows))
    changed = [
        row.replace(b'"input_tokens":3', b'"input_tokens":3.0').replace(b'"is_error":false', b'"is_error":0')
        for row in rows
    ]
    assert changed != rows
    unusual.write_bytes(b"".join(changed))
    assert transcripts.read(unusual).log == transcripts.read(usual).log


def test_a_large_file_is_read_with_a_progress_bar(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(found_transcripts, "LARGE", 1000)
    monkeypatch.setattr("segue.transcripts.source._STEP", 100_000)
    status, shown = on_terminal("transfer", str(large), "codex", "--dry-run", "--cwd", "/home/ada/tern")
    assert status == 0 and "━" in shown and "100%" in shown
    monkeypatch.setattr(found_transcripts, "LARGE", 1 << 30)
    status, shown = on_terminal("transfer", str(large), "codex", "--dry-run", "--cwd", "/home/ada/tern")
    assert status == 0 and "━" not in shown


PIECES = st.lists(st.sampled_from(["<a>", "</a>", " ", "\n", "x", "<", "<b>"]), max_size=12).map("".join)


@given(PIECES)
def test_tags_are_found_as_an_expression_finds_them(text: str) -> None:
    assert in_tags(text, "a") == re.split(r"<a>\s*(.*?)\s*</a>", text, flags=re.DOTALL)


@pytest.mark.parametrize("filler", [" ", "\n", "<tool_call>", "<tool_response>", "<user_query>", "</tool_call>", "{"])
@pytest.mark.parametrize("tag", ["tool_call", "tool_response", "user_query"])
def test_a_tag_that_is_never_closed_is_read_at_once(tag: str, filler: str, tmp_path: Path) -> None:
    """Expressions that look for its end take days for this."""
    said = f"<{tag}>" + filler * 200_000
    rows = {
        "sharegpt": [{"conversations": [{"from": "human", "value": said}, {"from": "gpt", "value": said},
                                        {"from": "tool", "value": said}, {"from": "gpt", "value": "x"}]}],
        "cursor": [{"role": role, "message": {"content": [{"type": "text", "text": said}]}}
                   for role in ("user", "assistant")],
    }  # fmt: skip
    for tool, lines in rows.items():
        path = tmp_path / f"{tool}.jsonl"
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        found = transcripts.read(path)
        assert found.tool == tool and found.messages
