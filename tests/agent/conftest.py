"""All six providers as stand-ins, and a store in memory. Every test is checked for leaked keys."""

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
    """All of them, without scripted answers."""
    standins.clear()
    return standins


@pytest.fixture
def restless() -> Iterator[Providers]:
    """Separate stand-ins for tests that cancel requests: a request that is read late must not get the answer of another
    test."""
    with Providers() as started:
        yield started


@pytest.fixture
def store() -> Iterator[Store]:
    with SQLiteStore(":memory:") as opened:
        yield opened
