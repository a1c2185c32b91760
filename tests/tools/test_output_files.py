"""Whole outputs are kept for a while: bounded by age and by size, private, and nobody else's files are touched."""

import math
import os
import sys
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace

from segue.errors import SettingError
from segue.tools import ToolLimits
from segue.tools.output_files import keep, prune

NOW = 1_800_000_000.0


def put(folder: Path, name: str, age: float, size: int = 10) -> Path:
    file = folder / name
    file.write_bytes(b"x" * size)
    os.utime(file, (NOW - age, NOW - age))
    return file


@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 30)), max_size=8),
    st.sampled_from([0, 5, 10, math.inf]),
    st.sampled_from([0, 25, 60, math.inf]),
)
def test_what_is_left_is_neither_too_old_nor_too_much(
    tmp_path_factory: pytest.TempPathFactory, files: list[tuple[int, int]], seconds: float, most: float
) -> None:
    """And it is the newest that is left: what is deleted is older than all that stays, or too old."""
    folder = tmp_path_factory.mktemp("kept")
    ages = {put(folder, f"{at:016x}.txt", age, size): (age, size) for at, (age, size) in enumerate(files)}
    prune(folder, ToolLimits(kept_seconds=seconds, kept_bytes=most), NOW)
    left = [ages[file] for file in folder.iterdir()]
    gone = [ages[file] for file in ages if not file.exists()]
    assert all(age <= seconds for age, _ in left) and sum(size for _, size in left) <= most
    for age, size in gone:
        newer = sum(other for when, other in ages.values() if when <= age)
        assert age > seconds or newer > most, (age, size)


def test_keeping_prunes_and_spares_what_was_just_kept(tmp_path: Path) -> None:
    limits = ToolLimits(directory=str(tmp_path), kept_bytes=25)
    kept = [keep([bytes([65 + at]) * 20], ".txt", limits) for at in range(3)]
    assert [file.exists() for file in kept] == [False, False, True]
    large = keep([b"y" * 100], ".bin", limits)
    assert large.exists() and not kept[2].exists(), "what a result names is there, however large it is"


def test_the_same_output_once_more_is_a_new_one(tmp_path: Path) -> None:
    limits = ToolLimits(directory=str(tmp_path), kept_seconds=10**6)
    kept = keep([b"again"], ".txt", limits)
    os.utime(kept, (NOW, 1))
    assert keep([b"again"], ".txt", limits) == kept and kept.exists()
    prune(tmp_path, limits, kept.stat().st_mtime)
    assert kept.exists()


def test_files_of_others_are_left_alone_and_what_a_killed_process_left_is_not(tmp_path: Path) -> None:
    others = ["notes.txt", "0123456789abcdef", "0123456789abcdef.txt.bak", ".bashrc", "0123456789ABCDEF.txt"]
    for name in others:
        put(tmp_path, name, 10**9)
    unfinished, unfinished_now = put(tmp_path, f".{'0' * 32}", 10**9), put(tmp_path, f".{'1' * 32}", 60)
    folder = tmp_path / "0123456789abcdef.txt"
    folder.mkdir()
    (tmp_path / "fedcba9876543210.txt").symlink_to(tmp_path / "notes.txt")
    prune(tmp_path, ToolLimits(kept_seconds=1, kept_bytes=0), NOW)
    assert unfinished_now.exists(), "another process writes it"
    unfinished_now.unlink()
    assert {file.name for file in tmp_path.iterdir()} == {*others, folder.name, "fedcba9876543210.txt"}
    assert not unfinished.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_an_output_is_its_owners_alone(tmp_path: Path) -> None:
    kept = keep([b"secret"], ".txt", ToolLimits(directory=str(tmp_path / "new")))
    assert kept.stat().st_mode & 0o777 == 0o600 and kept.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("setting", [{"kept_seconds": -1}, {"kept_bytes": -1}, {"kept_seconds": math.nan}])
def test_limits_that_make_no_sense_are_refused(setting: dict[str, float]) -> None:
    with pytest.raises(SettingError, match="the limit kept_"):
        replace(ToolLimits(), **setting)
