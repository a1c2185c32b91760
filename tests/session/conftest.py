"""Fixtures: both stores, empty, for tests that apply to each."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from segue.session import Store, open_store


@pytest.fixture(params=["sqlite", "postgresql"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The location of a store that does not exist yet; it can be opened more than once."""
    if request.param == "sqlite":
        return str(tmp_path / "sessions.db")
    address: str = request.getfixturevalue("postgres").fresh()
    return address


@pytest.fixture
def store(where: str) -> Iterator[Store]:
    with open_store(where) as opened:
        yield opened
