"""The value of a tool becomes text and images within the limits; a long text is cut in the middle and saved."""

import base64
import datetime
import os
import re
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import psutil
import pytest
from hypothesis import given, strategies as st
from support.batches import ran

import segue
from segue.tools import Scheduler, ToolLimits, output_files
from segue.tools.output import OutputBuilder, ToolOutput
from segue.types import ImageContent, TextContent, ToolResultContent, ToolResultMessage
from segue.types.text import scrub

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
PICTURE = ImageContent(base64.b64encode(PNG).decode(), "image/png")


class Odd:
    def __str__(self) -> str:
        return "an odd thing"


class Mute:
    def __str__(self) -> str:
        raise RuntimeError("no")

    __repr__ = __str__


LOOP: list[Any] = []
LOOP.append(LOOP)

TEXTS: list[tuple[Any, str]] = [
    ("plain", "plain"),
    ("", "(no output)"),
    (None, "(no output)"),
    ([], "[]"),
    ({}, "{}"),
    (3, "3"),
    (True, "true"),
    ({"a": [1, None]}, '{"a":[1,null]}'),
    ([1, "x"], '[1,"x"]'),
    (["a", "b"], '["a","b"]'),
    (datetime.date(2026, 1, 2), '"2026-01-02"'),
    (Odd(), "an odd thing"),
    ({"odd": Odd()}, '{"odd":"an odd thing"}'),
    (Mute(), "(a value of type Mute that cannot be written)"),
    (LOOP, "[[...]]"),
    ("half \ud83d an emoji", "half \ufffd an emoji"),
    ({"half": "\ud83d"}, '{"half":"\ufffd"}'),
    (float("nan"), "null"),
    (TextContent("block"), "block"),
    ([TextContent("one"), "two"], "one|two"),
    (ToolResultMessage("x", "y", [TextContent("mine")]), "mine"),
    (ToolResultMessage("x", "y", []), "(no output)"),
]


@pytest.fixture
def limits(tmp_path: Path) -> ToolLimits:
    return ToolLimits(output=1000, images=1000, directory=str(tmp_path / "kept"))


def texts(found: ToolOutput) -> list[str]:
    return [block.text for block in found.content if isinstance(block, TextContent)]


@pytest.mark.parametrize(("value", "text"), TEXTS)
def test_each_value_has_its_text(value: Any, text: str, limits: ToolLimits) -> None:
    found = OutputBuilder(limits).from_value(value)
    assert "|".join(texts(found)) == text and not found.is_error
    segue.Context(messages=[ToolResultMessage("x", "y", found.content)]).to_json()


def test_a_result_of_a_tool_keeps_its_flag(limits: ToolLimits) -> None:
    assert OutputBuilder(limits).from_value(ToolResultMessage("", "", [TextContent("bad")], is_error=True)).is_error


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (PNG, "png"),
        (b"GIF89a...", "gif"),
        (b"\xff\xd8\xff\xe0", "jpeg"),
        (b"RIFF....WEBPVP8 ", "webp"),
    ],
)
@pytest.mark.parametrize("form", [bytes, bytearray, memoryview, lambda data: [data], lambda data: ("see", data)])
def test_bytes_of_an_image_become_an_image(data: bytes, kind: str, form: Any, limits: ToolLimits) -> None:
    block = OutputBuilder(limits).from_value(form(data)).content[-1]
    assert block == ImageContent(base64.b64encode(data).decode(), f"image/{kind}")


def test_other_bytes_are_saved_to_a_file(limits: ToolLimits) -> None:
    data = bytes(range(256)) * 4
    [text] = texts(OutputBuilder(limits).from_value(data))
    match = re.fullmatch(r"\(binary, 1024 bytes, kept in (.+)\)", text)
    assert match is not None and Path(match[1]).read_bytes() == data


def test_an_image_that_is_too_large_is_saved_and_others_stay(limits: ToolLimits) -> None:
    large = PNG + bytes(2000)
    found = OutputBuilder(limits).from_value([PNG, large, "between", PNG])
    assert [type(block) for block in found.content] == [ImageContent, TextContent, TextContent, ImageContent]
    match = re.fullmatch(r"\(an image, 2028 bytes: too large to show, kept in (.+\.png)\)", texts(found)[0])
    assert match is not None and Path(match[1]).read_bytes() == large


def test_an_image_without_base64_is_described_instead(limits: ToolLimits) -> None:
    found = OutputBuilder(limits).from_value([ImageContent("no base64!", "image/png"), ImageContent("", "image/png")])
    assert texts(found) == ["(an image whose data is not base64)"] * 2


def test_a_long_text_is_cut_in_the_middle_and_the_note_names_the_file(limits: ToolLimits) -> None:
    whole = "".join(f"line {number}\n" for number in range(1000))
    [text] = texts(OutputBuilder(limits).from_value(whole))
    match = re.search(
        r"\n\n\[… ([\d,]+) of ([\d,]+) characters are left out here; the whole is kept in (.+?) …\]\n\n", text
    )
    assert match is not None and len(text) <= limits.output
    head, tail = text[: match.start()], text[match.end() :]
    assert whole.startswith(head) and whole.endswith(tail) and abs(len(head) - len(tail)) <= 1
    assert int(match[2].replace(",", "")) == len(whole)
    assert int(match[1].replace(",", "")) == len(whole) - len(head) - len(tail)
    assert Path(match[3]).read_text() == whole


