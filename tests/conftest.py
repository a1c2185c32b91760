"""Sizes of the same tests: `make test` runs the small one, `make soak` the one with the full counts, and `make busy`
repeats some of them with few examples."""

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings
from support.leftovers import end_all_with_this_process
from support.postgres import Postgres, running

SOAK = bool(os.environ.get("SEGUE_SOAK"))

# The same examples in every run: a change is judged by what it changes, not by the luck of the draw.
# `SEGUE_SEED=random` draws new ones, which is how new cases are found.
COMMON = {
    "deadline": None,
    "derandomize": os.environ.get("SEGUE_SEED") != "random",
    "suppress_health_check": [HealthCheck.too_slow],
}
settings.register_profile("test", max_examples=60, **COMMON)  # type: ignore[arg-type]
settings.register_profile("soak", max_examples=200, **COMMON)  # type: ignore[arg-type]
settings.register_profile("busy", max_examples=6, **COMMON)  # type: ignore[arg-type]
settings.load_profile("soak" if SOAK else "busy" if os.environ.get("SEGUE_BUSY") else "test")


def pytest_configure() -> None:
    """A test run that is killed leaves no process behind; each worker of pytest-xdist comes here, too."""
    end_all_with_this_process()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A real server, started when the first test asks for it."""
    with running() as server:
        yield server
