"""All six providers as stand-ins, and a store in memory; tests that talk are watched: none may tell a key."""

from collections.abc import Iterator

import pytest
from support.secrets import no_key_is_shown
from support.sessions import Providers

from segue.session import SQLiteStore, Store

__all__ = ["no_key_is_shown"]


@pytest.fixture(scope="session")
def standins() -> Iterator[Providers]:
    with Providers() as started:
        yield started


@pytest.fixture
def providers(standins: Providers) -> Providers:
    """All of them, with nothing said yet."""
    standins.clear()
    return standins


@pytest.fixture
def restless() -> Iterator[Providers]:
    """Stand-ins of its own, for a test that cancels requests: one that a busy server reads late must not take the
    answer that is meant for another test."""
    with Providers() as started:
        yield started


@pytest.fixture
def store() -> Iterator[Store]:
    with SQLiteStore(":memory:") as opened:
        yield opened
