"""Fixtures, and the number of examples: small for `make test`, large for `make soak`, and minimal for `make busy`,
which repeats some tests."""

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings
from support.leftovers import end_all_with_this_process
from support.postgres import Postgres, running

SOAK = bool(os.environ.get("SEGUE_SOAK"))

# Examples are the same in every run, so that the result of a run depends only on the code. `SEGUE_SEED=random`
# generates new ones, to find new cases.
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
    """Ensure that a killed test run leaves no process behind. Each worker of pytest-xdist calls this, too."""
    end_all_with_this_process()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A real server, started when it is first used."""
    with running() as server:
        yield server
