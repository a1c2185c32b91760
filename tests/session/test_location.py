"""Open a store by its path, its URL, or the default location."""

import os
from pathlib import Path

import pytest
from support.postgres import Postgres

from segue.errors import SessionError
from segue.session import PostgresStore, SQLiteStore, default_path, open_store
from segue.session.location import STORE_VARIABLE


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


def test_the_default_is_the_variable_and_then_the_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(STORE_VARIABLE, str(tmp_path / "named.db"))
    assert path_of(None) == path_of("") == tmp_path / "named.db"
    monkeypatch.delenv(STORE_VARIABLE)
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
def test_other_urls_are_refused(where: str) -> None:
    with pytest.raises(SessionError) as raised:
        open_store(where)
    assert "sqlite:///" in str(raised.value)
    assert "secret" not in str(raised.value)


def test_a_missing_file_is_not_created_without_create(tmp_path: Path) -> None:
    with pytest.raises(SessionError, match="there is no store of sessions"):
        open_store(tmp_path / "typo.db", create=False)
    assert list(tmp_path.iterdir()) == []


PASSWORD = "pass-word-1"
MISREAD = [
    f"postgresql://me:{PASSWORD}@x@host/db",
    f"postgresql://me:x@{PASSWORD}@host/db",
    f"postgresql://me:{PASSWORD}/x@host/db",
    f"postgresql://me:{PASSWORD}:x@127.0.0.1:1/db",
    f"postgresql://me:12/{PASSWORD}@host/db",
    f"postgresql://me@host:{PASSWORD}/db",
    f"postgresql://me:{PASSWORD}%zz@host/db",
    f"postgresql://me:{PASSWORD}@127.0.0.1:1/db?sslmode=nonsense",
    f"postgresql://me:{PASSWORD}@127.0.0.1:1/db",
    f"host=127.0.0.1 port=1 user=me password={PASSWORD} dbname=db",
    f"password='{PASSWORD}' host=127.0.0.1 port=1",
    f"host=127.0.0.1 port=1 password='{PASSWORD}",
    f"hots=127.0.0.1 password={PASSWORD}",
    f"password = {PASSWORD}",
    f"sqlite://me:{PASSWORD}@host/db",
    f"postgresql:/me:{PASSWORD}@host/db",
    f"postgres:me:{PASSWORD}@host/db",
    f"postgresql+psycopg://me:{PASSWORD}@host/db",
    f"mysql://me:{PASSWORD}@host/db",
    f"me:{PASSWORD}://host/db",
]


@pytest.mark.parametrize("where", MISREAD)
@pytest.mark.parametrize("by", ["argument", "variable"])
def test_no_address_with_a_password_is_repeated_or_becomes_a_file(
    where: str, by: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No error has a part of the address that may be a password, nor has any error in its chain."""
    monkeypatch.chdir(tmp_path)
    if by == "variable":
        monkeypatch.setenv(STORE_VARIABLE, where)
    with pytest.raises(SessionError) as raised:
        open_store(where if by == "argument" else None)
    error: BaseException | None = raised.value
    while error is not None:
        assert PASSWORD not in str(error) + repr(error)
        error = error.__cause__ or error.__context__
    assert list(tmp_path.iterdir()) == []


def test_keywords_of_libpq_name_a_database(postgres: Postgres) -> None:
    from psycopg.conninfo import conninfo_to_dict, make_conninfo

    keywords = make_conninfo(**conninfo_to_dict(postgres.fresh()))
    assert "://" not in keywords
    with open_store(keywords) as store:
        assert isinstance(store, PostgresStore)


def test_a_path_may_have_any_characters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert path_of(Path("host=me.db")) == Path("host=me.db")
    assert path_of("./password=x.db") == Path("password=x.db")
    assert path_of(f"{tmp_path}/a=b.db") == tmp_path / "a=b.db"
