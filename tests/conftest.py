"""Settings for all tests. `make test` runs them with few examples, `make soak` with the full counts, and `make busy`
repeats some of them with very few."""

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings
from support.leftovers import end_all_with_this_process
from support.postgres import Postgres, running

SOAK = bool(os.environ.get("SEGUE_SOAK"))

# The same examples in every run, so that results do not depend on chance. `SEGUE_SEED=random` draws new ones, to find
# new cases.
COMMON = {
    "deadline": None,
    "derandomize": os.environ.get("SEGUE_SEED") != "random",
    "suppress_health_check": [HealthCheck.too_slow],
}
# Many properties run for each distinct dialect.
settings.register_profile("test", max_examples=25, **COMMON)  # type: ignore[arg-type]
settings.register_profile("soak", max_examples=80, **COMMON)  # type: ignore[arg-type]
settings.register_profile("busy", max_examples=6, **COMMON)  # type: ignore[arg-type]
settings.load_profile("soak" if SOAK else "busy" if os.environ.get("SEGUE_BUSY") else "test")


def pytest_configure() -> None:
    """Make sure that a killed test run leaves no process behind. Each worker of pytest-xdist calls this, too.

    What this machine has learnt from refused requests does not influence tests, nor does the day on which they run: no
    process warns that the last day of a model is near.
    """
    os.environ["SEGUE_LEARN"] = "off"
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, ("ignore:the last day of", os.environ.get("PYTHONWARNINGS"))))
    end_all_with_this_process()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """`make busy` repeats each test: `SEGUE_BUSY` is how often."""
    rounds = int(os.environ.get("SEGUE_BUSY") or 1)
    if rounds > 1:
        metafunc.fixturenames.append("_round")
        metafunc.parametrize("_round", range(rounds), ids=[f"round{number}" for number in range(rounds)])


@pytest.fixture
def _round() -> None:
    """Which repetition a test is; tests do not use it."""


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A real server, started for the first test that uses it."""
    with running() as server:
        yield server
