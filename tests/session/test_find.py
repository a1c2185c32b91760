"""Stored sessions are listed, and found by the beginning of their ids."""

from pathlib import Path

import pytest

import segue
from segue import SessionError
from segue.session import Store, find_session
from segue.types import UserMessage


def test_all_sessions_are_listed_and_the_last_changed_is_first(store: Store, where: str) -> None:
    store.create("old", time=1, title="Weather")
    store.create("new", time=2)
    assert [info.id for info in segue.sessions(store)] == ["new", "old"]
    assert [info.title for info in segue.sessions(where)] == ["", "Weather"]


def test_before_anything_is_stored_the_list_is_empty_and_nothing_is_created(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.delenv("SEGUE_SESSIONS", raising=False)
    assert segue.sessions() == [] and not list(tmp_path.iterdir())
    with pytest.raises(SessionError, match="there is no store of sessions"):
        segue.sessions(tmp_path / "none.db")


def test_the_beginning_of_an_id_is_enough_if_it_is_unique(store: Store) -> None:
    for name in ("20261118-a1", "20261118-b2", "2026"):
        store.create(name, time=1)
    assert find_session(store, "20261118-a") == "20261118-a1"
    assert find_session(store, "2026") == "2026"  # an id that is complete is always meant
    with pytest.raises(SessionError, match=r"^several sessions begin with 20261118: 20261118-b2, 20261118-a1"):
        find_session(store, "20261118")
    for missing in ("", "2027", "20261118-a1x"):
        with pytest.raises(SessionError, match=rf"^there is no session {missing}; in Python, segue.sessions\(\) lists"):
            find_session(store, missing)


def test_sessions_of_sub_agents_do_not_make_an_id_ambiguous(store: Store) -> None:
    store.create("lead-1", time=1)
    store.append("lead-1", [segue.session.MessageAdded(key="k", time=1, message=UserMessage("Hi"))], after=0)
    store.fork("lead-1", 1, "lead-1~call_1", time=2)
    assert find_session(store, "lead") == "lead-1"
    for beginning in ("lead-1~call_1", "lead-1~c"):
        assert find_session(store, beginning) == "lead-1~call_1"
    store.fork("lead-1", 1, "lead-2", time=3)  # a fork by a person is a session of its own
    with pytest.raises(SessionError, match="several sessions"):
        find_session(store, "lead")
