"""From a word to a store."""

import os
from pathlib import Path

import pytest

from segue.errors import SessionError
from segue.session import SQLiteStore, default_path, open_store
from segue.session.where import VARIABLE


def path_of(where: str | os.PathLike[str] | None) -> Path:
    with open_store(where) as store:
        assert isinstance(store, SQLiteStore)
        return Path(store.path)


def test_a_path_and_a_url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert path_of(tmp_path / "a.db") == path_of(str(tmp_path / "a.db")) == tmp_path / "a.db"
    assert path_of(f"sqlite:///{tmp_path}/b.db") == tmp_path / "b.db"
    assert path_of("sqlite:///c.db") == Path("c.db")
    assert path_of("sqlite:///") == Path(":memory:")
    assert {each.name for each in tmp_path.iterdir()} == {"a.db", "b.db", "c.db"}


def test_the_default_is_the_variable_and_then_the_folder_for_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "named.db"))
    assert path_of(None) == path_of("") == tmp_path / "named.db"
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setattr("sys.platform", "linux")
    assert path_of(None) == tmp_path / "data" / "segue" / "sessions.db"


@pytest.mark.parametrize(
    ("platform", "folder"),
    [
        ("linux", ".local/share/segue"),
        ("darwin", "Library/Application Support/segue"),
        ("win32", "AppData/Local/segue"),
    ],
)
def test_each_platform_has_its_folder(monkeypatch: pytest.MonkeyPatch, platform: str, folder: str) -> None:
    for name in ("XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", lambda: Path("home"))
    monkeypatch.setattr("sys.platform", platform)
    assert default_path() == Path("home") / folder / "sessions.db"


@pytest.mark.parametrize("where", ["mysql://me:secret@host/db", "http://x", "sqlite://relative"])
def test_what_is_no_store(where: str) -> None:
    with pytest.raises(SessionError) as raised:
        open_store(where)
    assert "sqlite:///" in str(raised.value)
    assert "secret" not in str(raised.value)


def test_a_file_is_not_made_when_it_should_be_there(tmp_path: Path) -> None:
    with pytest.raises(SessionError, match="there is no store of sessions"):
        open_store(tmp_path / "typo.db", create=False)
    assert list(tmp_path.iterdir()) == []
