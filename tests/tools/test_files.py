"""The tools for files: their results, and that they ask before they change anything."""

import asyncio
import base64
import glob
import os
import re
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace
from support.calls import children, results_of, text_of
from support.waiting import HANGS, until

from segue.tools import Deny, Tool, ToolLimits, file_tools
from segue.tools.files import Files
from segue.tools.patterns import matches, split_pattern
from segue.tools.rooted_files import root_at
from segue.types import ImageContent

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def without_timeouts(root: Path) -> list[Tool]:
    """The tools, with timeouts that are never reached."""
    return [replace(tool, timeout=HANGS) for tool in file_tools(root)]


def call(root: Path, name: str, **arguments: Any) -> str:
    """The text of a result that is not an error."""
    [result] = asyncio.run(results_of(without_timeouts(root), (name, arguments)))
    assert not result.is_error, text_of(result)
    return text_of(result)


def fault(root: Path, name: str, **arguments: Any) -> str:
    """The text of a result that is an error."""
    [result] = asyncio.run(results_of(without_timeouts(root), (name, arguments)))
    assert result.is_error, text_of(result)
    return text_of(result)


def test_a_file_is_written_read_edited_listed_and_searched(tmp_path: Path) -> None:
    batch = [
        ("write_file", {"path": "src/a.py", "content": "one\ntwo\n"}),
        ("read_file", {"path": "src/a.py"}),
        ("edit_file", {"path": "src/a.py", "old": "two", "new": "2"}),
        ("list_files", {"path": "src"}),
        ("search_files", {"pattern": r"^\d$"}),
    ]
    texts = [text_of(result) for result in asyncio.run(results_of(file_tools(tmp_path), *batch))]
    assert texts == ["made src/a.py (8 bytes)", "one\ntwo\n", "edited src/a.py (1 place)", "src/a.py", "src/a.py:2: 2"]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("write_file", {"path": "a", "content": "new"}), ("edit_file", {"path": "a", "old": "old", "new": "new"})],
)
def test_nothing_is_changed_without_approval(tmp_path: Path, name: str, arguments: dict[str, Any]) -> None:
    (tmp_path / "a").write_text("old")
    for approve in (None, lambda request: Deny("not now")):
        [result] = asyncio.run(results_of(file_tools(tmp_path), (name, arguments), approve=approve))
        assert result.is_error
    assert (tmp_path / "a").read_text() == "old"


@pytest.mark.parametrize("path", ["../secret", "/etc/passwd", "out/secret", "out"])
def test_no_tool_leaves_the_root(tmp_path: Path, path: str) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "root" / "out").symlink_to(tmp_path)
    batch: list[tuple[str, dict[str, Any]]] = [
        ("read_file", {"path": path}),
        ("write_file", {"path": path, "content": "x"}),
        ("edit_file", {"path": path, "old": "secret", "new": "x"}),
        ("list_files", {"path": path}),
        ("search_files", {"path": path, "pattern": "secret"}),
    ]
    results = asyncio.run(results_of(file_tools(tmp_path / "root"), *batch))
    assert all(result.is_error and "outside the root" in text_of(result) for result in results)
    assert (tmp_path / "secret").read_text() == "secret"


def test_files_behind_a_link_that_leads_out_are_not_listed_or_searched(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "root" / "out").symlink_to(tmp_path)
    (tmp_path / "root" / "one").symlink_to(tmp_path / "secret")
    assert call(tmp_path / "root", "list_files", pattern="**") == "one (link)\nout (link)"
    assert call(tmp_path / "root", "search_files", pattern="secret") == "(nothing found)"


# -- reading -----------------------------------------------------------------------------------------------------------


