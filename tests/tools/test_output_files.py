"""Whole outputs are kept with limits for age and size; they are private, and foreign files are not touched."""

import math
import os
import sys
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace

from segue.errors import SettingError
from segue.tools import ToolLimits
from segue.tools.output_files import prune, save

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
def test_pruning_leaves_only_new_files_within_the_size(
    tmp_path_factory: pytest.TempPathFactory, files: list[tuple[int, int]], seconds: float, most: float
) -> None:
    """The newest files are left: a deleted file is too old, or older than all that are left."""
    folder = tmp_path_factory.mktemp("kept")
    ages = {put(folder, f"{at:016x}.txt", age, size): (age, size) for at, (age, size) in enumerate(files)}
    prune(folder, ToolLimits(kept_seconds=seconds, kept_bytes=most), NOW)
    left = [ages[file] for file in folder.iterdir()]
    gone = [ages[file] for file in ages if not file.exists()]
    assert all(age <= seconds for age, _ in left) and sum(size for _, size in left) <= most
    for age, size in gone:
        newer = sum(other for when, other in ages.values() if when <= age)
        assert age > seconds or newer > most, (age, size)


def test_saving_prunes_but_spares_the_new_file(tmp_path: Path) -> None:
    limits = ToolLimits(directory=str(tmp_path), kept_bytes=25)
    kept = [save([bytes([65 + at]) * 20], ".txt", limits) for at in range(3)]
    assert [file.exists() for file in kept] == [False, False, True]
    large = save([b"y" * 100], ".bin", limits)
    assert large.exists() and not kept[2].exists(), "a file that a result names exists, however large it is"


def test_saving_the_same_output_again_renews_it(tmp_path: Path) -> None:
    limits = ToolLimits(directory=str(tmp_path), kept_seconds=10**6)
    kept = save([b"again"], ".txt", limits)
    os.utime(kept, (NOW, 1))
    assert save([b"again"], ".txt", limits) == kept and kept.exists()
    prune(tmp_path, limits, kept.stat().st_mtime)
    assert kept.exists()


def test_foreign_files_are_left_alone_and_unfinished_ones_are_deleted(tmp_path: Path) -> None:
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
def test_an_output_is_private_to_its_owner(tmp_path: Path) -> None:
    kept = save([b"secret"], ".txt", ToolLimits(directory=str(tmp_path / "new")))
    assert kept.stat().st_mode & 0o777 == 0o600 and kept.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("setting", [{"kept_seconds": -1}, {"kept_bytes": -1}, {"kept_seconds": math.nan}])
def test_invalid_limits_are_refused(setting: dict[str, float]) -> None:
    with pytest.raises(SettingError, match="the limit kept_"):
        replace(ToolLimits(), **setting)
