"""No path leads out of a root: not by links, and not by a link that is swapped in while the path is walked."""

import os
import shutil
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from segue import SettingError
from segue.tools.rooted_files import Root, root_at

SECRET = b"secret"
NAMES = ["..", ".", "", "dir", "file", "deep", "new", "up", "out", "in", "abs", "loop", "self", "dangling", "outside"]


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Root]:
    """A root full of links, and secret files next to it."""
    top = tmp_path_factory.mktemp("places").resolve()
    root, outside = top / "root", top / "outside"
    (root / "dir" / "deep").mkdir(parents=True)
    outside.mkdir()
    for secret in (outside / "file", outside / "dir", top / "file"):
        secret.write_bytes(SECRET)
    for file in (root / "file", root / "dir" / "file", root / "dir" / "deep" / "file"):
        file.write_bytes(b"inside")
    for folder in (root, root / "dir", root / "dir" / "deep"):
        (folder / "up").symlink_to("..")
        (folder / "out").symlink_to(outside)
        (folder / "in").symlink_to(root / "dir")
        (folder / "abs").symlink_to("/")
        (folder / "loop").symlink_to("loop")
        (folder / "self").symlink_to(".")
        (folder / "dangling").symlink_to(outside / "not-there")
    return top, root_at(root)


def outside_of(top: Path) -> dict[str, bytes | None]:
    """Everything next to the root, with its content."""
    beside = [path for path in top.rglob("*") if top / "root" not in [path, *path.parents]]
    return {str(path): path.read_bytes() if path.is_file() else None for path in beside}


@st.composite
def paths(draw: st.DrawFn) -> str:
    begin = draw(st.sampled_from(["", "", "/", "{root}/", "{root}/../", "{top}/outside/", "//", "{root}x/"]))
    return begin + "/".join(draw(st.lists(st.sampled_from(NAMES), max_size=8)))


@given(paths())
def test_any_path_that_can_be_read_is_a_file_of_the_root(places: tuple[Path, Root], path: str) -> None:
    top, root = places
    path = path.replace("{root}", root.path).replace("{top}", str(top))
    try:
        with root.open(path) as file:
            assert file.read() != SECRET
    except OSError:
        return
    assert (top / "root") in Path(os.path.realpath(os.path.join(root.path, path))).parents


@given(paths())
def test_writing_to_any_path_changes_nothing_outside(places: tuple[Path, Root], path: str) -> None:
    top, root = places
    before = outside_of(top)
    path = path.replace("{root}", root.path).replace("{top}", str(top))
    try:
        root.write(path, b"written")
    except OSError:
        pass
    else:
        with root.open(path) as file:
            assert file.read() == b"written"
    assert outside_of(top) == before
    assert not list(top.rglob(".segue-*"))


@given(paths())
def test_any_path_that_can_be_listed_is_a_directory_of_the_root(places: tuple[Path, Root], path: str) -> None:
    top, root = places
    path = path.replace("{root}", root.path).replace("{top}", str(top))
    try:
        names = {entry.name for entry in root.entries(path)}
    except OSError:
        return
    there = Path(os.path.realpath(os.path.join(root.path, path)))
    assert top / "root" in [there, *there.parents]
    assert names == set(os.listdir(there))


@pytest.mark.parametrize(
    "path", ["..", "../outside/file", "/etc/passwd", "dir/../../file", "out/file", "abs/etc", "//"]
)
def test_a_path_that_leads_out_is_refused_with_the_reason(places: tuple[Path, Root], path: str) -> None:
    with pytest.raises(PermissionError, match="outside the root"):
        places[1].open(path)


@pytest.mark.parametrize("path", ["file", "./dir/../file", "in/file", "in/up/file", "dir/up/self/file", "{root}/file"])
def test_a_path_that_stays_inside_is_followed_through_links(places: tuple[Path, Root], path: str) -> None:
    with places[1].open(path.replace("{root}", places[1].path)) as file:
        assert file.read() in (b"inside", b"written")


@pytest.fixture
def flipping(tmp_path: Path) -> Iterator[tuple[Path, Root]]:
    """A root in which a thread keeps switching `door` between a directory and a link to the outside."""
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "a").mkdir(parents=True)
    outside.mkdir()
    (root / "a" / "file").write_bytes(b"inside")
    (outside / "file").write_bytes(SECRET)
    (root / "link").symlink_to(outside)
    stop = threading.Event()

    def flip() -> None:
        while not stop.is_set():
            for name in ("a", "link"):
                try:
                    os.rename(root / name, root / "door")
                except OSError:  # a writer has created the directory meanwhile
                    shutil.rmtree(root / "door", ignore_errors=True)
                else:
                    os.rename(root / "door", root / name)

    thread = threading.Thread(target=flip)
    thread.start()
    yield outside, root_at(root)
    stop.set()
    thread.join()


def test_a_link_swapped_in_during_the_walk_cannot_lead_out(flipping: tuple[Path, Root]) -> None:
    outside, root = flipping
    seen = []
    for number in range(2000):
        try:
            if number % 2:
                root.write("door/file", b"inside")
            else:
                with root.open("door/file") as file:
                    seen.append(file.read())
        except OSError:
            continue
    assert set(seen) <= {b"inside"}
    assert {path.name: path.read_bytes() for path in outside.iterdir()} == {"file": SECRET}


def test_writing_replaces_a_hard_link_by_a_new_file(tmp_path: Path) -> None:
    """The other name of the file may be outside, so a new file is written."""
    (tmp_path / "root").mkdir()
    (tmp_path / "other").write_bytes(SECRET)
    os.link(tmp_path / "other", tmp_path / "root" / "name")
    root_at(tmp_path / "root").write("name", b"new")
    assert (tmp_path / "other").read_bytes() == SECRET


def test_a_pipe_is_refused_without_waiting(tmp_path: Path) -> None:
    """Opening a pipe without a writer would otherwise block."""
    os.mkfifo(tmp_path / "pipe")
    root = root_at(tmp_path)
    with pytest.raises(OSError, match="no regular file"):
        root.open("pipe")
    with pytest.raises(OSError, match="no regular file"):
        root.write("pipe", b"")
    with pytest.raises(IsADirectoryError):
        root.open(".")


def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("old")
    (tmp_path / "run").chmod(0o751)
    assert root_at(tmp_path).write("run", b"new") is False
    assert stat.S_IMODE((tmp_path / "run").stat().st_mode) == 0o751


def test_no_descriptor_is_left_open(places: tuple[Path, Root]) -> None:
    _, root = places
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    for path in [*NAMES, "dir/deep/file", "/etc/passwd", "in/in/in/up/file", "a" * 300, "x/" * 2000, "file/x"]:
        for act in (root.open, root.entries, root.is_directory):
            try:
                found = act(path)
            except OSError:
                continue
            if hasattr(found, "close"):
                found.close()
    assert (len(os.listdir("/proc/self/fd")) if before else 0) == before


def test_a_root_must_be_a_directory(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="not a directory"):
        root_at(tmp_path / "not-there")


def test_a_root_may_be_named_by_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "file").write_bytes(b"inside")
    (tmp_path / "name").symlink_to("real")
    root = root_at(tmp_path / "name")
    for path in ("file", str(tmp_path / "name" / "file"), str(tmp_path / "real" / "file")):
        with root.open(path) as file:
            assert file.read() == b"inside"