@given(st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20), max_size=30), st.integers(1, 9))
def test_the_pages_of_a_file_are_the_file(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], size: int
) -> None:
    root = tmp_path_factory.mktemp("pages")
    text = "\n".join(lines)
    (root / "file").write_bytes(text.encode())
    files, read, first = Files(root_at(root)), "", 1
    while True:
        page = files.read_file("file", first, size)
        assert isinstance(page, str)
        more = re.search(r"\[lines \d+ to \d+; there are more: go on with first_line (\d+)\]\Z", page)
        read += page[: more.start()] if more else page
        if not more:
            break
        first = int(more[1])
    assert read.removeprefix("\ufeff") == (text.removeprefix("\ufeff") or "(the file is empty)")


def test_a_long_file_comes_in_pages_that_are_never_cut(tmp_path: Path) -> None:
    """Every page is shorter than the limit of the scheduler."""
    (tmp_path / "long").write_text("".join(f"line {number}\n" for number in range(1, 20_001)))
    first = call(tmp_path, "read_file", path="long", lines=20_000)
    assert len(first) < 50_000 and "left out" not in first
    more = re.search(r"go on with first_line (\d+)\]$", first)
    assert more is not None
    assert call(tmp_path, "read_file", path="long", first_line=int(more[1])).startswith(f"line {more[1]}\n")


def test_a_very_long_line_is_read_in_bounded_memory(tmp_path: Path) -> None:
    (tmp_path / "line").write_bytes("ä".encode() * 4096 + b"x" * 50_000_000)
    files = Files(root_at(tmp_path))
    tracemalloc.start()
    try:
        page = files.read_file("line")
        after = files.read_file("line", first_line=1, lines=1)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert page == after and isinstance(page, str) and "longer than" in page
    assert peak < 5_000_000


def test_a_page_after_the_end_reports_the_length_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "short").write_text("a\nb")
    assert "has only 2 lines" in fault(tmp_path, "read_file", path="short", first_line=9)
    assert "must be at least 1" in fault(tmp_path, "read_file", path="short", first_line=0)


def test_an_image_is_returned_and_other_binary_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "image").write_bytes(PIXEL)
    (tmp_path / "binary").write_bytes(b"\0\1\2")
    results = asyncio.run(
        results_of(file_tools(tmp_path), ("read_file", {"path": "image"}), ("read_file", {"path": "binary"}))
    )
    assert results[0].content == [ImageContent(base64.b64encode(PIXEL).decode(), "image/png")]
    assert results[1].is_error and "is binary (3 bytes)" in text_of(results[1])


def test_a_missing_path_is_reported_as_missing(tmp_path: Path) -> None:
    (tmp_path / "dir").mkdir()
    assert "there is no file no" in fault(tmp_path, "read_file", path="no")
    assert "there is no no" in fault(tmp_path, "list_files", path="no")
    assert "there is no no" in fault(tmp_path, "search_files", path="no", pattern="x")
    assert "is a directory" in fault(tmp_path, "read_file", path="dir")


# -- changing ----------------------------------------------------------------------------------------------------------