def test_errors_and_notes_have_the_same_limit(limits: ToolLimits) -> None:
    long = "x" * 5000
    for found in (
        OutputBuilder(limits).from_error(ValueError(long)),
        OutputBuilder(limits).from_text(long),
        OutputBuilder(limits, long).from_text(long),
        OutputBuilder(limits, long).from_value(""),
    ):
        assert sum(map(len, texts(found))) <= limits.output


def test_the_same_output_is_saved_once_under_the_same_name(limits: ToolLimits) -> None:
    first, second = OutputBuilder(limits).from_value("y" * 5000), OutputBuilder(limits).from_value("y" * 5000)
    assert first == second and limits.directory is not None
    assert len(os.listdir(limits.directory)) == 1


@given(
    st.lists(st.text(max_size=60) | st.just(PICTURE), max_size=8),
    st.integers(0, 300),
)
def test_cutting_keeps_the_limit_and_the_images_and_adds_nothing(parts: list[Any], most: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        limits = ToolLimits(output=most, directory=folder)
        blocks: list[ToolResultContent] = [TextContent(part) if isinstance(part, str) else part for part in parts]
        found = OutputBuilder(limits).from_value(ToolResultMessage("", "", blocks))
        part_texts = [part for part in parts if isinstance(part, str)]
        whole = "".join(map(scrub, part_texts))
        assert sum(isinstance(block, ImageContent) for block in found.content) == parts.count(PICTURE)
        shown = "".join(texts(found))
        if sum(map(len, part_texts)) <= most:
            assert shown == (whole or ("" if PICTURE in parts else "(no output)"))
            return
        [kept] = os.listdir(folder)
        assert Path(folder, kept).read_bytes().decode() == "\n".join(part_texts)
        head, _, tail = re.split(r"(\n\n\[… .* …\]\n\n)", shown, maxsplit=1)
        assert whole.startswith(head) and whole.endswith(tail)
        assert len(head) + len(tail) <= most and (len(shown) <= most or not head + tail)


def test_a_file_that_cannot_be_written_is_reported_and_nothing_is_raised(tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.write_text("a file")
    limits = ToolLimits(output=1000, directory=str(taken))
    assert "not kept: " in texts(OutputBuilder(limits).from_value("x" * 5000))[0]
    assert "not kept: " in texts(OutputBuilder(limits).from_value(b"\0"))[0]


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    output_files._process_folder.cache_clear()
    yield tmp_path
    output_files._process_folder.cache_clear()


def test_the_default_folder_is_private_to_the_user(temporary: Path) -> None:
    folder = output_files.output_folder(ToolLimits())
    assert folder.parent == temporary and folder.name.startswith("segue-outputs")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    kept = output_files.save([b"x"], ".txt", ToolLimits())
    assert kept.parent == folder and stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert output_files.output_folder(ToolLimits()) == folder


@pytest.mark.parametrize("trap", ["link", "open to all", "a file"])
def test_a_folder_that_another_user_may_have_created_is_not_used(trap: str, temporary: Path) -> None:
    name = temporary / f"segue-outputs-{os.getuid()}"
    elsewhere = temporary / "elsewhere"
    elsewhere.mkdir()
    if trap == "link":
        name.symlink_to(elsewhere)
    elif trap == "open to all":
        name.mkdir()
        name.chmod(0o777)
    else:
        name.write_text("")
    kept = output_files.save([b"secret"], ".txt", ToolLimits())
    assert kept.parent not in (name, elsewhere) and not list(elsewhere.iterdir())
    assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700


def test_a_very_long_output_is_not_copied_as_a_whole(limits: ToolLimits) -> None:
    import tracemalloc

    flood = "é" * 20_000_000
    tracemalloc.start()
    try:
        OutputBuilder(limits).from_value(flood)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8_000_000


def test_an_output_survives_json(limits: ToolLimits) -> None:
    found = OutputBuilder(limits).from_value([PNG, "text"])
    assert msgspec.json.decode(msgspec.json.encode(found), type=ToolOutput) == found


def test_an_output_of_100_megabytes_becomes_a_short_result_and_its_memory_is_freed(tmp_path: Path) -> None:
    def flood(of: str) -> str:
        return of * 100_000_000

    async def flood_async(of: str) -> dict[str, str]:
        return {"text": of * 100_000_000}

    limits = ToolLimits(directory=str(tmp_path), parallel=1)
    before = psutil.Process().memory_info().rss
    for name, of in (("flood", "x"), ("flood_async", "y")):
        [text] = ran(Scheduler([flood, flood_async], limits=limits), (name, {"of": of})).texts
        assert len(text) <= limits.output and f"the whole is kept in {tmp_path}" in text
    assert psutil.Process().memory_info().rss - before < 50_000_000
    assert sorted(kept.stat().st_size for kept in tmp_path.iterdir()) == [100_000_000, 100_000_011]
