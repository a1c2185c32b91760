"""Settings for all tests. `make test` runs them with few examples, `make soak` with the full counts, and `make busy`
repeats some of them with very few."""

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from support import busy
from support.leftovers import end_all_with_this_process
from support.postgres import Postgres, running
from support.waiting import wait_longer

CERTIFICATE = Path(__file__).parent / "support" / "certificates" / "localhost.pem"
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
settings.load_profile("soak" if SOAK else "busy" if busy.SETTING else "test")


def pytest_configure(config: pytest.Config) -> None:
    """Make sure that a killed test run leaves no process behind. Each worker of pytest-xdist calls this, too.

    What this machine has learnt from refused requests does not influence tests, nor does the day on which they run: no
    process warns that the last day of a model is near. No test connects to the internet: HTTP clients trust a single
    certificate, because reading all that are usual takes longer than most tests.
    """
    os.environ["SSL_CERT_FILE"] = str(CERTIFICATE)
    os.environ["SEGUE_LEARN"] = "off"
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, ("ignore:the last day of", os.environ.get("PYTHONWARNINGS"))))
    end_all_with_this_process()
    wait_longer()
    repeating = busy.plugin()
    if repeating is not None:
        config.pluginmanager.register(repeating)


def pytest_collection_finish() -> None:
    """Leave what collection has created out of garbage collection: a million objects that stay until the end."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A real server, started for the first test that uses it."""
    with running() as server:
        yield server