def test_an_edit_needs_a_text_that_occurs_once(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x y x")
    assert "occurs 2 times" in fault(tmp_path, "edit_file", path="a", old="x", new="z")
    assert "is not in a" in fault(tmp_path, "edit_file", path="a", old="q", new="z")
    assert "old is empty" in fault(tmp_path, "edit_file", path="a", old="", new="z")
    assert (tmp_path / "a").read_text() == "x y x"
    assert "2 places" in call(tmp_path, "edit_file", path="a", old="x", new="z", everywhere=True)
    assert (tmp_path / "a").read_text() == "z y z"


def test_an_edit_keeps_line_ends_and_invalid_bytes(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xff\xfe one\r\ntwo\r\nthree\r\n")
    call(tmp_path, "edit_file", path="a", old="one\ntwo", new="1\n2")
    assert (tmp_path / "a").read_bytes() == b"\xff\xfe 1\r\n2\r\nthree\r\n"


def test_edits_at_the_same_time_are_all_made(tmp_path: Path) -> None:
    """Two agents with the same root have two schedulers."""
    (tmp_path / "a").write_text("".join(f"<{number}>" for number in range(60)))
    files = [Files(root_at(tmp_path)) for _ in range(2)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: files[number % 2].edit_file("a", f"<{number}>", "."), range(60)))
    assert (tmp_path / "a").read_text() == "." * 60


def test_a_lone_surrogate_is_replaced_when_it_is_written(tmp_path: Path) -> None:
    call(tmp_path, "write_file", path="a", content="a\ud83d b")
    assert (tmp_path / "a").read_text() == "a\ufffd b"


# -- finding -----------------------------------------------------------------------------------------------------------

TREE = ["a.py", "b.txt", "src/a.py", "src/deep/c.py", "src/deep/er/d.py", "src/x/e.txt", "doc/.hid.py", "[x]/q?.py"]


@pytest.mark.parametrize(
    "pattern",
    ["*", "*.py", "**/*.py", "src/*", "src/**", "**/deep/**/*.py", "s*/*/?.py", "**", "*/*", "[ab].*", "**/**"],
)
def test_patterns_match_like_glob(tmp_path: Path, pattern: str) -> None:
    for name in TREE:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    expected = glob.glob(pattern, root_dir=tmp_path, recursive=True, include_hidden=True)
    listed = call(tmp_path, "list_files", pattern=pattern).split("\n")
    assert sorted(name.rstrip("/") for name in listed) == sorted({name.rstrip("/") for name in expected} - {""})


def test_a_pattern_of_many_stars_is_matched_quickly(tmp_path: Path) -> None:
    """Trying every way to match it would take for ever."""
    assert not matches(["a"] * 200, split_pattern("/".join(["**", "*"] * 90 + ["b"])))
    assert matches(["a"] * 200, split_pattern("/".join(["**", "*"] * 90)))


def test_skipped_folders_are_searched_only_when_they_are_named(tmp_path: Path) -> None:
    for name in ("node_modules/a/x.js", ".git/x.js", "x.js"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("here")
    assert call(tmp_path, "search_files", pattern="here") == "x.js:1: here"
    assert call(tmp_path, "list_files", pattern="**/*.js") == "x.js"
    assert call(tmp_path, "list_files", path="node_modules", pattern="**/*.js") == "node_modules/a/x.js"


def test_long_lists_are_cut_with_a_note(tmp_path: Path) -> None:
    for number in range(1001):
        (tmp_path / f"{number:04}").touch()
    listed = call(tmp_path, "list_files").split("\n")
    assert len(listed) == 1001 and "more than 1000" in listed[-1]
    (tmp_path / "many").write_text("x\n" * 201)
    found = call(tmp_path, "search_files", pattern="x").split("\n")
    assert len(found) == 201 and "more than 200" in found[-1]


def test_a_search_finds_lines_in_text_files_that_match_the_pattern(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("Needle\n" + "x" * 1000 + "needle" + "y" * 1000)
    (tmp_path / "a.txt").write_text("needle")
    (tmp_path / "binary.py").write_bytes(b"\0needle")
    assert call(tmp_path, "search_files", pattern="needle", files="*.txt") == "a.txt:1: needle"
    found = call(tmp_path, "search_files", pattern="needle", files="src/**", ignore_case=True).split("\n")
    assert found[0] == "src/a.py:1: Needle"
    assert found[1].startswith("src/a.py:2: …") and "needle" in found[1] and len(found[1]) < 350
    assert call(tmp_path, "search_files", pattern="needle", path="a.txt") == "a.txt:1: needle"
    assert "no regular expression" in fault(tmp_path, "search_files", pattern="(")


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs a list of processes")
def test_an_endless_search_is_stopped(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a" * 60 + "!")
    before = children()
    tools = [replace(tool, timeout=1.5) for tool in file_tools(tmp_path)]
    limits = ToolLimits(grace=HANGS)
    [result] = asyncio.run(results_of(tools, ("search_files", {"pattern": "(a+)+$"}), limits=limits))
    assert result.is_error and "1.5" in text_of(result)
    until(lambda: children() <= before)
